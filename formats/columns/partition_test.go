package columns

import (
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// TestPartitions: what the directories of a file say are columns, which go before texts of
// the file, but not before its times.
func TestPartitions(t *testing.T) {
	const dirs = "logs/model=meta%2FLlama%203/date=2026-11-30/host=__HIVE_DEFAULT_PARTITION__/"
	for _, c := range []struct{ name, file, mapping, model, replica, codes, note string }{
		{dirs + "a.csv", "id,latency_ms\n1,500\n", "", "meta/Llama 3", "", "", `model is column "model" (by its name, of the directories of the file)`},
		{dirs + "a.jsonl", `{"id":1,"latency_ms":500}`, "", "meta/Llama 3", "", "", "of the directories"},
		{dirs + "a.jsonl", `{"id":1,"latency_ms":500,"model":"meta/Llama 3","host":"h1"}`, "", "meta/Llama 3", "h1", "", ""},
		{dirs + "a.csv", "id,latency_ms,model\n1,500,other\n", "", "meta/Llama 3", "", "partition_mismatch 1", ""},
		{dirs + "a.csv", "id,latency_ms,model\n1,500,\n", "", "meta/Llama 3", "", "", ""},
		{dirs + "a.csv", "id,latency_ms,date\n1,500,2026-11-30T14:05:01Z\n", "", "meta/Llama 3", "", "", `arrival is column "date" (by its name; dates)`},
		{"logs/gpu=h100/a.csv", "id,latency_ms\n1,500\n", "model=gpu", "h100", "", "", ""},
		{"model=x.csv", "id,latency_ms\n1,500\n", "", "", "", "", ""},
		{"logs/id=7/ttft=3/model=/a.csv", "id,latency_ms\n1,500\n", "", "", "", "", ""},
		{"a.zip!model=x/a.csv", "1,500\n", "id=1 e2e=2:ms", "x", "", "", ""},
	} {
		r, err := Format.Open(t.Context(), source.FromBytes(c.name, []byte(c.file)), formats.Whole, formats.Options{Workers: 1, Map: strings.Fields(c.mapping)})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if !r.Next() || r.Batch().Rows != 1 {
			t.Errorf("%s: no request; %+v", c.name, r.Runs()[0])
			continue
		}
		text := func(col trace.Col) string {
			if code, ok := r.Batch().Dicts(col).At(0); ok {
				return r.Batch().Dicts(col).Values[code]
			}
			return ""
		}
		model, replica := text(trace.Model), text(trace.Replica)
		id, _ := r.Batch().Texts(trace.RequestID).At(0)
		r.Next()
		var codes []string
		for _, d := range r.Diags().All() {
			codes = append(codes, d.Code+" 1")
		}
		notes := strings.Join(r.Runs()[0].Notes, "\n")
		if model != c.model || replica != c.replica || string(id) != "1" || strings.Join(codes, ",") != c.codes || !strings.Contains(notes, c.note) {
			t.Errorf("%s %q: model %q, replica %q, id %q; %v\n%s", c.name, c.file, model, replica, id, codes, notes)
		}
	}
}
