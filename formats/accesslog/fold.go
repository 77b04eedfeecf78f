package accesslog

import (
	"fmt"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// fold makes rows of lines. Its state is only what the run reports at the end.
type fold struct {
	*records.Writer
	unit  int // power of ten of whole numbers; 0: not told
	ends  bool
	heads bool
	names map[string]bool
}

// Object implements records.Fold.
func (f *fold) Object(v *records.Fields, _ []byte, at int64) {
	var e entry
	if !e.object(v) {
		f.Noise()
		return
	}
	f.take(&e, at)
}

// Line implements records.Fold.
func (f *fold) Line(line []byte, at int64) {
	var e entry
	if !e.line(line) {
		f.Skip(notARequest, at)
		return
	}
	f.take(&e, at)
}

// take makes the row of a request.
func (f *fold) take(e *entry, at int64) {
	if !e.generates() {
		f.Note(otherPath, at)
		f.Noise()
		return
	}
	if e.bare {
		if f.unit == 0 {
			f.Skip(noUnit, at)
			return
		}
		ns, n, ok := numx.Scaled(e.number, f.unit)
		e.took, e.timed = ns, ok && n == len(e.number)
	}
	switch {
	case e.mixed:
		f.Skip(whichNumber, at)
		return
	case !e.timed && e.ends:
		f.Skip(noTimes, at)
		return
	}
	if !e.at.Zoned && f.Zone == nil {
		f.Note(noZone, at)
	}
	from := e.at.In(f.Zone).T
	if e.ends {
		from -= e.took
		f.ends = f.ends || e.at.Step >= 1e9
	}
	b := f.Builder
	b.Int(trace.Received, from)
	if e.timed {
		b.Int(trace.Finished, from+e.took)
	}
	if step := max(e.at.Step, e.step); step > 1 {
		b.Int(trace.Resolution, step)
	}
	if e.passed {
		b.Int(trace.DProxy, e.proxy)
	}
	if len(e.id) > 0 {
		b.Text(trace.RequestID, e.id)
	}
	if len(e.replica) > 0 {
		b.Dict(trace.Replica, e.replica)
	}
	f.status(e)
	if f.names == nil {
		f.names = make(map[string]bool)
	}
	f.names[e.program] = true
	f.EndRow(at)
	f.Parsed("request")
}

// status sets the status of the request.
func (f *fold) status(e *entry) {
	b := f.Builder
	s := trace.OK
	switch {
	case e.gone || string(e.status) == "499":
		s = trace.Aborted
	case e.failed || len(e.status) == 3 && e.status[0] >= '4' || len(e.status) != 3:
		s = trace.Failed
	}
	b.Code(trace.StatusCol, int32(s))
	if s == trace.Failed && len(e.status) == 3 && e.status[0] >= '4' {
		b.Dict(trace.ErrorClass, append([]byte("HTTP "), e.status...))
	} else if s == trace.Failed {
		b.Dict(trace.ErrorClass, []byte("connection"))
	}
	if s == trace.OK && e.head > 0 {
		f.heads = true
		f.Claim("time to the head of the response", "", unit.Nanosecond, float64(e.head), 1e6)
	}
}

// End implements records.Fold.
func (f *fold) End() {
	note := func(when bool, format string, args ...any) {
		if when {
			f.Run.Notes = append(f.Run.Notes, fmt.Sprintf(format, args...))
		}
	}
	for _, name := range [...]string{"nginx", "Apache", "Traefik", "Envoy", "Caddy", "HAProxy"} {
		note(f.names[name], "program: an access log as %s writes it", name)
	}
	note(f.ends, "end_stamps: a line is stamped when its request has ended, in whole seconds: it began its duration before, give or take a second; durations are exact to 1 ms")
	note(f.heads, "head: the head of a response comes before its first token: TTFT is at least the time to that")
}

var (
	notARequest = &assemble.Problem{Code: "not_a_request", Severity: diag.Notice,
		Msg: "a line is not a request of an access log and was skipped"}
	otherPath = &assemble.Problem{Code: "other_path", Severity: diag.Info,
		Msg: "requests to other paths than those of APIs that generate tokens, or with another method than POST, are left out"}
	noUnit      = &assemble.Problem{Code: "unknown_unit", Severity: diag.Error, Msg: ask[:len(ask)-len(": say --map e2e=number1:us")], Fix: "say --map e2e=number1:us, :ms or :s"}
	whichNumber = &assemble.Problem{Code: "unknown_order", Severity: diag.DataLoss,
		Msg: "several numbers follow a request, and the first is not the largest: the file does not say which is the time of the request", Fix: "name them in log_format: rt=$request_time uht=$upstream_header_time"}
	noTimes = &assemble.Problem{Code: "no_duration", Severity: diag.DataLoss,
		Msg: "a request does not say how long it took and was skipped", Fix: "add rt=$request_time uht=$upstream_header_time to log_format"}
	noZone = &assemble.Problem{Code: "zone_assumed", Severity: diag.Notice,
		Msg: "dates state no zone: they are taken for UTC", Fix: "give --tz ZONE"}
)
