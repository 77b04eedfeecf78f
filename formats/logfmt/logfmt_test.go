package logfmt

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/columns"
	"servescope/formats/formatstest"
	"servescope/formats/source"
)

// read returns a line per request (id, status, then times in ms from the request on,
// tokens and gaps in ms) and the codes of the diagnostics.
func read(t *testing.T, f *formats.Format, text string, given ...string) (rows, codes []string, run *trace.RunMeta) {
	t.Helper()
	return formatstest.Rows(t, f, source.FromBytes("t", []byte(text)), formats.Options{Map: given}, row)
}

func row(b *trace.Batch, i int) string {
	id, _ := b.Texts(trace.RequestID).At(i)
	code, _ := b.Dicts(trace.StatusCol).At(i)
	out := fmt.Sprintf("%s %s", id, b.Dicts(trace.StatusCol).Values[code])
	start, started := b.Ints(trace.Received).At(i)
	if started {
		out += fmt.Sprintf(" at=%d", start)
	}
	for _, c := range []struct {
		name string
		col  trace.Col
	}{{"first", trace.FirstToken}, {"last", trace.LastToken}, {"end", trace.Finished}} {
		if v, there := b.Ints(c.col).At(i); there && started {
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
	if k, there := b.Dicts(trace.Model).At(i); there {
		out += " " + strconv.Quote(b.Dicts(trace.Model).Values[k])
	}
	if k, there := b.Dicts(trace.ErrorClass).At(i); there {
		out += " error=" + b.Dicts(trace.ErrorClass).Values[k]
	}
	if v, there := b.Lists(trace.ChunkGaps).At(i); there {
		out += fmt.Sprintf(" gaps=%d", v)
	}
	return out
}

func score(text string) formats.Score {
	s, _ := Format.Sniff(&formats.Head{Name: "t", Size: int64(len(text)), Start: []byte(text)})
	return s
}

// TestSpellings: each text says of a request that it came at 10:00:00 UTC on 2026-03-01,
// had its first token 120.5 ms and its end 1.5 s later, and 20 tokens, in a way that some
// logger or person writes.
func TestSpellings(t *testing.T) {
	const want = "a1 ok at=1772359200000000000 first=120.5 end=1500 out=20"
	const numbers = "request_id=a1 ttft_ms=120.5 output_tokens=20 duration=1.5s"
	for name, text := range map[string]string{
		"slog":               `time=2026-03-01T11:00:01.500+01:00 level=INFO msg="request done" ` + numbers,
		"logrus":             `time="2026-03-01T10:00:01.5Z" level=info msg="request done" error="<nil>" request_id=a1 ttft=120.5ms output_tokens=20 duration=1.5s`,
		"go-kit":             "ts=2026-03-01T10:00:01.5Z caller=main.go:12 level=info err=null " + numbers,
		"epoch":              "ts=1772359201.5 level=info " + numbers,
		"pairs alone":        "start=1772359200 request_id=a1 ttft=0.1205s output_tokens=20 duration=1500ms",
		"log of Go":          "2026/03/01 10:00:01.500000 server.go:12: request a1 finished: ttft=120.5ms output_tokens=20 duration=1.5s",
		"logging of Python":  "2026-03-01 10:00:01,500 - server - INFO - request a1 finished: ttft=0.1205s, output_tokens=20, duration=1.5s",
		"basicConfig":        "INFO:root:request a1 finished start=1772359200 ttft=0.1205s output_tokens=20 duration=1.5s",
		"without spaces":     "2026-03-01 10:00:01,500 INFO done request_id=a1,ttft=0.1205s,output_tokens=20,duration=1.5s",
		"in brackets":        "[2026-03-01 10:00:01,500] [INFO] request a1 finished (ttft=120.5 ms, output_tokens=20, duration=1.5 s)",
		"parted by bars":     "2026-03-01 10:00:01.500 | INFO | app:serve:42 | done | request_id=a1 | ttft=120.5ms | output_tokens=20 | duration=1.5s",
		"zap":                "2026-03-01T10:00:01.500Z\tINFO\tapi/serve.go:42\tdone\t" + `{"request_id": "a1", "ttft_ms": 120.5, "output_tokens": 20, "duration": "1.5s"}`,
		"pairs, then JSON":   "time=2026-03-01T10:00:01.5Z level=INFO msg=done request_id=a1 " + `{"ttft_ms": 120.5, "output_tokens": 20, "duration": "1.5s"}`,
		"journal":            "Mar  1 10:00:01 node7 gateway[812]: time=2026-03-01T10:00:01.5Z level=INFO msg=done " + numbers,
		"docker compose":     "server-1  | time=2026-03-01T10:00:01.5Z level=INFO msg=done " + numbers,
		"quotes of Python":   "2026-03-01 10:00:01,500 INFO done request_id='a1' ttft='0.1205s' output_tokens=20 duration='1.5s'",
		"call beside":        "2026-03-01 10:00:01,500 INFO Params(ttft_ms=9, duration=9s) request_id=a1 ttft_ms=120.5 output_tokens=20 duration=1.5s",
		"a name in a name":   "2026-03-01 10:00:01,500 INFO done req.id=a1 metrics.ttft_ms=120.5 usage.output_tokens=20 metrics.duration=1.5s",
		"nothing is a value": "2026-03-01 10:00:01,500 INFO done error= reason=nil url=http://x/?a=b==c " + numbers,
	} {
		rows, codes, run := read(t, &Format, text+"\n")
		if !slices.Equal(rows, []string{want}) {
			t.Errorf("%s: %q %q %v %s", name, rows, codes, run.Notes, run.NoRequests)
		}
		if score(text+"\n") == formats.No {
			t.Errorf("%s: it is not known", name)
		}
		// Cut off anywhere, it says nothing else.
		for n := range len(text) {
			rows, _, _ := read(t, &Format, text[:n])
			if len(rows) > 1 || len(rows) == 1 && !strings.HasPrefix(want, strings.Split(rows[0], " ")[0]) && !strings.HasPrefix(rows[0], " ") {
				t.Fatalf("%s: of %q: %q", name, text[:n], rows)
			}
		}
	}
}

// TestLastLine: the last line needs no line end where what it ends with is whole.
func TestLastLine(t *testing.T) {
	const line = `{"request_id":"%s","ttft_ms":%d,"duration":"1.5s"}`
	text := "time=2026-03-01T10:00:01Z level=INFO msg=done request_id=a ttft_ms=100 duration=\"1.5s\"\n" +
		"2026-03-01T10:00:02Z INFO done " + fmt.Sprintf(line, "b", 200) + "\n" +
		"2026-03-01T10:00:03Z INFO done " + fmt.Sprintf(line, "c", 300)
	rows, codes, _ := read(t, &Format, text)
	if len(rows) != 3 || !strings.HasSuffix(rows[2], " first=300 end=1500") || !strings.HasPrefix(rows[2], "c ok") || !slices.Equal(codes, []string{"empty_cell 2"}) {
		t.Errorf("%q %q", rows, codes)
	}
}

// TestUnits: a latency whose unit neither its name nor its values say is asked for, as of
// objects; log/slog writes durations as text here, so whole numbers are no ns.
func TestUnits(t *testing.T) {
	text := "time=2026-03-01T10:00:01Z level=INFO msg=done id=u1 ttft=5 latency=50 output_tokens=20\n" +
		"time=2026-03-01T10:00:02Z level=INFO msg=done id=u2 ttft=6 latency=70 output_tokens=30\n"
	rows, codes, run := read(t, &Format, text)
	if len(rows) > 0 || !strings.Contains(run.NoRequests, "--map e2e=latency:s or --map e2e=latency:ms") {
		t.Errorf("%q %q %q", rows, codes, run.NoRequests)
	}
	rows, codes, _ = read(t, &Format, text, "e2e=latency:s", "ttft=ttft:s")
	if want := []string{"u1 ok at=1772359151000000000 first=5000 end=50000 out=20", "u2 ok at=1772359132000000000 first=6000 end=70000 out=30"}; !slices.Equal(rows, want) {
		t.Errorf("%q %q", rows, codes)
	}
	if _, _, run = read(t, &Format, "time=2026-03-01T10:00:01Z level=INFO msg=done id=u1 duration=2000000\n"); !strings.Contains(run.NoRequests, "can be") {
		t.Errorf("%q %q", run.Notes, run.NoRequests)
	}
	// Names that nobody knows are given, whichever format is asked.
	text = "2026-03-01 10:00:01,000 INFO job=j1 first_out=50 everything=400\n2026-03-01 10:00:02,000 INFO job=j2 first_out=60 everything=500\n"
	if score(text) != formats.No {
		t.Error("a log without a known latency is recognised")
	}
	for _, f := range []*formats.Format{&Format, &columns.Format} {
		rows, codes, run = read(t, f, text, "id=job", "ttft=first_out:ms", "e2e=everything:ms", "finished=asctime")
		if want := []string{"j1 ok at=1772359200600000000 first=50 end=400", "j2 ok at=1772359201500000000 first=60 end=500"}; !slices.Equal(rows, want) {
			t.Errorf("%s: %q %q %s", f.Name, rows, codes, run.NoRequests)
		}
	}
}

// TestOtherLines: what else a server writes is no request, even if it has a stamp and
// says how long it took, and is counted.
func TestOtherLines(t *testing.T) {
	const of = "time=2026-03-01T10:00:01.5Z level=INFO msg=done request_id=a ttft_ms=100 duration=1s\n"
	for _, other := range []string{
		`time=2026-03-01T10:00:00Z level=INFO msg="model loaded" model=m duration=35s`,
		`time=2026-03-01T10:00:00Z level=DEBUG msg=routing request_id=a`,
		`listening on :8080`, `goroutine 1 [running]:`, "\tmain.go:12 +0x1d", `Traceback (most recent call last):`,
		`    raise ValueError(f"duration={x}")`, `x=1`, `export LATENCY=5s MODEL=m`, `python serve.py --ttft=3s --model=m`,
		`we saw ttft=5ms and duration=7s for model=m`,
	} {
		rows, codes, _ := read(t, &Format, other+"\n"+of)
		if want := []string{"a ok at=1772359200500000000 first=100 end=1000"}; !slices.Equal(rows, want) || !slices.Equal(codes, []string{"other_line 1"}) {
			t.Errorf("%s: %q %q", other, rows, codes)
		}
	}
	rows, codes, _ := read(t, &Format, of+`time=2026-03-01T10:00:02Z level=INFO request_id="b duration=1s`+"\n"+of[:len(of)-1])
	if len(rows) != 2 || strings.HasSuffix(rows[1], "end=1000") || !slices.Equal(codes, []string{"bad_record 1", "truncated 1", "empty_cell 1"}) {
		t.Errorf("a quote that does not end, and a value that may go on: %q %q", rows, codes)
	}
}

// TestNotPairs are texts that other formats are for, or none.
func TestNotPairs(t *testing.T) {
	for _, text := range []string{
		"", "\n\n", "a=b\n", "A=1\nLATENCY=5s\nMODEL=m\n", "export LATENCY=5s MODEL=m\n",
		"LATENCY=5s MODEL=m python serve.py --ttft=1s\n",
		"The ttft=5ms of model=m is better than duration=7s was.\n",
		"request_id,ttft_ms,duration\na,1,2\n",
		`{"request_id":"a","ttft_ms":100,"duration":"1s"}` + "\n",
		"# HELP ttft x\nvllm:time_to_first_token_seconds_bucket{le=\"0.5\",model_name=\"m\"} 12\nttft{model=\"m\", duration=\"1s\"} 1\n",
		`10.0.0.1 - - [01/Mar/2026:10:00:00 +0000] "POST /v1/chat/completions?ttft=1s&model=m HTTP/1.1" 200 12 "-" "curl"` + "\n",
		"INFO 03-01 09:00:00 logger.py:40] Received request cmpl-aa11-0: prompt: 'x', params: SamplingParams(n=1, max_tokens=16, duration=1s), prompt_token_ids: [1, 7, 7], lora_request: None.\n",
		"INFO 03-01 09:00:01 async_llm_engine.py:130] Aborted request aa11.\n",
		"INFO 03-01 09:00:01 engine.py:1] Initializing with config: model='m', max_model_len=4096, timeout=30s\n",
		"[2026-03-01 09:00:00] server_args=ServerArgs(model_path='m', watchdog_timeout=300, duration=1s)\n",
		"queue_duration=12.00ms, forward_duration=880.10ms, start_time=412345.678\n",
		"Traceback (most recent call last):\n  File \"x.py\", line 3, in f\n    g(ttft=1, duration=2, model=m)\nTypeError: g() got duration=2\n",
		"curl -d model=m -d ttft=1s http://x\n", "<a href=\"x\" ttft=1s duration=2s model=m>\n",
		"time=2026-03-01T10:00:00Z level=INFO msg=\"http request\" method=GET path=/ status=200\n",
	} {
		if s := score(text); s != formats.No {
			t.Errorf("%q is recognised: %d", text, s)
		}
	}
}

// TestAsObjects: a line of pairs is what an object of JSON with these members is.
func TestAsObjects(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{"m", "a b", `q"uo\te`, "tab\tand\nline", "ümlaut=x", "", "null", "µ", "x=y,z=1", "[a", "{b}"}
	for range 200 {
		var pairs, objects strings.Builder
		for n := range 1 + rng.IntN(5) {
			at := 1772359200 + float64(n) + rng.Float64()
			var o, p []string
			add := func(key string, v any) {
				raw, _ := json.Marshal(v)
				o = append(o, fmt.Sprintf("%q:%s", key, raw))
				if s, isText := v.(string); !isText {
					p = append(p, key+"="+string(raw))
				} else if strings.ContainsAny(s, " =\"\\\t\n[{,") || s == "" || s == "null" {
					p = append(p, key+"="+string(raw))
				} else {
					p = append(p, key+"="+s)
				}
			}
			add("ts", json.Number(strconv.FormatFloat(at, 'f', 6, 64)))
			add("level", "info")
			add("msg", texts[rng.IntN(len(texts))])
			add("request_id", fmt.Sprint("r", n))
			add("model", texts[rng.IntN(len(texts))])
			add("ttft_ms", json.Number(fmt.Sprint(1+rng.IntN(500), ".", rng.IntN(1000))))
			add("duration", fmt.Sprint(1+rng.IntN(9), ".", rng.IntN(100), "s"))
			add("completion_tokens", rng.IntN(300))
			add("error", []any{nil, "timeout: x", "", false}[rng.IntN(4)])
			add("itls_ms", [][]float64{{}, {1.5}, {10, 20.25, 3}}[rng.IntN(3)])
			fmt.Fprintf(&objects, "{%s}\n", strings.Join(o, ","))
			fmt.Fprintln(&pairs, strings.Join(p, " "))
		}
		rows, codes, run := read(t, &Format, pairs.String())
		want, wantCodes, wantRun := read(t, &columns.Format, objects.String())
		if len(want) == 0 || !slices.Equal(rows, want) || !slices.Equal(codes, wantCodes) || !slices.Equal(run.Notes, wantRun.Notes) {
			t.Fatalf("%s\n%q %q %q\nof\n%s\n%q %q %q", pairs.String(), rows, codes, run.Notes, objects.String(), want, wantCodes, wantRun.Notes)
		}
	}
}

// TestStatedByEvents: a log of events may state latencies when a request ends; stamps of
// events count, and what is missing of them follows.
func TestStatedByEvents(t *testing.T) {
	rows, codes, run := read(t, &Format, `time=2026-03-01T10:00:00Z level=INFO msg="request started" request_id=a queue=7
time=2026-03-01T10:00:00.1Z level=INFO msg="request started" request_id=b
time=2026-03-01T10:00:00.3Z level=INFO msg="first token" request_id=b
time=2026-03-01T10:00:01Z level=INFO msg="request queued" request_id=a duration=3s
time=2026-03-01T10:00:01.5Z level=INFO msg="request finished" request_id=a ttft=120.5ms duration=1.5s output_tokens=20
time=2026-03-01T10:00:02.1Z level=INFO msg="request finished" request_id=b ttft=200ms duration=1s output_tokens=20
time=2026-03-01T10:00:03.5Z level=INFO msg="request finished" request_id=c ttft=250ms duration=2.5s output_tokens=9
time=2026-03-01T10:00:04.5Z level=INFO msg="request failed" request_id=d ttft=2s duration=1s error=EOF
`)
	if want := []string{
		"a ok at=1772359200000000000 first=120.5 end=1500 out=20",
		"b ok at=1772359200100000000 first=200 end=2000 out=20", // its stamps are 2 s apart
		"c ok at=1772359201000000000 first=250 end=2500 out=9",
		"d failed error=EOF",
	}; !slices.Equal(rows, want) || !slices.Equal(codes, []string{"contradiction 1", "latency_mismatch 1"}) {
		t.Errorf("%q %q %v", rows, codes, run.Notes)
	}
	// A latency without a unit is not needed.
	rows, _, run = read(t, &Format, `ts=2026-03-01T10:00:00Z event=started id=a
ts=2026-03-01T10:00:01Z event=finished id=a latency=50 output_tokens=20
`)
	if all := strings.Join(run.Notes, ";"); !slices.Equal(rows, []string{"a ok at=1772359200000000000 end=1000 out=20"}) || !strings.Contains(all, `column "latency" is not used: the unit of`) {
		t.Errorf("%q %s", rows, all)
	}
}

// TestRoom: of a line that is read nothing stays in memory.
func TestRoom(t *testing.T) {
	const line = "2026-03-01T10:00:01.500Z INFO serve.go:42: request %08d finished: model=m ttft=120.5ms output_tokens=20 duration=1.5s\n"
	allocs := func(lines int) float64 {
		var b strings.Builder
		for n := range lines {
			fmt.Fprintf(&b, line, n)
		}
		return testing.AllocsPerRun(2, func() { read1(t, b.String()) })
	}
	few, many := allocs(4000), allocs(24000)
	if each := (many - few) / 20000; each > 0.1 {
		t.Errorf("%.2f allocations a line", each)
	}
}

func read1(t *testing.T, text string) {
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for r.Next() {
		n += r.Batch().Rows
	}
	if n != strings.Count(text, "\n") {
		t.Fatalf("%d requests", n)
	}
}
