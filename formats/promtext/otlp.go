package promtext

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/internal/json"
)

// The containers of an export, from the outermost. A document of traces or logs
// among those of metrics, as in one file of a collector, is noise.
//
//	{"resourceMetrics":[{"resource":{…},"scopeMetrics":[{"scope":{…},"metrics":[
//	  {"name":"gen_ai.server.time_to_first_token","unit":"s","histogram":{"aggregationTemporality":2,"dataPoints":[…]}}]}]}]}
const (
	inDocument = 1 + iota
	inResources
	inResource
	inScopes
	inScope
	inMetrics
)

// exports reads OTLP as JSON: a document per line, as the file exporter of the
// collector writes it, one behind the other, or in an array.
type exports struct {
	ctx context.Context
	rc  io.ReadCloser
	c   *json.Cursor

	level    int   // of what is open; 0: between documents
	at       int64 // where the document begins
	metrics  bool  // it has metrics
	others   bool  // it has spans or logs
	scoped   bool  // the metrics of the resource have begun
	metric   metric
	text     []byte
	label    []byte
	exponent map[*series]*counting
	order    []*counting
}

func openOTLP(ctx context.Context, src formats.Source, block int) (documents, error) {
	rc, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	e := &exports{ctx: ctx, rc: rc, exponent: make(map[*series]*counting)}
	e.c = json.New(e, 0, max(block, 0))
	return e, nil
}

// sniffOTLP looks for a metric that has a meaning here.
func sniffOTLP(h *formats.Head) (formats.Score, string) {
	for _, text := range append([][]byte{h.Start}, h.Samples...) {
		for _, name := range []string{"gen_ai.client.", "gen_ai.server.", "gen_ai_client_", "gen_ai_server_", "vllm:", "vllm.", "sglang:", "sglang."} {
			if bytes.Contains(text, []byte(`"name":"`+name)) || bytes.Contains(text, []byte(`"name": "`+name)) {
				return formats.Sure, "it has metrics of OpenTelemetry named " + name + "…"
			}
		}
	}
	return formats.Maybe, "it has metrics of OpenTelemetry, though the beginning has none of a model"
}

// Read is the cursor's reader: it ends when the context does.
func (e *exports) Read(b []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.rc.Read(b)
}

func (e *exports) err() error {
	if err := e.c.Err(); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

func (e *exports) close() error { return e.rc.Close() }

// next reads on up to the end of a metric. It reports false at the end.
func (e *exports) next(r *reader) bool {
	c := e.c
	for {
		if p, broken := c.Problem(); broken {
			r.at = p.Offset
			r.skip("truncated", diag.DataLoss, "an export of metrics breaks off: what stands before that is used")
			c.SkipLine()
			e.level = 0
			r.endScrape()
		}
		if c.Err() != nil {
			return false
		}
		switch {
		case e.level == 0:
			if !e.document(r) {
				return false
			}
		case !c.More():
			e.leave(r)
		case e.level == inMetrics:
			if r.at = c.Offset(); c.Kind() != json.Object {
				c.Skip()
				r.skip("bad_metric", diag.DataLoss, "an element of a list of metrics is no metric")
				continue
			}
			if e.metric.read(c) {
				e.take(r)
			}
			return true
		case e.level == inResources || e.level == inScopes:
			if c.Kind() == json.Object {
				c.Open()
				e.level++
			} else {
				c.Skip()
			}
		default:
			e.member(r)
		}
	}
}

// document goes to the next document, or past what is none.
func (e *exports) document(r *reader) bool {
	c := e.c
	r.at = c.Offset()
	switch c.Kind() {
	case json.EOF:
		return false
	case json.Object:
		c.Open()
		e.level, e.at, e.metrics, e.others = inDocument, r.at, false, false
	case json.Array: // of documents: its brackets and commas are skipped
		c.Advance(1)
	default:
		c.SkipLine()
		r.skip("stray_text", diag.DataLoss, "text that is no export of metrics was skipped")
	}
	return true
}

// leave is called at the end of a container.
func (e *exports) leave(r *reader) {
	if _, broken := e.c.Problem(); broken {
		return
	}
	switch e.level--; {
	case e.level == inResources:
		r.endScrape()
	case e.level > 0 || e.metrics:
	case e.others:
		r.noise("spans or logs")
	default:
		r.at = e.at
		r.skip("not_otlp", diag.DataLoss, "a document is no export of metrics and was skipped")
	}
}

// member takes a member of a document, a resource's metrics, or those of a scope.
func (e *exports) member(r *reader) {
	c := e.c
	key := string(c.Key(64))
	kind := c.Kind()
	within := kind == json.Array
	switch {
	case e.level == inDocument && within && (key == "resourceMetrics" || key == "resource_metrics"):
		e.metrics = true
	case e.level == inResource && within && (key == "scopeMetrics" || key == "scope_metrics" || key == "instrumentationLibraryMetrics"):
		e.scoped = true
	case e.level == inScope && within && key == "metrics":
	case e.level == inResource && key == "resource" && kind == json.Object:
		e.resource(r)
		return
	default:
		e.others = e.others || e.level == inDocument && (key == "resourceSpans" || key == "resourceLogs" || key == "resource_spans" || key == "resource_logs")
		c.Skip()
		return
	}
	if e.level == inDocument {
		r.table.enter("")
		e.scoped = false
	}
	c.Open()
	e.level++
}

// resource tells which process the metrics that follow are of.
func (e *exports) resource(r *reader) {
	c := e.c
	var of [4]string // what tells processes apart, from the outside in
	for c.Open(); c.More(); {
		if string(c.Key(64)) != "attributes" || c.Kind() != json.Array {
			c.Skip()
			continue
		}
		eachAttribute(c, func(key string, value []byte) {
			for i, name := range [...]string{"service.name", "host.name", "k8s.pod.name", "service.instance.id"} {
				if key == name {
					of[i] = string(value)
				}
			}
		})
	}
	if _, broken := c.Problem(); broken {
		return
	}
	name := of[0]
	for _, part := range of[1:] {
		if part != "" && name != "" {
			name += "/"
		}
		name += part
	}
	if e.scoped {
		r.add(diag.Diag{Code: "late_resource", Severity: diag.Notice, Offset: r.at, Msg: "the resource of metrics follows after them: their process is unknown"})
		return
	}
	r.endScrape()
	r.table.enter(name)
	r.config("service.name", of[0])
}

// eachAttribute calls f for each attribute of a list whose value is a scalar.
func eachAttribute(c *json.Cursor, f func(key string, value []byte)) {
	for c.Open(); c.More(); {
		var key string
		var value []byte
		if c.Kind() != json.Object {
			c.Skip()
			continue
		}
		for c.Open(); c.More(); {
			switch name := string(c.Key(16)); {
			case name == "key" && c.Kind() == json.String:
				key = string(c.Text(maxSetting))
			case name == "value" && c.Kind() == json.Object:
				for c.Open(); c.More(); {
					c.Key(16)
					value = append(value[:0], scalar(c)...)
				}
			default:
				c.Skip()
			}
		}
		if _, broken := c.Problem(); broken {
			return
		}
		f(key, value)
	}
}

// scalar reads a value and returns its text, nil for what is none.
func scalar(c *json.Cursor) []byte {
	switch c.Kind() {
	case json.String:
		return c.Text(maxSetting)
	case json.Number, json.Bool:
		return c.Literal()
	}
	c.Skip()
	return nil
}
