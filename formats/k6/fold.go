package k6

import (
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// The parts of a request, as bits.
const (
	reqs = 1 << iota
	duration
	blocked
	connecting
	handshake
	sending
	waiting
	receiving
	failed
)

var parts = map[string]int{
	"http_reqs": reqs, "http_req_duration": duration, "http_req_blocked": blocked, "http_req_connecting": connecting, "http_req_tls_handshaking": handshake,
	"http_req_sending": sending, "http_req_waiting": waiting, "http_req_receiving": receiving, "http_req_failed": failed,
}

// request is one whose points are being read.
type request struct {
	at                 int64 // offset
	seen               int
	end                records.Stamp
	took, client, head int64
	failed             bool
	post               bool
	code, status       string
}

// fold makes rows of points.
type fold struct {
	*records.Writer
	open    request
	times   map[string]bool // metrics of one's own that hold times in ms
	rows    int64
	tabular bool
}

// Line implements records.Fold.
func (f *fold) Line(_ []byte, at int64) { f.Skip(notAPoint, at) }

// Object implements records.Fold.
func (f *fold) Object(v *records.Fields, text []byte, at int64) {
	f.tabular = f.tabular || text == nil
	switch {
	case v.Is(kind, "Metric"):
		if v.Is(contains, "time") && len(f.times) < 1<<10 {
			f.times[string(v.Text(metric))] = true
		}
		f.Noise()
	case v.Has(metric, stamp, value) && (text == nil || v.Is(kind, "Point")):
		f.point(v, at)
	case text != nil && f.summary(text):
		f.Parsed("summary")
	default:
		f.Skip(notAPoint, at)
	}
}

// point takes a point.
func (f *fold) point(v *records.Fields, at int64) {
	name := string(v.Text(metric))
	part := parts[name]
	if part == 0 {
		f.other(v, name)
		return
	}
	t, ok := v.Time(stamp)
	if !ok {
		f.Skip(noTime, at)
		return
	}
	t.Step = stepOf(v.Text(stamp), t.Step)
	if part&reqs != 0 || f.open.seen == 0 || f.open.seen&part != 0 || t.T != f.open.end.T {
		f.flush()
		f.begin(v, t, at)
	}
	r := &f.open
	r.seen |= part
	ns, ok := v.Span(value, numx.Millisecond)
	switch part {
	case duration:
		r.took = ns
	case blocked, connecting, handshake:
		r.client += ns
	case sending, waiting:
		r.head += ns
	case failed:
		r.failed = v.Is(value, "1") || ns > 0
	}
	if !ok || ns < 0 {
		f.Skip(badValue, at)
		r.seen &^= part
		return
	}
	f.Parsed("point")
}

func (f *fold) begin(v *records.Fields, t records.Stamp, at int64) {
	f.open = request{at: at, end: t, post: v.Is(method, "POST"), code: string(v.Text(errorCode)), status: string(v.Text(status))}
}

// stepOf returns the step of a stamp: that of an epoch in whole units is the unit.
func stepOf(text []byte, step int64) int64 {
	for _, c := range text {
		if c-'0' > 9 {
			return step
		}
	}
	switch len(text) {
	case 10:
		return 1e9
	case 13:
		return 1e6
	case 16:
		return 1e3
	}
	return step
}

// other takes a point of another metric: of one's own, whose mean is reported, or of
// k6's loop.
func (f *fold) other(v *records.Fields, name string) {
	n, ok := v.Number(value)
	if !ok || loop(name) || strings.HasPrefix(name, "http_") {
		f.Noise()
		return
	}
	if f.times[name] {
		f.Claim(name, "", unit.Nanosecond, n*1e6, 0)
	} else {
		f.Claim(name, "", unit.None, n, 0)
	}
	f.Parsed("point of one's own metric")
}

// flush makes a row of the request whose points were read.
func (f *fold) flush() {
	r := &f.open
	seen := r.seen
	if r.seen = 0; seen == 0 {
		return
	}
	if !r.post {
		f.Note(otherRequest, r.at)
		return
	}
	b := f.Builder
	if b.Int(trace.Finished, r.end.T); seen&duration != 0 {
		b.Int(trace.Sent, r.end.T-r.took)
	} else {
		f.Note(noDuration, r.at)
	}
	if r.end.Step > 1 {
		b.Int(trace.Resolution, r.end.Step)
	}
	if all := blocked | connecting | handshake; seen&all == all {
		b.Int(trace.DClientWait, r.client)
	}
	switch {
	case r.failed || len(r.status) == 3 && r.status[0] >= '4' || r.status == "0" || r.code != "":
		b.Code(trace.StatusCol, int32(trace.Failed))
		switch {
		case len(r.status) == 3:
			b.Dict(trace.ErrorClass, []byte("HTTP "+r.status))
		case r.code != "":
			b.Dict(trace.ErrorClass, []byte("k6 error "+r.code))
		}
	default:
		b.Code(trace.StatusCol, int32(trace.OK))
		if all := sending | waiting; seen&all == all {
			f.Claim("http_req_sending + http_req_waiting", "", unit.Nanosecond, float64(r.head), 0)
		}
	}
	f.rows++
	f.EndRow(r.at)
}

// End implements records.Fold.
func (f *fold) End() {
	f.flush()
	if f.rows > 0 {
		f.Run.Notes = append(f.Run.Notes, "head: k6 stamps the first byte of a response's head and the end of its body, and no token: sending + waiting is at most TTFT where the response is streamed")
	}
	if f.tabular && f.rows > 0 {
		f.Run.Notes = append(f.Run.Notes, "from_the_end: a request begins its duration before the time of its points, which CSV states in whole seconds unless timeFormat says otherwise")
	}
}

var (
	notAPoint = &assemble.Problem{Code: "not_a_point", Severity: diag.DataLoss,
		Msg: "a line or object is not a point or summary of k6 and was skipped"}
	noTime = &assemble.Problem{Code: "no_time", Severity: diag.DataLoss,
		Msg: "a point of a request has no time that can be read and was skipped"}
	badValue = &assemble.Problem{Code: "bad_value", Severity: diag.DataLoss,
		Msg: "a point of a request has no value, or a negative one: this part of the request is unknown"}
	noDuration = &assemble.Problem{Code: "no_duration", Severity: diag.Notice,
		Msg: "a request has no http_req_duration: when it was sent is unknown"}
	otherRequest = &assemble.Problem{Code: "other_request", Severity: diag.Info,
		Msg: "requests with another method than POST generate no tokens and are left out"}
)
