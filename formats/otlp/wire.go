package otlp

// slot is a fact of a span that is kept: a number before textSlots, from there
// on a text.
type slot uint8

const (
	ttft slot = iota // durations in ns from here on
	e2e
	inQueue
	inPrefill
	inDecode
	inInference
	inScheduler
	inForward
	inExecute
	firstChunk
	firstToken
	perToken
	prompt // counts from here on
	completion
	cached
	maxTokens
	nChoices
	sequences
	bestOf
	topK
	decodeCount
	tpRank
	ppRank
	dpRank
	cacheRead
	reasoning
	textSlots
)

const (
	requestID slot = textSlots + iota
	model
	finish
	rid
	module
	room
	threadLabel
	hostID
	reason
	abortType
	scopeName
	operation
	requestModel
	errorType
	slots
	errorMark // true or ERROR: the span failed
	statusMark
	kindMark
	streamMark
)

const (
	numbers = int(textSlots)
	texts   = int(slots - textSlots)
)

// isDuration reports whether a number is in seconds on the wire.
func (s slot) isDuration() bool { return s < prompt }

// attribute is a span attribute that is read, and the releases of the engines
// that write it.
type attribute struct {
	key          string
	slot         slot
	vllm, sglang between
}

var never between // the engine does not write it

// attributes lists the attributes of a span that are read. Both engines use the
// gen_ai.* keys, with different meaning in the case of time_in_model_*; see vllm.go
// and sglang.go. Where the first release with an attribute is unknown, the first
// release with tracing stands for it.
var attributes = []attribute{
	{"gen_ai.latency.time_to_first_token", ttft, since(5_01), since(5_03)},
	{"gen_ai.latency.e2e", e2e, since(5_01), since(5_03)},
	{"gen_ai.latency.time_in_queue", inQueue, since(5_01), never},
	{"gen_ai.latency.time_in_model_prefill", inPrefill, since(10_02), since(5_03)},
	{"gen_ai.latency.time_in_model_decode", inDecode, since(10_02), since(5_03)},
	{"gen_ai.latency.time_in_model_inference", inInference, since(10_02), since(5_03)},
	{"gen_ai.latency.time_in_scheduler", inScheduler, between{5_05, 10_00}, never},
	{"gen_ai.latency.time_in_model_forward", inForward, between{5_05, 10_00}, never},
	{"gen_ai.latency.time_in_model_execute", inExecute, between{5_05, 10_00}, never},
	{"gen_ai.usage.prompt_tokens", prompt, since(5_01), since(5_03)},
	{"gen_ai.usage.completion_tokens", completion, since(5_01), since(5_03)},
	{"gen_ai.usage.cached_tokens", cached, never, since(5_03)},
	{"gen_ai.usage.num_sequences", sequences, between{5_01, 10_00}, never},
	{"gen_ai.request.max_tokens", maxTokens, since(5_01), since(5_03)},
	{"gen_ai.request.n", nChoices, since(5_01), since(5_03)},
	{"gen_ai.request.best_of", bestOf, between{5_01, 6_02}, never},
	{"gen_ai.request.top_k", topK, never, since(5_03)},
	{"gen_ai.request.id", requestID, since(5_01), since(5_03)},
	{"gen_ai.response.model", model, between{5_01, 10_00}, since(5_03)},
	{"gen_ai.response.finish_reasons", finish, never, since(5_03)},
	{"rid", rid, never, since(5_03)},
	{"module", module, never, since(5_10)},
	{"bootstrap_room", room, never, since(5_03)},
	{"decode_ct", decodeCount, never, since(5_10)},
	{"tp_rank", tpRank, never, since(5_03)},
	{"pp_rank", ppRank, never, since(5_10)},
	{"dp_rank", dpRank, never, since(5_05)},
	{"thread_label", threadLabel, never, since(5_03)},
	{"host_id", hostID, never, since(5_03)},
	{"reason", reason, never, since(5_10)},
	{"type", abortType, never, since(5_10)},
	// The conventions for calls of any model, new and old, and the keys of
	// OpenLLMetry, OpenLIT and OpenInference.
	{key: "gen_ai.operation.name", slot: operation},
	{key: "llm.request.type", slot: operation},
	{key: "openinference.span.kind", slot: operation},
	{key: "gen_ai.request.model", slot: requestModel},
	{key: "llm.model_name", slot: requestModel},
	{key: "gen_ai.request.stream", slot: streamMark},
	{key: "gen_ai.request.is_stream", slot: streamMark},
	{key: "gen_ai.is_streaming", slot: streamMark},
	{key: "llm.is_streaming", slot: streamMark},
	{key: "gen_ai.response.id", slot: requestID},
	{key: "gen_ai.response.time_to_first_chunk", slot: firstChunk},
	{key: "gen_ai.server.time_to_first_token", slot: firstToken},
	{key: "gen_ai.server.time_per_output_token", slot: perToken},
	{key: "gen_ai.usage.input_tokens", slot: prompt},
	{key: "gen_ai.usage.output_tokens", slot: completion},
	{key: "llm.usage.prompt_tokens", slot: prompt},
	{key: "llm.usage.completion_tokens", slot: completion},
	{key: "llm.token_count.prompt", slot: prompt},
	{key: "llm.token_count.completion", slot: completion},
	{key: "gen_ai.usage.cache_read.input_tokens", slot: cacheRead},
	{key: "gen_ai.usage.cache_read_input_tokens", slot: cacheRead},
	{key: "llm.token_count.prompt_details.cache_read", slot: cacheRead},
	{key: "gen_ai.usage.reasoning.output_tokens", slot: reasoning},
	{key: "gen_ai.usage.reasoning_tokens", slot: reasoning},
	{key: "llm.usage.reasoning_tokens", slot: reasoning},
	{key: "llm.token_count.completion_details.reasoning", slot: reasoning},
	{key: "error.type", slot: errorType},
	// Jaeger keeps these as tags.
	{key: "span.kind", slot: kindMark},
	{key: "otel.scope.name", slot: scopeName},
	{key: "otel.library.name", slot: scopeName},
	{key: "otel.status_code", slot: statusMark},
	{key: "error", slot: errorMark},
}

// scopes lists the scopes of vLLM's tracer.
var scopes = []struct {
	name     string
	releases between
}{
	{"vllm.llm_engine", between{5_01, 15_00}},
	{"vllm.tracing.otel", since(16_00)},
}

// stage is the stage of serving that a span of SGLang's scheduler or frontend covers.
type stage uint8

const (
	noStage    stage = iota
	otherStage       // of SGLang and read, but of no use here
	tokenize
	dispatch
	controllerDispatch
	processing
	waiting
	forward
	waitingForward // v0.5.3: waiting and the forward passes in one
	chunk
	decodeWaiting
	decodeForward
	decodeLoop
	prefillPrepare
	prefillBootstrap
	transferKV
	decodePrepare
	decodeBootstrap
	decodeTransferred
	fakeOutput
	quickFinish
)

// spanName is the name of a slice of SGLang and the releases that write it.
type spanName struct {
	name     string
	stage    stage
	releases between
}

// slices of a request in SGLang, scope "sglang server".
var sliceNames = []spanName{
	{"tokenize", tokenize, since(5_03)},
	{"dispatch", dispatch, between{5_03, 5_09}},
	{"api_server_dispatch", dispatch, since(5_10)},
	{"dc_dispatch", controllerDispatch, between{5_05, 5_09}},
	{"dpc_dispatch", controllerDispatch, since(5_10)},
	{"process req", processing, between{5_03, 5_04}},
	{"request_process", processing, since(5_05)},
	{"prefill", waitingForward, between{5_03, 5_04}},
	{"prefill_waiting", waiting, since(5_05)},
	{"prefill_forward", forward, since(5_05)},
	{"chunked_prefill", chunk, since(5_05)},
	{"decode loop", decodeLoop, between{5_03, 5_04}},
	{"decode_loop", decodeLoop, since(5_05)},
	{"decode_waiting", decodeWaiting, since(5_05)},
	{"decode_forward", decodeForward, since(5_10)},
	{"prefill_prepare", prefillPrepare, since(5_05)},
	{"prefill_bootstrap", prefillBootstrap, since(5_05)},
	{"prefill_transfer_kv_cache", transferKV, since(5_05)},
	{"decode_prepare", decodePrepare, since(5_05)},
	{"decode_bootstrap", decodeBootstrap, since(5_05)},
	{"decode_transferred", decodeTransferred, since(5_05)},
	{"fake_output", fakeOutput, since(5_05)},
	{"quick_finish", quickFinish, since(5_05)},
	{"mini_lb_launch", otherStage, between{5_05, 5_09}},
	{"wait_pd_finish", otherStage, between{5_05, 5_09}},
	{"mm_encode", otherStage, since(5_18)},
	{"spec_draft", otherStage, since(5_18)},
	{"spec_verify", otherStage, since(5_18)},
	{"run_batch_cpu", otherStage, since(5_18)},
}

// foreign tells spans that are no request of an engine by their scope or name,
// in this order; an empty text fits everything.
var foreign = []struct{ scope, name, kind string }{
	{"omni", "", "vllm-omni"},
	{"instrumentation.fastapi", "", "http"},
	{"instrumentation.asgi", "", "http"},
	{"instrumentation.openai", "", "client library"},
	{"openlit", "", "client library"},
	{"vllm", "", "vllm start-up"},
	{"", "GET ", "http"},
	{"", "POST ", "http"},
	{"", "http_request", "gateway"},
	{"", "Bootstrap Room", "sglang bootstrap room"},
	{"", "", "other span"},
}

// index finds texts in a list at a few nanoseconds each. Its keys are told
// apart by their length, last and middle bytes, or else by comparison.
type index struct {
	keys  []string
	table [256][]uint8
}

func newIndex(keys []string) *index {
	x := &index{keys: keys}
	for i, k := range keys {
		h := digest([]byte(k))
		x.table[h] = append(x.table[h], uint8(i))
	}
	return x
}

func digest(b []byte) uint8 {
	n := len(b)
	return uint8(n) ^ b[n-1]<<3 ^ b[n/2]<<5 ^ b[n-n/4-1]
}

// find returns the position of b in the list, or -1.
func (x *index) find(b []byte) int {
	if len(b) == 0 {
		return -1
	}
	for _, i := range x.table[digest(b)] {
		if x.keys[i] == string(b) {
			return int(i)
		}
	}
	return -1
}

func keysOf[T any](list []T, key func(*T) string) []string {
	keys := make([]string, len(list))
	for i := range list {
		keys[i] = key(&list[i])
	}
	return keys
}

var (
	attributeIndex = newIndex(keysOf(attributes, func(a *attribute) string { return a.key }))
	sliceIndex     = newIndex(keysOf(sliceNames, func(s *spanName) string { return s.name }))
	sliceKinds     = keysOf(sliceNames, func(s *spanName) string { return "sglang " + s.name })
)
