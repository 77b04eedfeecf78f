package columns

import (
	"fmt"
	"strings"
	"testing"

	"servescope/formats"
)

// TestNested reads members of objects that are within texts, named by the caller or not,
// and tells records whose text is something else.
func TestNested(t *testing.T) {
	const inner = `{\"request_id\":\"a\",\"latency_ms\":500,\"ttft_ms\":100}`
	for _, c := range []struct{ file, mapping, want, codes string }{
		{`{"message":"` + inner + `"}`, "", "a ok first=100 end=500", ""},
		{`{"message":" ` + inner + `\n","level":"INFO"}`, "", "a ok first=100 end=500", ""},
		{`{"_source":{"message":"` + inner + `"}}`, "", "a ok first=100 end=500", ""},
		{`{"app":{"blob":"` + inner + `"},"latency_ms":7}`, "", " ok end=7", ""},
		{`{"app":{"blob":"` + inner + `"},"latency_ms":7}`, "e2e=app.blob.latency_ms:ms id=app.blob.request_id", "a ok first=100 end=500", ""},
		{`{"message":"` + inner + `"}` + "\n" + `{"message":"{\"request_id\":\"b\",\"laten"}` + "\n" + `{"message":"bye"}` + "\n" + `{"level":"INFO"}`, "",
			"a ok first=100 end=500", "bad_record 1,other_line 2"},
		{`{"message":"` + inner + ` and so on"}` + "\n" + `{"message":"` + inner + `"}`, "", "a ok first=100 end=500", "bad_record 1"},
		{`{"message":"{\"id\":\"q\\\"\\u00e9\",\"latency_ms\":500}"}`, "", `q"é ok end=500`, ""},
		{"ts,message\n1772359200,\"{\"\"id\"\":\"\"q\\\"\"\\u00e9\"\",\"\"latency_ms\"\":500}\"\n", "", `q"é ok end=500`, ""},
		{"ts\tlog\n1772359200\t{\"id\":\"x\",\"latency_ms\":500}\n1772359201\thello\n", "", `x ok end=500`, "other_line 1"},
		{"id,labels,latency_ms\n1,\"{\"\"pod\"\":\"\"p\"\"}\",500\n2,,600\n", "", "1 ok end=500/2 ok end=600", ""},
		{`{"id":"x","latency_ms":500,"attributes":[{"key":"gen_ai.usage.input_tokens","value":{"intValue":"7"}},{"key":"gen_ai.usage.output_tokens","value":{"stringValue":null,"intValue":9}}]}`, "",
			"x ok end=500 in=7 out=9", ""},
		{`{"id":"x","params":[{"key":"took","value":500},{"key":"n","value":4}]}`, "e2e=params.took:ms output_tokens=params.n", "x ok end=500 out=4", ""},
	} {
		rows, codes, run := read(t, textSource(c.file), formats.Options{Map: strings.Fields(c.mapping)})
		if got := strings.Join(rows, "/"); got != c.want || strings.Join(codes, ",") != c.codes {
			t.Errorf("%s with %s: %s, want %s; %v; %s", c.file, c.mapping, got, c.want, codes, run.NoRequests)
		}
	}
}

// TestNestedSaid: what a user said is not looked into, be it JSON or not: its names are
// told nowhere.
func TestNestedSaid(t *testing.T) {
	for _, name := range []string{"prompt", "content", "response", "answer", "text", "input", "output", "messages", "completion"} {
		for _, said := range []string{`{\"secret_latency_ms\":3}`, `[{\"key\":\"secret\",\"value\":1}]`} {
			file := fmt.Sprintf(`{"id":"x","took":7,%q:"%s"}`, name, said)
			_, _, run := read(t, textSource(file), formats.Options{})
			if run.NoRequests == "" || strings.Contains(run.NoRequests, "secret") {
				t.Errorf("%s: %s", file, run.NoRequests)
			}
		}
	}
}
