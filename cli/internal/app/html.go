package app

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/formats/all"
	"servescope/wasm/bridge"
	"servescope/wasm/page"
)

// maxSavedRequests is the number of requests of a run up to which a saved page
// holds each request. For larger runs it holds only the report and the charts.
const maxSavedRequests = 200_000

// writeHTML writes a page with a report and the data of its charts, as one
// document without an engine. The document contains recorded answers of the
// engine.
func (w *workspace) writeHTML(c *cli.Context, rep *report.Report, out io.Writer) error {
	r := &recorder{ctx: c.Context, query: url.Values{"session": {"1"}}}
	for _, name := range []string{"filter", "from", "to", "window", "by", "trim", "slo", "aborts", "definition", "percentiles", "replicas"} {
		if c.IsSet(name) && c.String(name) != "" && name != "replicas" {
			r.query.Set(name, c.String(name))
		}
	}
	r.engine = bridge.New(bridge.Options{Set: all.Set(), Workers: 1, Now: time.Now, Zone: parseZone})
	r.engine.Adopt("1", w.Session, new(bridge.Progress))
	r.gz = gzip.NewWriter(&r.buf)
	r.record(url.Values{"op": {"describe"}})
	body, err := rep.MarshalJSON()
	if err != nil {
		return err
	}
	r.add([]byte("op=run"), []byte(`{"type":"result"}`), body)
	for i := range rep.Runs {
		r.run(i, &rep.Runs[i])
	}
	if r.err == nil {
		r.err = r.gz.Close()
	}
	if r.err != nil {
		return r.err
	}
	doc, err := page.Document(page.Saved, []page.Block{{ID: "saved", Text: base64.StdEncoding.EncodeToString(r.buf.Bytes())}})
	if err != nil {
		return err
	}
	_, err = out.Write(doc)
	return err
}

// recorder records requests of the page and the answers of the engine.
type recorder struct {
	ctx    context.Context
	engine *bridge.Engine
	query  url.Values
	buf    bytes.Buffer
	gz     *gzip.Writer
	err    error
}

// run records the views of one run.
func (r *recorder) run(i int, run *report.Run) {
	side := run.Side
	if m := run.Metrics["ttft"]; m.Side != "" {
		side = m.Side
	}
	gaps := run.Metrics["chunk_gap"].N > 0
	views := []url.Values{{"kind": {"series"}, "buckets": {"300"}, "tokens": {strconv.FormatBool(gaps)}}}
	if n := run.Requests.Total; n > 0 && n <= maxSavedRequests {
		columns := url.Values{"kind": {"columns"}, "columns": {"arrival,end,clock,parts"}, "side": {side}}
		for k := range trace.Requests.Fields {
			if f := &trace.Requests.Fields[k]; f.Type != trace.List {
				columns.Add("columns", f.Name)
			}
		}
		for _, m := range metric.All() {
			if _, own := trace.Requests.Lookup(m.Name); m.Kind == metric.PerRequest && !own {
				columns.Add("columns", m.Name)
			}
		}
		if gaps {
			columns.Add("columns", "gap_max,gap_p99")
		}
		views = append(views, columns)
	}
	if gaps {
		views = append(views,
			url.Values{"kind": {"heatmap"}, "xbins": {"160"}, "ybins": {"48"}},
			url.Values{"kind": {"ecdf"}, "metric": {"chunk_gap"}, "points": {"2000"}},
			url.Values{"kind": {"gaps"}, "low": {strconv.FormatInt(longGap(run.Metrics["chunk_gap"]), 10)}, "limit": {"100000"}})
	}
	if len(run.Steps) > 0 {
		steps := url.Values{"kind": {"steps"}}
		for k := range trace.Steps.Fields {
			if f := &trace.Steps.Fields[k]; f.Type == trace.Int64 || f.Type == trace.Float64 || f.Type == trace.Bool {
				steps.Add("columns", f.Name)
			}
		}
		views = append(views, steps)
	}
	for _, v := range views {
		v.Set("op", "view")
		v.Set("run", strconv.Itoa(i))
		r.record(v)
	}
}

// longGap returns the length in ns from which the page draws a gap as a stall:
// the 99th percentile, or twice the median if that is longer.
func longGap(m report.Metric) int64 {
	high, ok := m.Quantiles["0.99"]
	if !ok {
		high = m.Max
	}
	return int64(math.Ceil(max(high, 2*m.Quantiles["0.5"], 1)))
}

// record sends a request to the engine and adds the answer under the request
// without its query.
func (r *recorder) record(request url.Values) {
	if r.err != nil {
		return
	}
	key := request.Encode()
	for name, value := range r.query {
		request[name] = value
	}
	r.engine.Call(r.ctx, []byte(request.Encode()), nil, func(head, body []byte) {
		if bytes.Contains(head, []byte(`"type":"error"`)) {
			r.err = fmt.Errorf("the page's data: %s", head)
			return
		}
		if !bytes.Contains(head, []byte(`"type":"progress"`)) {
			r.add([]byte(key), head, body)
		}
	})
}

// add adds an answer to the document: a frame whose head is the request, then a
// frame with the answer.
func (r *recorder) add(key, head, body []byte) {
	frames, _ := bridge.AppendFrame(nil, key, nil)
	frames, ok := bridge.AppendFrame(frames, head, body)
	if !ok {
		r.err = fmt.Errorf("the data of a chart are too large for one document")
	}
	if _, err := r.gz.Write(frames); err != nil && r.err == nil {
		r.err = err
	}
}
