package otlp

import "servescope/analyzer/diag"

// problem is a kind of diagnostic.
type problem struct {
	code     string
	severity diag.Severity
	msg, fix string
}

var (
	probNotOTLP     = problem{"not_otlp", diag.DataLoss, "a document is no export of spans and was skipped", "export traces as JSON: exporter file of the OpenTelemetry collector, format json"}
	probStray       = problem{"stray_text", diag.DataLoss, "text between the documents was skipped", ""}
	probMalformed   = problem{"malformed", diag.DataLoss, "a document is no valid JSON from here on; the spans before that are used", ""}
	probTruncated   = problem{"truncated", diag.DataLoss, "a document breaks off; the spans before that are used", ""}
	probDamaged     = problem{"span_malformed", diag.DataLoss, "a span is no valid JSON and was skipped", ""}
	probTooLarge    = problem{"span_too_large", diag.DataLoss, "a span is larger than 16 MiB; the rest of its document was skipped", ""}
	probNotASpan    = problem{"not_a_span", diag.DataLoss, "an element of a list of spans is no span and was skipped", ""}
	probLateOrigin  = problem{"late_origin", diag.Notice, "the resource or scope of spans stands behind more than 65536 of them; those do not know it", ""}
	probNoTime      = problem{"span_without_time", diag.DataLoss, "a span of a request has no start and was skipped", ""}
	probNoID        = problem{"no_request_id", diag.Notice, "a span of a request names no request; duplicates of it are not recognised", ""}
	probDuplicate   = problem{"duplicate_span", diag.Notice, "a span repeats a request that an earlier one describes and was skipped; vLLM up to v0.6.3 wrote such spans", ""}
	probMilestone   = problem{"milestone_missing", diag.Notice, "a duration is negative or longer than its request: the engine lacked one of its two points in time, or writes -1 for that; it is unknown", ""}
	probZero        = problem{"zero_ttft", diag.Notice, "a time to first token of exactly 0 stands for unknown", ""}
	probValue       = problem{"value_unusable", diag.Notice, "a value is no number (NaN, a text); it is unknown", ""}
	probNoE2E       = problem{"end_from_span", diag.Notice, "a request lacks its end-to-end latency; it ends with its span, which may be a little later", ""}
	probInexact     = problem{"inexact_time", diag.Notice, "a time is written with an exponent and too few digits; its last digits are not known", "export times as integers"}
	probEngine      = problem{"engine_unknown", diag.Notice, "a span has latencies of a request, but nothing tells of which engine; what the engines mean differently is not used", "set OTEL_SERVICE_NAME to a name with vllm or sglang in it"}
	probSlice       = problem{"unknown_slice", diag.Notice, "a slice of SGLang has a name that is not known and was not used", ""}
	probLate        = problem{"span_without_request", diag.Notice, "slices belong to a request that is already complete or has no span of its own in the file", "raise the size of the exporter's queue; put the parts of a rotated file together"}
	probSteps       = problem{"steps_missing", diag.Notice, "a request lacks some of its decode steps, so it has no gaps: exporters drop spans under load", "raise OTEL_BSP_MAX_QUEUE_SIZE"}
	probLateFirst   = problem{"late_first_token", diag.Notice, "the engine had two more tokens before the first one reached the frontend: the request was probably not streamed, and decoding is in its TTFT", ""}
	probMemory      = problem{"memory", diag.DataLoss, "requests were taken for open because their slices filled the memory before the span of the request came", "raise the memory limit"}
	probManyRuns    = problem{"many_services", diag.Notice, "the file names more services than are told apart; the last ones are one run", ""}
	probUnusedEvent = problem{"schedule_events", diag.Info, "events of the scheduler do not tell which step of a request they are of: there is no batch id, or one event too many or too few", ""}
	probNested      = problem{"nested_call", diag.Info, "a call of a model holds another one, which is traced, too: the inner one counts", ""}
	probEarly       = problem{"chunk_before_start", diag.Notice, "a chunk came before its span began, as some libraries begin it when the stream ends: its times are unknown", ""}
	probReused      = problem{"batch_id_reused", diag.Notice, "a batch id stands for steps at different times: these give no steps", ""}
	probManySteps   = problem{"many_steps", diag.Notice, "there are more steps than are kept; the last ones give none", ""}
)

// note records a problem at a span.
func (f *fold) note(p *problem, offset int64) { f.noteMany(p, offset, 1) }

func (f *fold) noteMany(p *problem, offset, n int64) {
	if n > 0 {
		f.diags.Add(diag.Diag{Code: p.code, Severity: p.severity, File: f.file, Offset: offset, Count: n, Msg: p.msg, Fix: p.fix})
	}
}

// incidentProblems says for each kind of incident what it is, and whether it is a
// record of its own in the account.
var incidentProblems = [...]struct {
	*problem
	counts bool
}{
	strayText:   {&probStray, true},
	notSpans:    {&probNotOTLP, true},
	malformed:   {&probMalformed, true},
	truncated:   {&probTruncated, true},
	tooLarge:    {&probTooLarge, true},
	damagedSpan: {&probDamaged, true},
	notASpan:    {&probNotASpan, true},
	lateOrigin:  {&probLateOrigin, false},
}
