package columns

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/formatstest"
	"servescope/formats/source"
)

// read returns a line per request (id, status, then times in ms from the request
// on, then tokens and gaps in ms) and the codes of the diagnostics.
func read(t *testing.T, src formats.Source, opt formats.Options) (rows, codes []string, run *trace.RunMeta) {
	t.Helper()
	return formatstest.Rows(t, &Format, src, opt, line)
}

func line(b *trace.Batch, i int) string {
	id, _ := b.Texts(trace.RequestID).At(i)
	code, _ := b.Dicts(trace.StatusCol).At(i)
	out := fmt.Sprintf("%s %s", id, b.Dicts(trace.StatusCol).Values[code])
	start, ok := b.Ints(trace.Received).At(i)
	if !ok {
		start, ok = b.Ints(trace.Sent).At(i)
	}
	for _, c := range []struct {
		name string
		col  trace.Col
	}{{"first", trace.FirstToken}, {"last", trace.LastToken}, {"end", trace.Finished}} {
		if v, there := b.Ints(c.col).At(i); there && ok {
			out += fmt.Sprintf(" %s=%v", c.name, float64(v-start)/1e6)
		}
	}
	for _, c := range []struct {
		name string
		col  trace.Col
	}{{"in", trace.PromptTokens}, {"out", trace.OutputTokens}} {
		if v, there := b.Ints(c.col).At(i); there {
			out += fmt.Sprintf(" %s=%d", c.name, v)
		}
	}
	if v, there := b.Lists(trace.ChunkGaps).At(i); there {
		out += fmt.Sprintf(" gaps=%d", v)
	}
	return out
}

func textSource(s string) formats.Source { return source.FromBytes("t", []byte(s)) }

const root = "../../testdata/formats/columns"

// TestFixtures holds what the files of testdata say, worked out by hand from
// their text.
func TestFixtures(t *testing.T) {
	const two = "/r1 ok first=85.2 end=1340.5 in=512 out=128/r2 ok first=70 end=700.25 in=300 out=64"
	same := func(a, b string) string { return strings.NewReplacer("r1", a, "r2", b).Replace(two) }
	want := map[string]string{
		"fastapi-access":      same("7f3c", "7f3d") + "/7f3e failed end=12.5",
		"go-slog":             same("a1", "a2"),
		"nginx-json":          "/9f01 ok end=1340/9f02 aborted end=30001/9f03 failed end=3",
		"nginx-csv":           "/9f01 ok end=1340/9f02 aborted end=30001",
		"pandas-index":        same("r0", "r1") + "/r2 open in=1024",
		"bigquery":            "/bq-1 ok first=100 end=1000 in=512 out=128/bq-2 ok first=250 in=300",
		"cloudwatch-insights": "/b-1 ok first=120 end=950 in=512 out=128/b-2 ok first=130 end=1500 in=300 out=64",
		"semicolon":           same("1", "2"),
		"decimal-comma":       "/1 ok first=85.2 end=1340.5 out=128/2 ok first=70 end=700.25 out=64/3 ok first=71.125 end=800 out=3",
		"comma-ambiguous":     "",
		"tabs":                same("q-1", "q-2"),
		"gateway-spend":       "/chatcmpl-1 ok first=250 end=2000 in=512 out=128/chatcmpl-2 ok first=500 end=2000 in=300 out=64",
		"ambiguous-unit":      "",
		"camel-epoch-ms":      "/c1 ok first=85 end=1340 in=512 out=128/c2 ok first=70 end=700 in=300 out=64",
		"p59-nanoseconds":     "/n1 ok end=1000/n2 ok end=1000/n4 ok end=1000",
		"events":              "/x ok first=300 end=1300 in=5 out=11/y failed end=1300 in=7/w head_missing/z open",
		"events-tokens":       "/a ok first=300 last=341 end=345 out=3 gaps=[20000000 21000000]/b aborted first=250 last=250 end=300 out=1 gaps=[]",
		"events-slog":         "/s1 ok first=250 end=1500 out=26/s2 open",
		"itl-list":            "/i1 ok first=250 last=310.5 in=100 out=4 gaps=[20000000 21000000 19500000]/i2 ok first=300 last=300 in=100 out=1 gaps=[]/i3 ok first=300 in=100 out=1",
		"token-times":         "/t1 ok first=250 last=300 in=9 out=3 gaps=[20000000 30000000]/t2 ok first=500 last=500 in=9 out=1 gaps=[]",
		"list-cells":          "/l1 ok first=250 last=310.5 out=4 gaps=[20000000 21000000 19500000]/l2 ok first=300 last=300 out=1 gaps=[]",
		"pretty-array":        same("j1", "j2"),
		"p81-not-json":        "/g1 ok first=85.2 end=1340.5/g2 ok end=700.25/g3 ok end=900",
		"usage-latency":       same("u1", "u2"),
		"iso-token-list":      "/z1 ok first=250 last=291 end=300 out=3 gaps=[20000000 21000000]/z2 empty end=100 out=0 gaps=[]/z3 ok first=250 last=291 end=300 out=3",
		"iso-list-cells":      "/y1 ok first=250 last=280 out=2 gaps=[30000000]/y2 ok first=500 last=500 out=1 gaps=[]",
		"duplicate-ids":       "/d1 ok first=85 end=1340/d1 ok first=85 end=1340/d2 ok first=70 end=700",
		"mixed-units":         "/m1 ok end=1000/m2 ok end=1500/m3 ok end=1000/m4 ok end=1000/m5 ok end=1000/m6 ok end=1000/m7 ok end=1000/m8 ok end=1000/m9 ok end=1000/m10 ok",
		"contradictions":      "/k1 ok first=100 end=2000/k2 ok end=1000/k3 ok first=100/k4 ok first=100 end=1000",
		"go-durations":        "/u1 ok first=85.2 end=1340.5 in=512 out=128/u2 ok first=70 end=62500 in=300 out=64",
		"perf-counter":        "/p1 ok first=250 end=1500 out=40/p2 ok first=500 end=2000 out=50",
		"quoted":              "/o1 ok first=85.2 end=1340.5 out=128/o2 ok first=70 end=700.25 out=64",
		"missing-cells":       "/h1 ok first=85 end=1340 in=512 out=128/h2 ok end=900 out=64/h3 ok end=900 in=300 out=64/h5 ok first=85 in=300 out=0/h6 ok first=85 end=1340 in=512",
		"p20-batch":           "/0-0 ok first=1000 end=1500/0-1 ok first=1000 end=1500/0-2 ok first=1000",
		"statuses":            "/e1 ok end=900 out=20/e2 failed end=60000/e3 aborted end=1200 out=3/e4 empty end=1200 out=0",
		"tpot-mean":           "/v1 ok first=250 last=450 out=11/v2 ok first=500 out=1",
		"name-against-values": "",
		"p80-types":           "/w1 ok first=85 end=1340 out=128/w2 ok first=70 end=700 in=300",
		"p54-names":           "/abc ok first=85 end=1340/chatcmpl-abc-0 ok first=84 end=1338",
		"cloudwatch-events":   same("r1", "r2"), "cloudwatch-insights-message": same("r1", "r2"), "loki-logcli": same("r1", "r2"), "docker-json-file": same("r1", "r2"),
		"fluent-bit": same("r1", "r2"), "gcloud-text-payload": same("r1", "r2"), "lambda-node": same("r1", "r2"), "postgres-jsonb": same("r1", "r2"),
		"dates-us": same("r1", "r2"), "dates-us-ambiguous": "", "dates-german": same("r1", "r2"), "swiss-excel": same("r1", "r2"),
		"kibana": same("r1", "r2"), "apache-csv": same("r1", "r2"), "rfc1123": same("r1", "r2"),
	}
	names, err := filepath.Glob(root + "/*/input.*")
	if err != nil || len(names) != len(want) {
		t.Fatalf("%d files, %d wanted: %v", len(names), len(want), err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, codes, _ := read(t, source.FromBytes(name, data), formats.Options{})
		fixture := filepath.Base(filepath.Dir(name))
		if got := "/" + strings.Join(rows, "/"); got != want[fixture] && got+"/" != want[fixture]+"//" {
			t.Errorf("%s:\n%s\nwant\n%s\n%v", fixture, got, want[fixture], codes)
		}
	}
}

// TestMap gives columns their meaning by name and by number.
func TestMap(t *testing.T) {
	const bare = "r1,85.2,1340.5,128\nr2,70,700.25,64\n"
	for _, c := range []struct{ file, mapping, want, problem string }{
		{bare, "id=1 ttft=2:ms e2e=3:ms output_tokens=4", "r1 ok first=85.2 end=1340.5 out=128/r2 ok first=70 end=700.25 out=64", ""},
		{bare, "id=1 ttft=2:s e2e=3:s", "r1 ok first=85200 end=1.3405e+06/r2 ok first=70000 end=700250", ""},
		{bare, "ttft=9:ms", "", `there is no column "9" for ttft`},
		{bare, "id=1", "", "no column is known to hold a latency"},
		{bare, "ttft=2", "", `the unit of column "2" is not in its name, and its values (70 … 85.2) can be s or ms`},
		{"id,latency\n1,153\n2,812\n", "", "", `the unit of column "latency" is not in its name, and its values (153 … 812) can be s or ms`},
		{"id,latency\n1,153\n2,812\n", "e2e=latency:ms", "1 ok end=153/2 ok end=812", ""},
		{"id,latency,n_output_tokens\n1,153,1000\n2,812,5000\n", "e2e=latency:us", "1 ok end=0.153 out=1000/2 ok end=0.812 out=5000", ""},
		{`{"t":250,"n":"x"}`, "ttft=t:ms e2e=t:ms id=n", "x ok first=250 end=250", ""},
		{`{"a":{"b":{"c":250}},"n":"x"}`, "ttft=a.b.c:ms id=n", "x ok first=250", ""},
		{"id,when\n1,2026-03-01T10:00:00Z\n", "", "", "no column is known to hold a latency"},
		{"id,at,until\n1,1772359200,1772359201000\n2,1772359201,1772359202500\n", "finished=until", "1 ok end=1000/2 ok end=1500", ""},
		{"id,latency\n", "e2e=latency", "", `the unit of column "latency" is not in its name, and it has no values`},
		{"id,ttft_ms,first,latency_ms\n1,85,90,1340\n", "ttft=first:ms", "1 ok first=90 end=1340", ""},
	} {
		rows, codes, run := read(t, textSource(c.file), formats.Options{Map: strings.Fields(c.mapping)})
		if got := strings.Join(rows, "/"); got != c.want || !strings.HasPrefix(run.NoRequests, c.problem) || (c.problem == "") != (run.NoRequests == "") {
			t.Errorf("%q with %s: %s, want %s; %q, want %q; %v", c.file, c.mapping, got, c.want, run.NoRequests, c.problem, codes)
		}
	}
	for bad, want := range map[string]string{
		"x=1": `no role "x"`, "ttft": "write ROLE=COLUMN", "ttft=a:parsec": `no unit "parsec"`, "model=m:ms": "model has no unit",
	} {
		if _, _, err := Format.Learn(nil, []string{bad}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
	if _, _, err := Format.Learn(nil, []string{"ttft=a", "ttft=b"}); err == nil {
		t.Error("a role may be given twice")
	}
}

// TestUnits finds the unit of a latency from what it would mean.
func TestUnits(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"id,latency,output_tokens\n1,1.34,128\n2,0.7,64\n", "1 ok end=1340 out=128/2 ok end=700 out=64"},
		{"id,latency,output_tokens\n1,134000,128\n2,70000,64\n", ""}, // 1 s or 1 ms a token
		{"id,latency,output_tokens\n1,1340,128\n2,700,64\n", "1 ok end=1340 out=128/2 ok end=700 out=64"},
		{"id,latency,ttft,output_tokens\n1,1340,250,128\n2,700,200,64\n", "1 ok first=250 end=1340 out=128/2 ok first=200 end=700 out=64"},
		{"id,ttft\n1,0.25\n2,0.3\n", "1 ok first=250/2 ok first=300"},
		{"id,ttft\n1,25\n2,30\n", ""},
		{"id,start,end,duration\n1,1772359200,1772359201,1000\n2,1772359201,1772359203,2000\n3,1772359202,1772359203,1000\n",
			"1 ok end=1000/2 ok end=2000/3 ok end=1000"},
		{"id,start,end\n1,1772359200,1772359201000\n2,1772359201000,1772359203\n3,1772359202,1772359203\n", ""}, // several units
	} {
		rows, _, run := read(t, textSource(c.file), formats.Options{})
		if got := strings.Join(rows, "/"); got != c.want || (c.want == "") != (run.NoRequests != "") {
			t.Errorf("%q: %s, want %s; %s", c.file, got, c.want, run.NoRequests)
		}
	}
}

// TestDoubts: a unit that is said and can hardly be is told, and so is a record
// that is in another unit than its column.
func TestDoubts(t *testing.T) {
	for file, want := range map[string]string{
		"id,latency_ms,output_tokens\n1,1.34,128\n2,0.7,64\n":                "doubtful_column 1,implausible_pace 2",
		"id,latency_ms,output_tokens\n1,1340,128\n2,0.7,64\n3,700,64\n":      "implausible_pace 1",
		"id,latency_ms,completion_length\n1,1340,128\n2,700,64\n":            "doubtful_column 1",
		"id,latency_ms,ttft_ms,output_tokens\n1,1340,85,128\n2,700,80,64\n":  "",
		"id,latency_s,ttft_ms,output_tokens\n1,1.34,85,128\n2,0.7,0.08,64\n": "",
		"id,latency_s,ttft_s,output_tokens\n1,1.34,85,128\n2,0.7,80,64\n":    "contradiction 2,doubtful_column 1",
	} {
		_, codes, _ := read(t, textSource(file), formats.Options{})
		if got := strings.Join(codes, ","); got != want {
			t.Errorf("%q: %s, want %s", file, got, want)
		}
	}
}

func TestP20Batch(t *testing.T) {
	data, err := os.ReadFile(root + "/p20-batch/input.csv")
	if err != nil {
		t.Fatal(err)
	}
	_, codes, _ := read(t, source.FromBytes("t", data), formats.Options{})
	if strings.Join(codes, ",") != "implausible_time 1" {
		t.Error(codes)
	}
}

// TestP30OneName: a prefill time is not taken from a name with two meanings.
func TestP30OneName(t *testing.T) {
	_, _, run := read(t, textSource(`{"gen_ai.latency.time_in_model_prefill":0.1,"gen_ai.latency.time_to_first_token":0.4,"id":"a"}`), formats.Options{})
	for _, n := range run.Notes {
		if strings.Contains(n, "prefill") {
			t.Error(n)
		}
	}
	if len(run.Notes) != 2 {
		t.Errorf("%q", run.Notes)
	}
}

func TestP40Zone(t *testing.T) {
	la, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Skip(err)
	}
	const head = "id,arrival,ttft_ms\n"
	stamps := func(file string, zone *time.Location) (at []int64, codes []string) {
		r, err := Format.Open(context.Background(), textSource(head+file), formats.Whole, formats.Options{Workers: 1, TZ: zone})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for r.Next() {
			for i := range r.Batch().Rows {
				v, ok := r.Batch().Ints(trace.Received).At(i)
				if c, set := r.Batch().Dicts(trace.ClockCol).At(i); ok && set && r.Batch().Dicts(trace.ClockCol).Values[c] == "request" {
					v = -1
				}
				at = append(at, v)
			}
		}
		for _, d := range r.Diags().All() {
			codes = append(codes, d.Code)
		}
		return at, codes
	}
	const file = "a,2025-07-01 10:00:00,80\n"
	inLA, _ := stamps(file, la)
	inUTC, codes := stamps(file, nil)
	if d := inLA[0] - inUTC[0]; d != 7*3600e9 || fmt.Sprint(codes) != "[zone_assumed]" {
		t.Errorf("the zone moves a stamp by %d ns; %v", d, codes)
	}
	fold, codes := stamps("a,2025-11-02 00:59:58,80\nb,2025-11-02 01:59:58,80\nc,2025-11-02 01:00:02,80\n", la)
	if d := fold[2] - fold[1]; d != 4e9 || len(codes) > 0 {
		t.Errorf("over the fold %d ns; %v", d, codes)
	}
	if gap, codes := stamps("a,2025-03-09 02:30:00,80\n", la); gap[0] != -1 || fmt.Sprint(codes) != "[no_such_time]" {
		t.Errorf("a time that is not: %v, %v", gap, codes)
	}
}

// TestP54Names: ids are kept as they are written; what they have in common is for
// joining to tell.
func TestP54Names(t *testing.T) {
	for _, id := range []string{"abc", "chatcmpl-abc", "chatcmpl-abc-0", "chatcmpl-abc-9f31c2d4"} {
		for _, text := range []string{"x-request-id,ttft_ms\n" + id + ",85\n", `{"id":"` + id + `","ttft_ms":85}`} {
			if rows, _, _ := read(t, textSource(text), formats.Options{}); len(rows) != 1 || rows[0] != id+" ok first=85" {
				t.Errorf("%s: %q", text, rows)
			}
		}
	}
}

// TestP80Types: a count that no integer holds is unknown and told, one that is
// written as a float counts, and a hash costs nothing.
func TestP80Types(t *testing.T) {
	rows, codes, _ := read(t, fixture(t, "p80-types/input.jsonl"), formats.Options{})
	if got := strings.Join(rows, "/"); got != "w1 ok first=85 end=1340 out=128/w2 ok first=70 end=700 in=300" || fmt.Sprint(codes) != "[bad_value 1 empty_cell 1]" {
		t.Error(got, codes)
	}
}

// TestP81NotJSON: what is no number in JSON is unknown, and objects may be glued
// together.
func TestP81NotJSON(t *testing.T) {
	rows, _, _ := read(t, fixture(t, "p81-not-json/input.jsonl"), formats.Options{})
	if got := strings.Join(rows, "/"); got != "g1 ok first=85.2 end=1340.5/g2 ok end=700.25/g3 ok end=900" {
		t.Error(got)
	}
}

// endless is rows of a table without end, up to size.
type endless struct {
	size int64
	rows []byte
}

func (*endless) Name() string       { return "endless" }
func (e *endless) Size() int64      { return e.size }
func (*endless) ModTime() time.Time { return time.Time{} }
func (*endless) At() io.ReaderAt    { return nil }
func (e *endless) Open(int64) (io.ReadCloser, error) {
	return io.NopCloser(io.LimitReader(&repeated{head: []byte("id,ttft_ms,latency_ms,output_tokens,note\n"), rows: e.rows}, e.size)), nil
}

type repeated struct{ head, rows []byte }

func (r *repeated) Read(p []byte) (int, error) {
	if len(r.head) == 0 {
		r.head = r.rows
	}
	n := copy(p, r.head)
	r.head = r.head[n:]
	return n, nil
}

// TestP83Memory: a table takes the same memory however long it is, and so does one
// whose row does not end.
func TestP83Memory(t *testing.T) {
	for name, rows := range map[string]string{"rows": strings.Repeat("r1,85.2,1340.5,128,none\n", 1000), "one row": strings.Repeat("x", 1<<16)} {
		src := &endless{12 << 20, []byte(rows)}
		r, err := Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Lists: true, Map: []string{"ttft=ttft_ms:ms", "e2e=latency_ms:ms"}})
		if err != nil {
			t.Fatal(err)
		}
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		n, most := 0, uint64(0)
		for i := 0; r.Next(); i++ {
			if n += r.Batch().Rows; i%20 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			}
		}
		runtime.ReadMemStats(&now)
		if name == "rows" && (n < 4e5 || most > before.HeapAlloc+6<<20) || now.Sys > before.Sys+128<<20 {
			t.Errorf("%s: %d rows; %d MiB and then %d, of the system %d and then %d", name, n, before.HeapAlloc>>20, most>>20, before.Sys>>20, now.Sys>>20)
		}
		r.Close()
	}
}

// fixture returns a file of testdata.
func fixture(t *testing.T, name string) formats.Source {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return source.FromBytes(name, data)
}

func TestP59Exact(t *testing.T) {
	data, err := os.ReadFile(root + "/p59-nanoseconds/input.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Format.Open(context.Background(), source.FromBytes("t", data), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for r.Next() {
		for i := range r.Batch().Rows {
			if v, _ := r.Batch().Ints(trace.Received).At(i); v != 1767225600123456789 {
				t.Errorf("row %d: %d", i, v)
			}
			n++
		}
	}
	if n != 3 {
		t.Error(n, "rows")
	}
}

func TestP79EmptyAndNull(t *testing.T) {
	rows, _, _ := read(t, textSource(`{"id":"a","ttft_ms":85,"itl_ms":[20],"output_tokens":2}
{"id":"b","ttft_ms":85,"itl_ms":[],"output_tokens":1}
{"id":"c","ttft_ms":85,"itl_ms":null,"output_tokens":9}
{"id":"d","ttft_ms":85,"itl_ms":[20,null],"output_tokens":3}
`), formats.Options{})
	want := "a ok first=85 last=105 out=2 gaps=[20000000]/b ok first=85 last=85 out=1 gaps=[]/c ok first=85 out=9/d ok first=85 out=3"
	if got := strings.Join(rows, "/"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestP84Members(t *testing.T) {
	var b bytes.Buffer
	for _, part := range []string{"id,ttft_ms\n1,85\n", "2,70\n"} {
		w := gzip.NewWriter(&b)
		w.Write([]byte(part))
		w.Close()
	}
	in, err := source.Unpack([]source.Input{{Source: source.FromBytes("x.csv", b.Bytes()), Named: true}}, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rows, _, _ := read(t, in.List[0].Source, formats.Options{})
	if got := strings.Join(rows, "/"); got != "1 ok first=85/2 ok first=70" {
		t.Error(got)
	}
}
