package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"servescope/analyzer"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

var present = time.Date(2026, 5, 17, 8, 30, 0, 0, time.UTC)

func newEngine() *Engine {
	return New(Options{Set: all.Set(), Workers: 2, Now: func() time.Time { return present }, Zone: Zone})
}

// answer is the last answer of a call.
type answer struct {
	head map[string]any
	body []byte
}

// ask makes a call of keys and values and returns its last answer.
func ask(t *testing.T, e *Engine, files []source.Input, pairs ...string) answer {
	t.Helper()
	form := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	var last answer
	e.Call(t.Context(), []byte(form.Encode()), files, func(head, body []byte) {
		last = answer{body: body}
		if err := json.Unmarshal(head, &last.head); err != nil {
			t.Fatalf("%s: %v", head, err)
		}
	})
	return last
}

func fixtures(t *testing.T) map[string][]byte {
	t.Helper()
	out := make(map[string][]byte)
	for _, pattern := range []string{"../../testdata/formats/*/*/input*", "../../testdata/sample/*.json*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if out[name], err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(out) < 20 {
		t.Fatalf("%d fixtures", len(out))
	}
	return out
}

// direct is the report of a file without any bridge, as the command prints it.
func direct(t *testing.T, name string, text []byte, q *query.Query) ([]byte, error) {
	t.Helper()
	inputs, err := source.Unpack([]source.Input{{Source: source.FromBytes(name, text), Named: true}}, formats.Options{Workers: 2})
	if err != nil {
		return nil, err
	}
	s, err := analyzer.Open(t.Context(), all.Set(), inputs, "", analyzer.Options{Workers: 2, Now: present})
	if err != nil {
		inputs.Close()
		return nil, err
	}
	defer s.Close()
	r, err := s.Run(t.Context(), q)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = render.JSON(&out, r)
	return out.Bytes(), err
}

func TestReports(t *testing.T) {
	slo, err := query.ParseSLO("ttft=500ms")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range fixtures(t) {
		e := newEngine()
		files := []source.Input{{Source: source.FromBytes(name, text)}}
		opened := ask(t, e, files, "op", "open", "session", "7")
		want, failure := direct(t, name, text, new(query.Query))
		if (opened.head["type"] == "error") != (failure != nil) {
			t.Errorf("%s: opened with %v, directly with %v", name, opened.head, failure)
			continue
		}
		if failure != nil {
			continue
		}
		ran := ask(t, e, nil, "op", "run", "session", "7")
		var compact bytes.Buffer
		if err := json.Compact(&compact, want); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(ran.body, compact.Bytes()) {
			t.Errorf("%s: the report differs (%v)", name, ran.head)
		}
		if got := ask(t, e, nil, "op", "export", "session", "7", "what", "report.json"); !bytes.Equal(got.body, want) {
			t.Errorf("%s: the exported report differs (%v)", name, got.head)
		}
		want, err := direct(t, name, text, &query.Query{SLO: slo, By: []string{"model"}})
		if err != nil {
			t.Fatal(err)
		}
		got := ask(t, e, nil, "op", "export", "session", "7", "what", "report.json", "slo", "ttft=500ms", "by", "model")
		if !bytes.Equal(got.body, want) {
			t.Errorf("%s: the report by model differs (%v)", name, got.head)
		}
		if closed := ask(t, e, nil, "op", "close", "session", "7"); closed.head["type"] != "result" {
			t.Errorf("%s: %v", name, closed.head)
		}
	}
}

func TestErrors(t *testing.T) {
	e := newEngine()
	sample, err := os.ReadFile("../../testdata/sample/tokenlog.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	one := func(text string) []source.Input {
		return []source.Input{{Source: source.FromBytes("a.txt", []byte(text))}}
	}
	if a := ask(t, e, one(string(sample)), "op", "open", "session", "1"); a.head["type"] != "result" {
		t.Fatal(a.head)
	}
	f := func(code, flag string, files []source.Input, pairs ...string) {
		t.Helper()
		a := ask(t, e, files, pairs...)
		got, _ := a.head["flag"].(string)
		if a.head["type"] != "error" || a.head["code"] != code || got != flag || a.head["message"] == "" {
			t.Errorf("%q: %v, want an error %s of %q", pairs, a.head, code, flag)
		}
	}
	f("format", "", one("hello"), "op", "open", "session", "2")
	f("format", "", one(""), "op", "open", "session", "2")
	f("failed", "", one("hello"), "op", "open", "session", "2", "format", "nonsense")
	f("failed", "", one(string(sample)), "op", "open", "session", "1")
	f("usage", "--year", one(string(sample)), "op", "open", "session", "2", "year", "12")
	f("usage", "--tz", one(string(sample)), "op", "open", "session", "2", "tz", "Nowhere")
	f("usage", "--filter", nil, "op", "run", "session", "1", "filter", "ttft >")
	f("usage", "--definition", nil, "op", "run", "session", "1", "definition", "nobody")
	f("usage", "--replicas", nil, "op", "run", "session", "1", "replicas", "0")
	f("usage", "--to", nil, "op", "run", "session", "1", "from", "+2s", "to", "+1s")
	f("usage", "what", nil, "op", "export", "session", "1", "what", "requests.doc")
	f("usage", "what", nil, "op", "export", "session", "1", "what", "nothing.csv")
	f("failed", "", nil, "op", "run", "session", "9")
	f("failed", "", nil, "op", "dance")
	f("failed", "", nil)
	if a := ask(t, e, one(string(sample)+"x"), "op", "open", "session", "3", "format", "vllmbench"); a.head["type"] == "result" {
		a = ask(t, e, nil, "op", "run", "session", "3")
		if a.head["code"] != "empty" || len(a.body) == 0 {
			t.Errorf("a file read as another format: %v, %d bytes", a.head, len(a.body))
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("enough"))
	e.Call(ctx, []byte("op=run&session=1"), nil, func(head, _ []byte) {
		if !strings.Contains(string(head), `"code":"cancelled"`) {
			t.Errorf("cancelled: %s", head)
		}
	})
}

func TestDecode(t *testing.T) {
	m, err := decode([]byte("a=1+2&b=%C3%A9%26&a=x&&c&%3D=%25"))
	if err != nil {
		t.Fatal(err)
	}
	want := url.Values{"a": {"1 2", "x"}, "b": {"é&"}, "c": {""}, "=": {"%"}}
	if len(m) != len(want) {
		t.Errorf("%q", m)
	}
	for k, v := range want {
		if strings.Join(m[k], "|") != strings.Join(v, "|") {
			t.Errorf("%s: %q, want %q", k, m[k], v)
		}
	}
	for _, bad := range []string{"a=%", "a=%4", "a=%zz", "%x=1"} {
		if _, err := decode([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestDescribe(t *testing.T) {
	a := ask(t, newEngine(), nil, "op", "describe")
	for _, key := range []string{"formats", "metrics", "definitions", "columns", "dimensions"} {
		if list, ok := a.head[key].([]any); !ok || len(list) < 5 {
			t.Errorf("%s: %v", key, a.head[key])
		}
	}
}
