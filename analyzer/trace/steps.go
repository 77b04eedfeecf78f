package trace

import "servescope/analyzer/unit"

// StepKind says what an engine step did. It is the code of the StepKindCol
// column.
type StepKind int32

// The kinds of steps.
const (
	StepPrefill StepKind = iota // context (prompt) tokens only
	StepDecode                  // decode sequences only
	StepMixed                   // both
	StepVerify                  // decode sequences with draft tokens to verify
	StepWindow                  // not one step: the steps of a logged window of time
	StepDummy                   // no sequence: the step keeps other ranks in lockstep
)

// Quantity says what the duration of a step measures. It is the code of the
// StepQuantity column. One statistic never mixes quantities.
type Quantity int32

// The quantities.
const (
	Interval Quantity = iota // end of the previous step to end of this step: intervals tile time
	Elapsed                  // time inside the step, without the time between steps
	Mean                     // mean of the steps of a window; see StepCount
)

// Columns of the steps table. The table has one row per engine step (or per
// logged window) and rank.
const (
	StepReplica Col = iota
	StepDP
	StepTP
	StepPP
	StepEP
	StepRank
	StepEngine
	StepClock
	StepResolution
	StepIndex
	StepT
	StepDuration
	StepQuantity
	StepCount
	StepKindCol
	StepRunning
	StepWaiting
	StepContext
	StepPrefillTokens
	StepDecodeTokens
	StepCachedTokens
	StepDrafted
	StepAccepted
	StepAcceptLength
	StepKVUsage
	StepPromptTPS
	StepGenerationTPS
	StepInputTPSBefore
	StepAfterIdle
	StepPreemptions
	StepGraph
	StepCompute
	StepSampling
	StepCommunication
	StepHostTransfer
	StepLaunchWait
	StepScheduling
	StepHostExec
	StepHostGap
	StepCommunicationOverlapped
	StepUnclassified
	StepRoutingLocal
	StepDeviceGap
	StepSchedulerCPU
	StepOffset
)

func float(name string, u unit.Unit, doc string) Field {
	return Field{Name: name, Type: Float64, Unit: u, Doc: doc}
}

// Steps is the steps table. For profiler traces, the eight classes compute …
// host_gap tile the interval: their sum is exactly duration. The memos after
// them are parts of a class, or times outside the classes, and enter no sum.
var Steps = &Table{Name: "steps", Fields: []Field{
	StepReplica:                 dict("replica", "host, data-parallel rank, engine index or rank"),
	StepDP:                      count("dp", unit.None, "data-parallel rank"),
	StepTP:                      count("tp", unit.None, "tensor-parallel rank"),
	StepPP:                      count("pp", unit.None, "pipeline-parallel rank"),
	StepEP:                      count("ep", unit.None, "expert-parallel rank"),
	StepRank:                    count("rank", unit.None, "global rank of the process in its deployment"),
	StepEngine:                  dict("engine", "serving engine: vllm, sglang, …"),
	StepClock:                   dict("clock", "clock of the row's stamps: kind, or kind/source"),
	StepResolution:              duration("resolution", "coarsest step of the row's stamps; null means 1 ns"),
	StepIndex:                   count("step", unit.None, "number of the step, as the engine counts or else from 0 in order of start"),
	StepT:                       stamp("t", "end of the step or window"),
	StepDuration:                duration("duration", "length of the step or window; see quantity"),
	StepQuantity:                dict("quantity", "what duration is: end to end, time inside the step, or a mean", "interval", "elapsed", "mean"),
	StepCount:                   count("steps", unit.None, "steps in the row; null means 1, or unknown for a window"),
	StepKindCol:                 dict("kind", "what the step did", "prefill", "decode", "mixed", "verify", "window", "dummy"),
	StepRunning:                 count("running", unit.None, "decode sequences in the step, or running requests of the window"),
	StepWaiting:                 count("waiting", unit.None, "requests in the scheduler's queue"),
	StepContext:                 count("context_requests", unit.None, "sequences of which prompt tokens were computed"),
	StepPrefillTokens:           count("prefill_tokens", unit.Token, "prompt tokens computed"),
	StepDecodeTokens:            count("decode_tokens", unit.Token, "tokens computed for decode sequences, drafts included"),
	StepCachedTokens:            count("cached_tokens", unit.Token, "prompt tokens served from a prefix cache"),
	StepDrafted:                 count("drafted", unit.Token, "draft tokens proposed"),
	StepAccepted:                count("accepted", unit.Token, "draft tokens accepted"),
	StepAcceptLength:            float("accept_length", unit.Token, "mean tokens emitted per verification"),
	StepKVUsage:                 float("kv_usage", unit.Ratio, "share of the KV cache in use"),
	StepPromptTPS:               float("prompt_tps", unit.TokenRate, "prompt tokens per second, as logged"),
	StepGenerationTPS:           float("generation_tps", unit.TokenRate, "generated tokens per second, as logged"),
	StepInputTPSBefore:          float("reported_input_tps_prev_batch", unit.TokenRate, "input throughput of the previous batch as logged with this one: its tokens over the time between the two lines"),
	StepAfterIdle:               {Name: "after_idle", Type: Bool, Doc: "whether this is the first line after a pause or the start: the rates on it include the pause"},
	StepPreemptions:             count("preemptions", unit.None, "sequences preempted or retracted"),
	StepGraph:                   {Name: "graph", Type: Bool, Doc: "whether the step replayed a CUDA or HIP graph"},
	StepCompute:                 duration("compute", "device busy with a kernel of no other class, whatever else runs"),
	StepSampling:                duration("sampling", "device busy with sampling and not with compute"),
	StepCommunication:           duration("communication", "device busy with communication and not with the classes before"),
	StepHostTransfer:            duration("host_transfer", "device busy with copies from or to the host only"),
	StepLaunchWait:              duration("launch_wait", "device idle, the next device event already being launched"),
	StepScheduling:              duration("scheduling", "device idle, the launching thread in the scheduler"),
	StepHostExec:                duration("host_exec", "device idle, the launching thread in execution, output processing or a runtime call"),
	StepHostGap:                 duration("host_gap", "device idle, nothing known of the launching thread"),
	StepCommunicationOverlapped: duration("communication_overlapped", "memo: part of compute during which communication runs as well"),
	StepUnclassified:            duration("unclassified", "memo: part of compute with no kernel of a recognised name"),
	StepRoutingLocal:            duration("routing_local", "memo: part of compute during which a kernel of local MoE routing runs"),
	StepDeviceGap:               duration("device_gap", "memo: part of launch_wait inside one graph replay"),
	StepSchedulerCPU:            duration("scheduler_cpu", "memo: time in which the scheduler ran on the host, whatever the device did"),
	StepOffset:                  count("offset", unit.Byte, "byte offset of the record in its decompressed source"),
}}

// Columns of the collectives table. The table has one row per communication
// kernel of a profiler trace, ordered by end on its device.
const (
	CollectiveReplica Col = iota
	CollectiveDP
	CollectiveTP
	CollectivePP
	CollectiveEP
	CollectiveRank
	CollectiveClock
	CollectiveStep
	CollectiveIndex
	CollectiveName
	CollectivePaired
	CollectiveT
	CollectiveDuration
	CollectiveExposed
)

// Collectives is the collectives table. A collective has the same index and
// name on every rank of its group. Comparing the durations separates transfer
// from waiting for the slowest rank.
var Collectives = &Table{Name: "collectives", Fields: []Field{
	CollectiveReplica:  dict("replica", "as in steps"),
	CollectiveDP:       count("dp", unit.None, "as in steps"),
	CollectiveTP:       count("tp", unit.None, "as in steps"),
	CollectivePP:       count("pp", unit.None, "as in steps"),
	CollectiveEP:       count("ep", unit.None, "as in steps"),
	CollectiveRank:     count("rank", unit.None, "as in steps"),
	CollectiveClock:    dict("clock", "clock of the row's stamps: kind, or kind/source"),
	CollectiveStep:     count("step", unit.None, "step in whose interval the kernel ended, as in steps; null outside every interval"),
	CollectiveIndex:    count("index", unit.None, "number of the kernel on its device, from 0 in order of start"),
	CollectiveName:     dict("name", "name of the kernel"),
	CollectivePaired:   {Name: "paired", Type: Bool, Doc: "whether the kernel sends or receives between two ranks, instead of all taking part"},
	CollectiveT:        stamp("t", "start of the kernel"),
	CollectiveDuration: duration("duration", "length of the kernel"),
	CollectiveExposed:  {Name: "exposed", Type: List, Unit: unit.Nanosecond, Doc: "pairs (start after t, length) of the time of class communication in it"},
}}
