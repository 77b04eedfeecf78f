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
	slots
	errorMark // true or ERROR: the span failed
	statusMark
)

const (
	numbers = int(textSlots)
	texts   = int(slots - textSlots)
)

// isDuration reports whether a number is in seconds on the wire.
func (s slot) isDuration() bool { return s < prompt }

// attribute is a span attribute that is read.
type attribute struct {
	key  string
	slot slot
}

// attributes lists what is read of a span. Both engines use the gen_ai.* keys,
// with different meaning in the case of time_in_model_*; see vllm.go and
// sglang.go.
var attributes = []attribute{
	{"gen_ai.latency.time_to_first_token", ttft},
	{"gen_ai.latency.e2e", e2e},
	{"gen_ai.latency.time_in_queue", inQueue},
	{"gen_ai.latency.time_in_model_prefill", inPrefill},
	{"gen_ai.latency.time_in_model_decode", inDecode},
	{"gen_ai.latency.time_in_model_inference", inInference},
	{"gen_ai.latency.time_in_scheduler", inScheduler},
	{"gen_ai.latency.time_in_model_forward", inForward},
	{"gen_ai.latency.time_in_model_execute", inExecute},
	{"gen_ai.usage.prompt_tokens", prompt},
	{"gen_ai.usage.completion_tokens", completion},
	{"gen_ai.usage.cached_tokens", cached},
	{"gen_ai.usage.num_sequences", sequences},
	{"gen_ai.request.max_tokens", maxTokens},
	{"gen_ai.request.n", nChoices},
	{"gen_ai.request.best_of", bestOf},
	{"gen_ai.request.top_k", topK},
	{"gen_ai.request.id", requestID},
	{"gen_ai.response.model", model},
	{"gen_ai.response.finish_reasons", finish},
	{"rid", rid},
	{"module", module},
	{"bootstrap_room", room},
	{"decode_ct", decodeCount},
	{"tp_rank", tpRank},
	{"pp_rank", ppRank},
	{"dp_rank", dpRank},
	{"thread_label", threadLabel},
	{"host_id", hostID},
	{"reason", reason},
	{"type", abortType},
	// Jaeger keeps these as tags.
	{"otel.scope.name", scopeName},
	{"otel.library.name", scopeName},
	{"otel.status_code", statusMark},
	{"error", errorMark},
}

// stage is what a span of SGLang's scheduler or frontend is about.
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

// spanName is the name of a slice of SGLang and the releases that write it;
// the last is 0 where it is still written.
type spanName struct {
	name        string
	stage       stage
	first, last release
}

// slices of a request in SGLang, scope "sglang server".
var sliceNames = []spanName{
	{"tokenize", tokenize, 5_03, 0},
	{"dispatch", dispatch, 5_03, 5_09},
	{"api_server_dispatch", dispatch, 5_10, 0},
	{"dc_dispatch", controllerDispatch, 5_05, 5_09},
	{"dpc_dispatch", controllerDispatch, 5_10, 0},
	{"process req", processing, 5_03, 5_04},
	{"request_process", processing, 5_05, 0},
	{"prefill", waitingForward, 5_03, 5_04},
	{"prefill_waiting", waiting, 5_05, 0},
	{"prefill_forward", forward, 5_05, 0},
	{"chunked_prefill", chunk, 5_05, 0},
	{"decode loop", decodeLoop, 5_03, 5_04},
	{"decode_loop", decodeLoop, 5_05, 0},
	{"decode_waiting", decodeWaiting, 5_05, 0},
	{"decode_forward", decodeForward, 5_10, 0},
	{"prefill_prepare", prefillPrepare, 5_05, 0},
	{"prefill_bootstrap", prefillBootstrap, 5_05, 0},
	{"prefill_transfer_kv_cache", transferKV, 5_05, 0},
	{"decode_prepare", decodePrepare, 5_05, 0},
	{"decode_bootstrap", decodeBootstrap, 5_05, 0},
	{"decode_transferred", decodeTransferred, 5_05, 0},
	{"fake_output", fakeOutput, 5_05, 0},
	{"quick_finish", quickFinish, 5_05, 0},
	{"mini_lb_launch", otherStage, 5_05, 5_09},
	{"wait_pd_finish", otherStage, 5_05, 5_09},
	{"mm_encode", otherStage, 5_18, 0},
	{"spec_draft", otherStage, 5_18, 0},
	{"spec_verify", otherStage, 5_18, 0},
	{"run_batch_cpu", otherStage, 5_18, 0},
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
