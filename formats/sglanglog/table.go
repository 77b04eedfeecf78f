package sglanglog

import (
	"servescope/analyzer/diag"
	"servescope/formats/internal/linelog"
)

// The values that records of an SGLang log carry.
const (
	index = iota
	newSequences
	newTokens
	cached
	usage
	running
	waiting
	pending
	inputTPS
	generationTPS
	acceptLength
	graph
	retracted
	modelPath
	servedName
	tensorParallel
	pipelineParallel
	dataParallel
	expertParallel
	interval
	disaggregation
	version
	method
	path
	status
	rid
	room
	statKind
	statInput // and the other numbers of time stats: see timestats.go
)

// key maps a key of a pair to a slot.
func key(text string, slot int) linelog.Field { return linelog.Field{Key: text, Slot: slot} }

// maxTPS is more than any server generates; a greater number is no measurement.
const maxTPS = 1e8

var table = (&linelog.Table{
	Slots: append([]linelog.Slot{
		index:            {Name: "index", Type: linelog.Int, Max: 1e15},
		newSequences:     {Name: "new_sequences", Type: linelog.Int, Max: 1e7},
		newTokens:        {Name: "new_tokens", Type: linelog.Int, Max: 1e9},
		cached:           {Name: "cached", Type: linelog.Int, Max: 1e9},
		usage:            {Name: "usage", Type: linelog.Ratio, Max: 1.01},
		running:          {Name: "running", Type: linelog.Int, Max: 1e7},
		waiting:          {Name: "waiting", Type: linelog.Int, Max: 1e9},
		pending:          {Name: "pending", Type: linelog.Int, Max: 1e12},
		inputTPS:         {Name: "input_tps", Type: linelog.Float, Max: maxTPS},
		generationTPS:    {Name: "generation_tps", Type: linelog.Float, Max: maxTPS},
		acceptLength:     {Name: "accept_length", Type: linelog.Float, Max: 1e4},
		graph:            {Name: "graph", Type: linelog.Flag},
		retracted:        {Name: "retracted", Type: linelog.Int, Max: 1e7},
		modelPath:        {Name: "model_path", Type: linelog.Text},
		servedName:       {Name: "served_name", Type: linelog.Text},
		tensorParallel:   {Name: "tensor_parallel", Type: linelog.Int},
		pipelineParallel: {Name: "pipeline_parallel", Type: linelog.Int},
		dataParallel:     {Name: "data_parallel", Type: linelog.Int},
		expertParallel:   {Name: "expert_parallel", Type: linelog.Int},
		interval:         {Name: "interval", Type: linelog.Int},
		disaggregation:   {Name: "disaggregation", Type: linelog.Text},
		version:          {Name: "version", Type: linelog.Word},
		method:           {Name: "method", Type: linelog.Text},
		path:             {Name: "path", Type: linelog.Text},
		status:           {Name: "status", Type: linelog.Int, Max: 999},
		rid:              {Name: "rid", Type: linelog.Word},
		room:             {Name: "room", Type: linelog.Word},
		statKind:         {Name: "kind", Type: linelog.Word},
	}, statSlots()...),
	Heads: []linelog.Head{
		{Name: "sglang", Before: "[", After: "%R] ", Dateless: true},                 // [2026-03-01 09:00:00.123 DP1 TP0 EP0] …
		{Name: "gateway", After: " %L ", Peek: "http_request", UTC: true},            // 2026-01-03 17:37:28  INFO http_request{…}: …
		{Name: "gateway", After: " %L ", Peek: "sgl_model_gateway::", UTC: true},     // other lines of the gateway
		{Name: "gateway", After: " %L ", Peek: "sglang_router_rs::", UTC: true},      //
		{Name: "gateway", After: " %L ", Peek: "smg::", UTC: true, Since: "v0.5.14"}, //
	},
	Kinds: kinds(loadKinds, requestKinds, factKinds, unusedKinds),
}).Compile()

func kinds(lists ...[]linelog.Kind) (all []linelog.Kind) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// unused is a field that no column holds: tokens in the KV cache beside its share,
// caches of other kinds, the queues of disaggregated nodes.
func unused(text string) linelog.Field { return key(text, linelog.Ignored) }

// prefillFields and decodeFields are the pairs of scheduler lines, in the order of
// late releases. The graph has the name of the device's.
var prefillFields = []linelog.Field{
	key("#new-seq", newSequences),
	key("#new-token", newTokens),
	key("#cached-token", cached),
	key("token usage", usage),
	key("full token usage", usage), unused("swa token usage"), unused("mamba usage"),
	key("#running-req", running),
	key("#queue-req", waiting),
	key("#pending-token", pending),
	unused("#prealloc-req"), unused("#inflight-req"), unused("#bootstrap-req"), unused("#optimistic-req"), unused("#unbootstrapped-req"), unused("#transferring-req"),
	unused("waiting-image-req"), unused("cache hit rate"),
	key("cuda graph", graph), key("npu graph", graph), key("cpu graph", graph), key("musa graph", graph), key("hip graph", graph), key("xpu graph", graph),
	key("input throughput (token/s)", inputTPS),
	unused("est. prefill TFLOPS/s (per GPU)"), unused("fwd occupancy"),
}

var decodeFields = []linelog.Field{
	key("#running-req", running),
	unused("#token"),
	key("token usage", usage),
	unused("#full token"),
	key("full token usage", usage), unused("#swa token"), unused("swa token usage"), unused("mamba num"), unused("mamba usage"),
	key("accept len", acceptLength), unused("accept rate"), unused("cap len"), unused("block accept len"),
	unused("pre-allocated usage"), unused("#prealloc-req"), unused("#transfer-req"), unused("#retracted-req"),
	key("cuda graph", graph), key("npu graph", graph), key("cpu graph", graph), key("musa graph", graph), key("hip graph", graph), key("xpu graph", graph),
	key("gen throughput (token/s)", generationTPS), unused("largest-len"),
	key("#queue-req", waiting),
	unused("est. decode TFLOPS/s (per GPU)"), unused("est. read BW (GB/s per GPU)"), unused("est. write BW (GB/s per GPU)"), unused("fwd occupancy"),
}

// loadKinds are the lines of the scheduler.
var loadKinds = []linelog.Kind{
	{Name: "prefill", Start: []string{"Prefill batch, ", "Prefill batch [{index}], "}, Anywhere: true, Open: true, Fields: prefillFields, Need: []int{newTokens}, Since: "v0.5.4"},
	{Name: "prefill", Start: []string{"Prefill batch. ", "Prefill batch(mixed #running-req: {running}). "}, Anywhere: true, Open: true, Fields: prefillFields, Need: []int{newTokens}, Until: "v0.5.3"},
	{Name: "decode", Start: []string{"Decode batch, ", "Decode batch [{index}], "}, Anywhere: true, Open: true, Fields: decodeFields, Need: []int{running}, Since: "v0.5.4"},
	{Name: "decode", Start: []string{"Decode batch. "}, Anywhere: true, Open: true, Fields: decodeFields, Need: []int{running}, Until: "v0.5.3"},
	{Name: "retraction", Start: []string{"KV cache pool is full. Retract requests. "}, Fields: []linelog.Field{key("#retracted_reqs", retracted)}, Need: []int{retracted}, Since: "v0.4.7"},
	{Name: "retraction", Start: []string{"Decode out of memory happened. ", "Testing retraction. "}, Fields: []linelog.Field{key("#retracted_reqs", retracted)}, Need: []int{retracted}, Until: "v0.4.6"},
}

// requestKinds are the lines of one request. The ones that hold objects go on to
// the end of the line, because prompts are among them.
var requestKinds = []linelog.Kind{
	{Name: "health check", Start: []string{"ReqTimeStats(rid=HEALTH_CHECK", "Req Time Stats(rid=HEALTH_CHECK"}, Anywhere: true, Use: linelog.Noise},
	{Name: "health check", Start: []string{"Finish: obj=GenerateReqInput(rid='HEALTH_CHECK", "Receive: obj=GenerateReqInput(rid='HEALTH_CHECK",
		"Finish: obj=EmbeddingReqInput(rid='HEALTH_CHECK", "Receive: obj=EmbeddingReqInput(rid='HEALTH_CHECK"}, Bare: true, Rest: true, Use: linelog.Noise},
	{Name: "time stats", Start: []string{"ReqTimeStats("}, Anywhere: true, Fields: statFields(), Need: []int{rid, statKind}, Since: "v0.5.12"},
	{Name: "time stats", Start: []string{"Req Time Stats("}, Anywhere: true, Fields: statFields(), Need: []int{rid, statKind}, Since: "v0.4.6.post4", Until: "v0.5.11"},
	{Name: "finish", Start: []string{"Finish: obj="}, Bare: true, Rest: true, Since: "v0.4.2"},
	{Name: "finish", Start: []string{"in=GenerateReqInput(", "in=EmbeddingReqInput("}, Bare: true, Rest: true, Until: "v0.4.1"},
	{Name: "finish", Start: []string{"request.finished$"}, Since: "v0.5.7"},
	{Name: "receive", Start: []string{"Receive: obj="}, Bare: true, Rest: true, Since: "v0.4.2"},
	{Name: "receive", Start: []string{"request.received$"}, Since: "v0.5.7"},
	{Name: "receive openai", Start: []string{"Receive OpenAI: obj="}, Bare: true, Rest: true, Use: linelog.Noise, Since: "v0.5.12"},
	{Name: "receive openai", Start: []string{"request.received.openai$"}, Use: linelog.Noise, Since: "v0.5.12"},
	{Name: "scheduler status", Start: []string{"scheduler.status$"}, Since: "v0.5.9"},
	{Name: "gateway response", Start: []string{"http_request"}, Rest: true, Since: "v0.4.6.post5"},
	{Name: "gateway response", Start: []string{"finished processing request"}, Since: "v0.5.10"},
	linelog.AccessKind,
}

// factKinds are lines that say what runs.
var factKinds = []linelog.Kind{
	{Name: "arguments", Start: []string{"server_args=ServerArgs("}, Fields: []linelog.Field{
		key("model_path", modelPath),
		key("decode_log_interval", interval),
		key("served_model_name", servedName),
		key("tp_size", tensorParallel),
		key("pp_size", pipelineParallel),
		key("dp_size", dataParallel),
		key("ep_size", expertParallel),
		key("disaggregation_mode", disaggregation),
	}, Rest: true},
	{Name: "version", Start: []string{"SGLang version: {version}$", "sglang version: {version}$"}},
	{Name: "started", Start: []string{"The server is fired up and ready to roll!"}},
}

// unusedKinds are lines that carry times or load that no table has a place for.
var unusedKinds = []linelog.Kind{
	{Name: "installer", Start: []string{"Requirement already satisfied: ", "Collecting ", "Looking in indexes: ", "Downloading ", "Installing collected packages: ",
		"Successfully installed ", "Attempting uninstall: ", "Writing to /", "WARNING: ", "[notice] "}, Bare: true, Use: linelog.Noise},
	{Name: "evaluation", Start: []string{"Total latency: ", "Latency: ", "Output throughput: "}, Bare: true, Use: linelog.NotUsed, Unused: linelog.Problem{Code: "unused_evaluation",
		Severity: diag.Notice, Msg: "the times of an evaluation that ran beside the server are not used", Fix: "add the result that the client wrote"}},
	{Name: "startup time", Inside: "Time elapsed: ", Use: linelog.NotUsed, Unused: startup},
	{Name: "startup time", Start: []string{"Load weight end. elapsed="}, Use: linelog.NotUsed, Unused: startup},
	{Name: "backlog", Start: []string{"Streaming backlog"}, Use: linelog.NotUsed, Unused: linelog.Problem{Code: "streaming_backlog", Severity: diag.Notice,
		Msg: "the tokenizer process fell behind and joined chunks: gaps between chunks that clients see are inflated"}},
	{Name: "unknown load", Inside: "token/s", Use: linelog.NotUsed, Unused: linelog.Problem{Code: "unused_load", Severity: diag.Notice,
		Msg: "lines with throughputs have an unknown form"}},
}

var startup = linelog.Problem{Code: "unused_startup_time", Severity: diag.Info, Msg: "times of the start of the server are not used"}
