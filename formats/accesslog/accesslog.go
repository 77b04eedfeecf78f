// Package accesslog reads the access logs of HTTP servers and gateways before a model
// that say how long a request took: one line per request, written when it has ended. All
// stamps are of the wall clock of the gateway.
//
//	nginx     combined, with rt= or request_time= (and uht=, urt=, uct=) behind it, or
//	          bare numbers: $time_local is the end, in whole seconds; a time in s with
//	          three decimals, as only nginx writes it
//	Apache    the same with %D (µs), %T (s) or %{ms}T: %t is the beginning; a whole
//	          number has no unit: it is asked for (--map e2e=number1:us)
//	Traefik   common format: the beginning, and at the end of the line "1250ms"; JSON:
//	          StartUTC, Duration and OriginDuration in ns
//	Envoy     default and Istio's: the beginning in ms; DURATION and the time to the
//	          head of the upstream's response in ms
//	Caddy     JSON: ts is the end, duration in s
//	HAProxy   HTTP log: the beginning in ms; TR/Tw/Tc/Tr/Ta (Tq/Tw/Tc/Tr/Tt before
//	          v1.7) in ms, -1 where it did not come to that
//
// Where a line tells when the head of a response came (uht, HAProxy's Tr, Envoy's
// upstream service time), that is reported and no TTFT: the head of a stream comes before
// its first token. Tokens are not counted, and have no times. Requests to other paths
// than those of APIs that generate tokens are noise.
package accesslog

import (
	"context"
	"fmt"
	"strings"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/records"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "accesslog",
	Title:    "access logs with times: nginx, Apache, Envoy, Caddy, Traefik, HAProxy",
	Priority: 117,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		unit, err := unitOf(opt.Map)
		if err != nil {
			return nil, err
		}
		d := dialect
		d.New = func(w *records.Writer) records.Fold { return &fold{Writer: w, unit: unit} }
		return records.Open(ctx, src, opt, &d)
	},
	Learn: learn,
}

// maxSniffed is how many lines of a head are looked at.
const maxSniffed = 200

func sniff(h *formats.Head) (formats.Score, string) {
	lines := h.Lines()
	for i, line := range lines[:min(len(lines), maxSniffed)] {
		var e entry
		if i < 50 && line[0] == '{' {
			v := records.NewFields(dialect.Fields)
			if v.Read(line) && e.object(v) && e.generates() {
				return formats.Sure, "its lines are those of " + e.program
			}
			continue
		}
		if e.line(line) && (e.timed || e.bare) && e.generates() {
			return formats.Sure, "its lines are requests with times, as " + e.program + " writes them"
		}
	}
	return formats.No, "no line is a request for tokens that says how long it took"
}

// unitOf returns the power of ten that whole numbers are given in, 0 where that is not
// said.
func unitOf(given []string) (scale int, err error) {
	for _, m := range given {
		unit, ok := strings.CutPrefix(strings.TrimSpace(m), "e2e=number1:")
		if scale = scales[unit]; !ok || scale == 0 {
			return 0, fmt.Errorf("%s: of an access log only the unit of the first number behind a request can be told: e2e=number1:s, :ms or :us; or give --input-format columns", m)
		}
	}
	return scale, nil
}

// learn implements formats.Format.Learn.
func learn(src formats.Source, given []string) (list []string, unknown string, err error) {
	if _, err := unitOf(given); err != nil || src == nil || len(given) > 0 {
		return given, "", err
	}
	h, err := formats.ReadHead(src)
	if err != nil {
		return nil, "", err
	}
	for _, line := range h.Lines() {
		var e entry
		if line[0] != '{' && e.line(line) && e.bare && e.generates() {
			return nil, ask, nil
		}
	}
	return nil, "", nil
}

// ask is what must be said of whole numbers.
const ask = "the unit of the whole number behind a request is not told: Apache writes s for %T, ms for %{ms}T and us for %D: say --map e2e=number1:us"

const (
	caddyTime = iota
	caddyTook
	status
	method
	uri
	message
	logger
	traefikStart
	traefikTook
	traefikOrigin
	downstream
	requestMethod
	requestPath
	service
)

var dialect = records.Dialect{
	Name: "accesslog",
	Run:  trace.RunMeta{Side: trace.Proxy, Clock: trace.Clock{Kind: trace.Wall}},
	Fields: map[string]int{
		"ts": caddyTime, "duration": caddyTook, "status": status, "request.method": method, "request.uri": uri, "msg": message, "logger": logger,
		"StartUTC": traefikStart, "Duration": traefikTook, "OriginDuration": traefikOrigin, "DownstreamStatus": downstream,
		"RequestMethod": requestMethod, "RequestPath": requestPath, "ServiceName": service,
	},
	HowTo: "no line is a request to an API that generates tokens and says how long it took",
}
