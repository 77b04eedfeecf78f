// Package simulate makes logs of continuous batching whose truth is known. It is
// a discrete-event simulator of LLM engines, there to validate what is estimated
// from the timestamps of a log; nothing of the product links it.
//
//	log := simulate.Run(simulate.Random(7))
//	log.Requests, log.Steps   // what an analyzer may see
//	log.Truth                 // what it must not see
//
// # Model
//
// Requests arrive by a Poisson process, in bursts or from a closed loop of users,
// and are spread over replicas in turn. A replica takes in what has arrived at
// the beginning of each step. Two schedulers are modelled:
//
//   - Chunked, as vLLM V1: every step has a budget of tokens. Running sequences
//     come first, in order of admission, one token each or the next chunk of
//     their prompt; what is left goes to the queue, first come, first served.
//   - PrefillFirst, as SGLang without mixed chunks and vLLM V0: while a prompt is
//     unfinished, or the queue's head fits in, a step holds prompt tokens alone, up
//     to the budget, and nobody decodes.
//
// The KV cache consists of blocks of BlockTokens tokens. A sequence holds the
// blocks of its computed tokens until it ends. When a sequence needs a block and
// there is none, the one admitted last is preempted: it gives its blocks back,
// goes to the head of the queue and computes prompt and output so far anew.
//
// A forward pass over T tokens (decode sequences count one each) whose sequences
// have C tokens of context in all, and whose prompt chunks form A pairs of a
// prompt token and a token before it, takes in ns
//
//	Overhead + √((Weights + kv(C))² + (PerToken·pad(T))²) + PerPair·A [+ Eager]
//	kv(C) = PerContext·C·(1 + Curve·C/capacity)
//
// that is, memory and compute time as of a smooth roofline. pad rounds up to the
// sizes that graphs were captured for; beyond the largest there is no padding,
// and Eager is added. The whole is multiplied by the drift of the moment and by
// noise that is independent from step to step; then, now and then, comes a stall
// of the host. Steps follow each other without a pause while there is work.
//
// Tokens reach the log with a constant delay, a serial one within the step and an
// exponential one, in order per request; over a network two more. They may be
// coalesced into chunks, and stamps are cut to a quantum. A log may lack some of
// its requests, the names of its replicas, the admissions, and the engine's own
// log; the hosts that stamp may have clocks of their own.
//
// # Truth
//
// See Truth for the definition of the parts, and Assumption for what holds.
//
// # Limits
//
// There is no prefix cache, no speculative decoding, no pipeline or disaggregated
// engine and no overlap of a step's scheduling with the step before; every
// request ends well. Noise has no memory. The host's stalls do not depend on the
// load.
//
// # The same everywhere
//
// A Scenario, its Seed included, determines the Log to the last bit on every
// target: random numbers come from PCG by + − × ÷ and comparisons alone. What is
// drawn for one purpose has a stream of its own, so that dropping requests, say,
// leaves the run itself as it was. Everything is safe for concurrent use.
package simulate
