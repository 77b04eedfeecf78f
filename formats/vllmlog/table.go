package vllmlog

import (
	"servescope/analyzer/diag"
	"servescope/formats/internal/linelog"
)

// The values that records of a vLLM log carry.
const (
	engine = iota
	engines
	promptTPS
	generationTPS
	running
	waiting
	kvUsage
	hitRate
	preemptions
	acceptLength
	accepted
	drafted
	step
	contextRequests
	contextTokens
	generationRequests
	generationTokens
	elapsed
	dummy
	transfers
	transferTime
	id
	ids
	reason
	maxTokens
	choices
	beamSearch
	beamWidth
	lora
	promptTokens
	outputTokens
	finishReason
	stream
	modelName
	servedName
	version
	tensorParallel
	pipelineParallel
	dataParallel
	cacheTokens
	method
	path
	status
)

// key maps a key of a pair to a slot.
func key(text string, slot int) linelog.Field { return linelog.Field{Key: text, Slot: slot} }

// maxTPS is more than any server generates; a greater number is no measurement.
const maxTPS = 1e8

var table = (&linelog.Table{
	Slots: []linelog.Slot{
		engine:             {Name: "engine", Type: linelog.Int, Max: 1e6},
		engines:            {Name: "engines", Type: linelog.Int, Max: 1e6},
		promptTPS:          {Name: "prompt_tps", Type: linelog.Float, Max: maxTPS},
		generationTPS:      {Name: "generation_tps", Type: linelog.Float, Max: maxTPS},
		running:            {Name: "running", Type: linelog.Int, Max: 1e7},
		waiting:            {Name: "waiting", Type: linelog.Int, Max: 1e9},
		kvUsage:            {Name: "kv_usage", Type: linelog.Ratio, Max: 1.01},
		hitRate:            {Name: "hit_rate", Type: linelog.Ratio, Max: 1.01},
		preemptions:        {Name: "preemptions", Type: linelog.Int, Max: 1e9},
		acceptLength:       {Name: "accept_length", Type: linelog.Float, Max: 1e4},
		accepted:           {Name: "accepted", Type: linelog.Int, Max: 1e12},
		drafted:            {Name: "drafted", Type: linelog.Int, Max: 1e12},
		step:               {Name: "step", Type: linelog.Int, Max: 1e15},
		contextRequests:    {Name: "context_requests", Type: linelog.Int, Max: 1e7},
		contextTokens:      {Name: "context_tokens", Type: linelog.Int, Max: 1e9},
		generationRequests: {Name: "generation_requests", Type: linelog.Int, Max: 1e7},
		generationTokens:   {Name: "generation_tokens", Type: linelog.Int, Max: 1e9},
		elapsed:            {Name: "elapsed", Type: linelog.Millis, Max: 1e14},
		dummy:              {Name: "dummy", Type: linelog.Flag},
		transfers:          {Name: "transfers", Type: linelog.Int, Max: 1e12},
		transferTime:       {Name: "transfer_time", Type: linelog.Millis, Max: 1e14},
		id:                 {Name: "id", Type: linelog.Word},
		ids:                {Name: "ids", Type: linelog.Word},
		reason:             {Name: "reason", Type: linelog.Text},
		maxTokens:          {Name: "max_tokens", Type: linelog.Int, Max: 1e9},
		choices:            {Name: "choices", Type: linelog.Int, Max: 1e6},
		beamSearch:         {Name: "beam_search", Type: linelog.Flag},
		beamWidth:          {Name: "beam_width", Type: linelog.Int, Max: 1e6},
		lora:               {Name: "lora", Type: linelog.Text},
		promptTokens:       {Name: "prompt_tokens", Type: linelog.Int, Max: 1e9},
		outputTokens:       {Name: "output_tokens", Type: linelog.Int, Max: 1e9},
		finishReason:       {Name: "finish_reason", Type: linelog.Word},
		stream:             {Name: "stream", Type: linelog.Flag},
		modelName:          {Name: "model", Type: linelog.Text},
		servedName:         {Name: "served_name", Type: linelog.Text},
		version:            {Name: "version", Type: linelog.Word},
		tensorParallel:     {Name: "tensor_parallel", Type: linelog.Int},
		pipelineParallel:   {Name: "pipeline_parallel", Type: linelog.Int},
		dataParallel:       {Name: "data_parallel", Type: linelog.Int},
		cacheTokens:        {Name: "cache_tokens", Type: linelog.Text},
		method:             {Name: "method", Type: linelog.Text},
		path:               {Name: "path", Type: linelog.Text},
		status:             {Name: "status", Type: linelog.Int, Max: 999},
	},
	Heads: []linelog.Head{
		{Name: "vllm bracket", Before: "%L ", After: " [%F] ", Since: "v0.8.0"}, // INFO 11-29 12:00:00 [loggers.py:123] …
		{Name: "vllm", Before: "%L ", After: " %F] ", Until: "v0.7.3"},          // INFO 05-13 12:00:00 metrics.py:349] …
	},
	Leads: []string{"Engine {engine}: ", "{engines} Engines Aggregated: "},
	Kinds: kinds(loadKinds, requestKinds, statisticsKinds(), factKinds, unusedKinds),
}).Compile()

func kinds(lists ...[]linelog.Kind) (all []linelog.Kind) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// loadKinds are the periodic lines and those of every iteration.
var loadKinds = []linelog.Kind{
	{Name: "stats", Start: []string{"Avg prompt throughput: ", "Running: ", "Avg generation throughput: ", "Waiting: "}, Anywhere: true, Whole: true, Open: true,
		Fields: []linelog.Field{
			key("Avg prompt throughput", promptTPS),
			key("Avg generation throughput", generationTPS),
			key("Running", running),
			key("Waiting", waiting),
			key("Pending", waiting), // V0
			key("Preemptions", preemptions),
			key("GPU KV cache usage", kvUsage),
			key("Prefix cache hit rate", hitRate),
		},
		Need: []int{running, waiting}, Since: "v0.1"},
	{Name: "prefix cache", Start: []string{"Prefix cache hit rate: GPU: "}, Whole: true,
		Fields: []linelog.Field{key("Prefix cache hit rate: GPU", hitRate)},
		Need:   []int{hitRate}, Since: "v0.5.5", Until: "v0.10"},
	{Name: "speculation", Start: []string{"SpecDecoding metrics: "}, Anywhere: true, Open: true,
		Fields: []linelog.Field{
			key("Mean acceptance length", acceptLength),
			key("Accepted throughput", generationTPS),
			key("Drafted throughput", promptTPS),
			key("Accepted", accepted),
			key("Drafted", drafted),
		},
		Need: []int{accepted, drafted}, Since: "v0.8.3"},
	{Name: "speculation", Start: []string{"Speculative metrics: "}, Open: true,
		Fields: []linelog.Field{key("Number of accepted tokens", accepted), key("Number of draft tokens", drafted)},
		Need:   []int{accepted, drafted}, Since: "v0.4.1", Until: "v0.9"},
	{Name: "kv transfer", Start: []string{"KV Transfer metrics: "}, Open: true,
		Fields: []linelog.Field{key("Num successful transfers", transfers), key("Avg xfer time (ms)", transferTime)},
		Need:   []int{transfers}, Since: "v0.11"},
	{Name: "iteration", Start: []string{"Iteration({step}): "}, Anywhere: true, Open: true,
		Fields: []linelog.Field{
			key("context requests", contextRequests),
			key("context tokens", contextTokens),
			key("generation requests", generationRequests),
			key("generation tokens", generationTokens),
			key("iteration elapsed time", elapsed),
			key("dummy", dummy),
			key("GPU KV cache usage", kvUsage),
		},
		Need: []int{contextRequests, contextTokens, generationRequests, generationTokens, elapsed}, Since: "v0.14"},
}

// payload lists the keys of the texts of users in request lines.
var payload = []linelog.Field{
	key("prompt", linelog.Payload),
	key("max_tokens", maxTokens),
	key("n", choices),
	key("use_beam_search", beamSearch), // of SamplingParams, until v0.6.2
	key("beam_width", beamWidth),       // of BeamSearchParams, since then
	key("lora_name", lora),
	key("output", linelog.Payload),
	key("finish_reason", finishReason),
}

// requestKinds are the lines of one request.
var requestKinds = []linelog.Kind{
	{Name: "received", Start: []string{"Received request {id}: "}, Fields: payload, Need: []int{id}, Since: "v0.1"},
	{Name: "added", Start: []string{"Added request {id}.$"}, Need: []int{id}, Since: "v0.5.3"},
	{Name: "finished", Start: []string{"Finished request {id}.$"}, Need: []int{id}, Since: "v0.1", Until: "v0.10"},
	{Name: "aborted in the engine", Start: []string{"Aborted request(s) {ids}.$"}, Need: []int{ids}, Since: "v0.9"},
	{Name: "aborted in the engine", Start: []string{"Aborted request {ids}.$"}, Need: []int{ids}, Until: "v0.9"},
	{Name: "aborted", Start: []string{"Request {id} aborted.$"}, Need: []int{id}, Since: "v0.8.5"},
	{Name: "failed", Start: []string{"Request {id} failed ({reason})", "Request {id} failed due to "}, Need: []int{id}, Since: "v0.8.5"},
	{Name: "preempted", Start: []string{"Sequence group {id} is preempted by {}total_num_cumulative_preemption={preemptions}$", "Sequence group {id} is preempted by "}, Need: []int{id}, Until: "v0.10"},
	{Name: "details", Start: []string{"Request {id} details: ", "Generated response {id} details: ",
		"Generated response {id} (streaming delta) details: ", "Generated response {id} (streaming complete) details: "}, Fields: payload, Use: linelog.Noise, Since: "v0.11.1"},
	{Name: "delta", Start: []string{"Generated response {id} (streaming delta): "}, Fields: payload, Need: []int{id}, Since: "v0.14"},
	{Name: "response", Start: []string{
		"Generated response {id} (streaming complete): output: '<streaming_complete: {output_tokens} tokens>'",
		"Generated response {id} (streaming complete): ",
		"Generated response {id}: ",
	}, Fields: payload, Need: []int{id}, Since: "v0.10.1"},
	{Name: "frontend finished", Inside: "completion finished ",
		Fields: []linelog.Field{
			key("stream", stream),
			key("model", modelName),
			key("prompt_tokens", promptTokens),
			key("output_tokens", outputTokens),
			key("finish_reason", finishReason),
		},
		Need: []int{outputTokens}, Since: "v0.22"},
	linelog.AccessKind,
}

// statisticsKinds are objects with the times of one request, printed by scripts
// around the engine: alone, or within the RequestOutput that has them. They go on
// to the end of the line, because prompts are among them.
func statisticsKinds() []linelog.Kind {
	list := []linelog.Kind{{Name: "request statistics", Start: []string{"RequestOutput("}, Bare: true, Rest: true, Since: "v0.1"}}
	for _, name := range statistics {
		list = append(list, linelog.Kind{Name: "request statistics", Start: []string{name}, Bare: true, Rest: true},
			linelog.Kind{Name: "request statistics", Inside: name}, linelog.Kind{Name: "request statistics", Inside: name, Bare: true})
	}
	return list
}

// statistics are the objects: of V0, of V1 since v0.11.1, and of its loggers.
var statistics = []string{"RequestMetrics(", "RequestStateStats(", "FinishedRequestStats("}

// engineConfig lists the settings in the line with which an engine starts.
var engineConfig = []linelog.Field{
	key("model", modelName),
	key("tensor_parallel_size", tensorParallel),
	key("pipeline_parallel_size", pipelineParallel),
	key("data_parallel_size", dataParallel),
	key("served_model_name", servedName),
}

// factKinds are lines that say what runs.
var factKinds = []linelog.Kind{
	{Name: "version", Start: []string{"vLLM API server version {version}$", "vLLM engine version {version}$"}},
	{Name: "version", Inside: "█  version {version}$"},
	{Name: "engine", Start: []string{"Initializing a V1 LLM engine (v{version}) with config: ", "Initializing an LLM engine (v{version}) with config: ",
		"Initializing a V0 LLM engine (v{version}) with config: "}, Fields: engineConfig},
	{Name: "arguments", Start: []string{"non-default args: ", "args: Namespace("}, Fields: engineConfig},
	{Name: "cache size", Start: []string{"GPU KV cache size: {cache_tokens} tokens"}},
	{Name: "profiler started", Start: []string{"Starting profiler"}},
	{Name: "profiler stopped", Start: []string{"Profiler stopped successfully", "Max profiling iterations reached. Stopping profiler", "Stopping profiler"}},
}

// unusedKinds are lines that carry times or load that no table has a place for.
var unusedKinds = []linelog.Kind{
	{Name: "startup time", Start: []string{"init engine (", "Loading weights took ", "Model loading took ", "Graph capturing finished in ", "torch.compile took ",
		"torch.compile takes ", "Dynamo bytecode transform time: ", "Compiling a graph for ", "Initial profiling/warmup run took ",
		"Loading model weights took ", "Model runner load_model total time: ", "Memory profiling takes ", "Post-grad pass configuration time: "},
		Use: linelog.NotUsed, Unused: startup},
	{Name: "startup time", Inside: "warmup completed in ", Use: linelog.NotUsed, Unused: startup},
	{Name: "compilation", Inside: "compilation during inference", Use: linelog.NotUsed, Unused: linelog.Problem{Code: "compilation_during_inference",
		Severity: diag.Notice, Msg: "kernels were compiled while requests were served: latencies around these lines include it", Fix: "warm the server up before measuring"}},
	{Name: "model flops", Inside: "MFU: ", Use: linelog.NotUsed, Unused: unused("mfu", "lines of model FLOP/s are not used"), Since: "v0.14"},
	{Name: "batch times", Start: []string{"Batchsize forward time stats"}, Use: linelog.NotUsed,
		Unused: unused("batch_times", "medians of forward times by batch size are not used: measuring them slows the server down"), Since: "v0.6.5"},
	{Name: "diffusion", Start: []string{"DiffusionDecoding metrics: "}, Use: linelog.NotUsed, Unused: unused("diffusion", "lines of diffusion decoding are not used"), Since: "v0.24"},
	{Name: "orca", Start: []string{"Created ORCA header"}, Use: linelog.NotUsed, Unused: unused("orca", "load reported in response headers is not used"), Since: "v0.11.1"},
	{Name: "response body", Inside: "response_body=", Use: linelog.NotUsed, Unused: unused("response_body", "responses logged by the middleware are not used")},
	{Name: "unknown load", Inside: "tokens/s", Use: linelog.NotUsed, Unused: unused("load", "lines with throughputs have an unknown form")},
	{Name: "unknown load", Inside: "throughput: ", Use: linelog.NotUsed, Unused: unused("load", "lines with throughputs have an unknown form")},
}

var startup = linelog.Problem{Code: "unused_startup_time", Severity: diag.Info, Msg: "times of the start of the server are not used"}

func unused(code, msg string) linelog.Problem {
	return linelog.Problem{Code: "unused_" + code, Severity: diag.Notice, Msg: msg}
}
