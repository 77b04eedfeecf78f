package vllmrouter

import (
	"servescope/analyzer/diag"
	"servescope/formats/internal/linelog"
)

// The values that records carry.
const (
	id = iota
	url
	at
	process
	total
	running
	waiting
	hitRate
	method
	path
	status
)

// table is of production-stack at a6c01db: services/request_service/request.py,
// stats/log_stats.py and log.py. Heads are "[2026-02-05 14:22:33,123] INFO: ",
// coloured, or the records of a JSON logger, both of which the engine knows.
var table = (&linelog.Table{
	Slots: []linelog.Slot{
		id:      {Name: "id", Type: linelog.Word},
		url:     {Name: "url", Type: linelog.Word},
		at:      {Name: "at", Type: linelog.Epoch},
		process: {Name: "process", Type: linelog.Nanos, Max: 1e15},
		total:   {Name: "total", Type: linelog.Nanos, Max: 1e15},
		running: {Name: "running", Type: linelog.Int, Max: 1e7},
		waiting: {Name: "waiting", Type: linelog.Int, Max: 1e9},
		hitRate: {Name: "hit_rate", Type: linelog.Float}, // -1: no data
		method:  {Name: "method", Type: linelog.Text},
		path:    {Name: "path", Type: linelog.Text},
		status:  {Name: "status", Type: linelog.Int, Max: 999},
	},
	Kinds: []linelog.Kind{
		{Name: "routed", Start: []string{"Routing request {id} with session id {} to {url} at {at}, process time = {process}"}, Need: []int{id, at, process}},
		{Name: "retried", Start: []string{"Routing request {id} to {url} (attempt "}, Need: []int{id, url}},
		{Name: "completed", Start: []string{"[{id}] Orchestrated streaming request completed, total time = {total}s"}, Need: []int{id, total}},
		{Name: "server", Start: []string{"Server: {url}$"}, Bare: true, Need: []int{url}},
		{Name: "engine stats", Start: []string{"Engine Stats: "}, Bare: true, Need: []int{running, waiting},
			Fields: []linelog.Field{key("Running Requests", running), key("Queued Requests", waiting), key("GPU Cache Hit Rate", hitRate)}},
		{Name: "models", Start: []string{"Models:"}, Bare: true, Use: linelog.Noise},
		{Name: "request stats", Start: []string{"Request Stats: "}, Bare: true, Use: linelog.NotUsed, Unused: linelog.Problem{Code: "unused_request_stats",
			Severity: diag.Info, Msg: "averages over a sliding window are not used"}},
		{Name: "prefill time", Start: []string{"{id} prefill time (TTFT): "}, Use: linelog.NotUsed, Unused: linelog.Problem{Code: "unused_prefill_time",
			Severity: diag.Notice, Msg: "times of requests to prefill instances are not used: they are neither the time to first token nor the prefill alone"}},
		linelog.AccessKind,
	},
}).Compile()

// key maps a key of a pair to a slot.
func key(text string, slot int) linelog.Field { return linelog.Field{Key: text, Slot: slot} }
