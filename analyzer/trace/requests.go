package trace

import (
	"strings"

	"servescope/analyzer/unit"
)

// Status says how a request ended. It is the code of the Status column.
type Status int32

// The statuses. Every request is in exactly one of them.
const (
	OK          Status = iota // finished and produced at least one token
	Failed                    // ended with an error
	Aborted                   // cancelled before it finished
	Empty                     // finished without error and without any token
	Open                      // the log ends before the request does
	HeadMissing               // the log begins after the request did
)

// Side says where a row's stamps were taken. It is the code of the Side column.
type Side int32

// The sides of decomposition: one row per request and observing side.
const (
	Client Side = iota
	Proxy
	Server
	Engine
	Prefill
	Decode
)

// TokenSource says who counted the output tokens.
type TokenSource int32

// The sources of output_tokens, the most trustworthy first.
const (
	FromServer    TokenSource = iota // usage.completion_tokens or the engine
	FromClient                       // re-tokenised text
	FromChunks                       // one token per chunk assumed
	FromRequested                    // the requested length: never used as a count
)

// Columns of the requests table. The table has one row per request attempt,
// choice and observing side.
const (
	RequestID Col = iota
	Attempt
	Choice
	ParentID
	JoinGroup
	SideCol
	EngineCol
	Model
	Replica
	Tenant
	LoRA
	StatusCol
	FinishReason
	ErrorClass
	ClockCol
	Resolution
	ScheduledSend
	Sent
	Received
	Dispatched
	Queued
	Admitted
	PrefillStart
	PrefillEnd
	FirstEvent
	FirstToken
	FirstAnswerToken
	LastToken
	Finished
	DClientWait
	DProxy
	DInput
	DIngress
	DQueue
	DPrefill
	DKVTransfer
	DDecodeQueue
	DFirstDecode
	DEgress
	DMM
	DStall
	DDecode
	MergedLeaves
	DMerged
	MergedLeaves2
	DMerged2
	DResolution
	PromptTokens
	CachedTokens
	CachedDevice
	CachedHost
	CachedStorage
	CachedRemote
	OutputTokens
	OutputTokensSource
	ClientTokens
	ReasoningTokens
	FirstChunkTokens
	Preemptions
	MaxTokens
	Stream
	NChoices
	BeamSearch
	MMItems
	MMTokens
	SpecDrafted
	SpecAccepted
	VerifySteps
	AbortPhase
	TokenKind
	ChunkGaps
	ChunkTokens
	Offset
)

// Leaves names the stages that TTFT consists of, in order of time. The duration
// column of a stage is its name with the prefix d_.
var Leaves = []string{"proxy", "input", "ingress", "queue", "prefill", "kv_transfer", "decode_queue", "first_decode", "egress"}

// Merged returns the value of a MergedLeaves column for a set of leaves. A
// source that measures several stages together fills d_merged with their total,
// and never one of their own columns. A leaf appears at most once in a row: in
// its own column, in d_merged or in d_merged_2. These columns are the source's
// own account of the request and take precedence over its stamps. The source
// did not measure a leaf that appears nowhere.
func Merged(leaves ...string) string { return strings.Join(leaves, "+") }

func stamp(name, doc string) Field {
	return Field{Name: name, Type: Int64, Unit: unit.Nanosecond, Stamp: true, Doc: doc}
}

func duration(name, doc string) Field {
	return Field{Name: name, Type: Int64, Unit: unit.Nanosecond, Doc: doc}
}

func count(name string, u unit.Unit, doc string) Field {
	return Field{Name: name, Type: Int64, Unit: u, Doc: doc}
}

func text(name, doc string) Field { return Field{Name: name, Type: Text, Doc: doc} }

func dict(name, doc string, values ...string) Field {
	return Field{Name: name, Type: Dict, Doc: doc, Values: values}
}

// Requests is the requests table. A test checks that its fields stand in the
// order of the column constants.
var Requests = &Table{Name: "requests", Fields: []Field{
	RequestID:          text("request_id", "identifier as written by the source"),
	Attempt:            count("attempt", unit.None, "retry number, 0 for the first attempt"),
	Choice:             count("choice", unit.None, "index of the choice (sequence) of an n > 1 request"),
	ParentID:           text("parent_id", "request this row is a part of"),
	JoinGroup:          text("join_group", "links rows of several sides of one user request"),
	SideCol:            dict("side", "where the stamps were taken", "client", "proxy", "server", "engine", "prefill", "decode"),
	EngineCol:          dict("engine", "serving engine: vllm, sglang, …"),
	Model:              dict("model", "model name"),
	Replica:            dict("replica", "host, data-parallel rank or engine index"),
	Tenant:             dict("tenant", "tenant or user class"),
	LoRA:               dict("lora", "LoRA adapter"),
	StatusCol:          dict("status", "how the request ended", "ok", "failed", "aborted", "empty", "open", "head_missing"),
	FinishReason:       dict("finish_reason", "stop, length, abort, … as written by the source"),
	ErrorClass:         dict("error_class", "class of the error, without payload"),
	ClockCol:           dict("clock", "clock of every stamp of the row: kind, or kind/source"),
	Resolution:         duration("resolution", "coarsest step of the row's stamps; null means 1 ns"),
	ScheduledSend:      stamp("scheduled_send", "when the client meant to send"),
	Sent:               stamp("sent", "client sent the request"),
	Received:           stamp("received", "server or proxy received the request"),
	Dispatched:         stamp("dispatched", "frontend handed the request to the engine"),
	Queued:             stamp("queued", "request entered the scheduler's queue"),
	Admitted:           stamp("admitted", "scheduler first admitted the request"),
	PrefillStart:       stamp("prefill_start", "first forward pass of the prompt began"),
	PrefillEnd:         stamp("prefill_end", "last forward pass of the prompt ended"),
	FirstEvent:         stamp("first_event", "first data event, a role-only chunk included"),
	FirstToken:         stamp("first_token", "first chunk that carries a generated token of any kind"),
	FirstAnswerToken:   stamp("first_answer_token", "first token of the answer, after reasoning"),
	LastToken:          stamp("last_token", "last chunk that carries a generated token"),
	Finished:           stamp("finished", "end event of the source: stream end, finish or error"),
	DClientWait:        duration("d_client_wait", "wait inside the client before sending"),
	DProxy:             duration("d_proxy", "gateway received to frontend received"),
	DInput:             duration("d_input", "template, tokenisation, preprocessing, formatting"),
	DIngress:           duration("d_ingress", "frontend dispatch to scheduler queue"),
	DQueue:             duration("d_queue", "scheduler queue to first admission"),
	DPrefill:           duration("d_prefill", "admission to first token at the engine"),
	DKVTransfer:        duration("d_kv_transfer", "KV sent to KV usable on the decode side"),
	DDecodeQueue:       duration("d_decode_queue", "wait for admission on the decode side"),
	DFirstDecode:       duration("d_first_decode", "first forward pass on the decode side"),
	DEgress:            duration("d_egress", "first token at the engine to first token at the frontend"),
	DMM:                duration("d_mm", "multimodal preprocessing"),
	DStall:             duration("d_stall", "decode time in which the sequence was not scheduled"),
	DDecode:            duration("d_decode", "first to last token at the engine, where the source measures this time and does not stamp the last token"),
	MergedLeaves:       dict("merged_leaves", "leaves of d_merged in order of time, joined by +; see Merged"),
	DMerged:            duration("d_merged", "time of several stages that the source does not separate"),
	MergedLeaves2:      dict("merged_leaves_2", "leaves of d_merged_2, as in merged_leaves"),
	DMerged2:           duration("d_merged_2", "time of several other stages that the source does not separate"),
	DResolution:        duration("d_resolution", "coarsest step of the row's durations; null means 1 ns"),
	PromptTokens:       count("prompt_tokens", unit.Token, "prompt length"),
	CachedTokens:       count("cached_tokens", unit.Token, "prompt tokens served from a prefix cache"),
	CachedDevice:       count("cached_device", unit.Token, "cached tokens found on the device"),
	CachedHost:         count("cached_host", unit.Token, "cached tokens found in host memory"),
	CachedStorage:      count("cached_storage", unit.Token, "cached tokens found in storage"),
	CachedRemote:       count("cached_remote", unit.Token, "cached tokens found on a remote cache"),
	OutputTokens:       count("output_tokens", unit.Token, "generated tokens; see output_tokens_source"),
	OutputTokensSource: dict("output_tokens_source", "who counted the output tokens", "server", "client", "chunks", "requested"),
	ClientTokens:       count("client_tokens", unit.Token, "tokens of the content by a client's tokenizer, without reasoning, where output_tokens is the server's count"),
	ReasoningTokens:    count("reasoning_tokens", unit.Token, "output tokens spent on reasoning"),
	FirstChunkTokens:   count("first_chunk_tokens", unit.Token, "tokens in the first token-bearing chunk"),
	Preemptions:        count("preemptions", unit.None, "times the request was preempted"),
	MaxTokens:          count("max_tokens", unit.Token, "requested maximum output length; never used as a count"),
	Stream:             {Name: "stream", Type: Bool, Doc: "whether the response was streamed"},
	NChoices:           count("n_choices", unit.None, "choices asked for"),
	BeamSearch:         {Name: "beam_search", Type: Bool, Doc: "whether the request was decoded by beam search; null where the settings of the run say so"},
	MMItems:            count("mm_items", unit.None, "multimodal items in the prompt"),
	MMTokens:           count("mm_tokens", unit.Token, "prompt tokens that stand for multimodal items"),
	SpecDrafted:        count("spec_drafted", unit.Token, "draft tokens proposed"),
	SpecAccepted:       count("spec_accepted", unit.Token, "draft tokens accepted"),
	VerifySteps:        count("verify_steps", unit.None, "verification steps of speculative decoding"),
	AbortPhase:         dict("abort_phase", "where an aborted request was", "client", "queue", "prefill", "decode"),
	TokenKind:          dict("token_kind", "kind of the first token", "content", "reasoning", "tool", "refusal", "audio"),
	ChunkGaps:          {Name: "chunk_gaps", Type: List, Unit: unit.Nanosecond, Doc: "time between consecutive token-bearing chunks; an empty list is not null"},
	ChunkTokens:        {Name: "chunk_tokens", Type: List, Unit: unit.Token, Doc: "tokens of each token-bearing chunk, the first included; null when unknown"},
	Offset:             count("offset", unit.Byte, "byte offset of the record in its decompressed source"),
}}
