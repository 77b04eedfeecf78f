package promtext

import (
	"context"
	"testing"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// aged is a source with a modification time.
type aged struct {
	formats.Source
	t time.Time
}

func (a aged) ModTime() time.Time { return a.t }

// TestBegins: the text comes before the name of a file, that before its time.
func TestBegins(t *testing.T) {
	file := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	const sample = "vllm:num_requests_running 1"
	for _, c := range []struct {
		name, text string
		want       int64
	}{
		{"a.prom", sample + "\n", file.UnixNano()},
		{"logs/metrics_1738765353.prom", sample + "\n", 1738765353e9},
		{"x.tar!metrics-1738765353100.txt", sample + "\n", 1738765353100e6},
		{"run_20260301_12345678901.prom", sample + "\n", file.UnixNano()},
		{"metrics_1738765353.prom", sample + " 1738765368100\n", 1738765368100e6},
		{"a.prom", "# Timestamp: 2026-02-03T10:00:00Z\n# Pod: p\n" + sample + "\n", 1770112800e9},
		{"a.json", `{"data":{"result":[{"metric":{},"values": [ [1738765353.5,"1"]]}]}}`, 1738765353500e6},
		{"a.json", `{"data":{"result":[{"metric":{},"value":[1738765353,"1"]}]}}`, 1738765353e9},
		{"a.json", `{"data":{"result":[]}}`, file.UnixNano()},
	} {
		if got, ok := begins(aged{source.FromBytes(c.name, []byte(c.text)), file}); !ok || got != c.want {
			t.Errorf("%s %q: %d, want %d", c.name, c.text, got, c.want)
		}
	}
	if _, ok := begins(source.FromBytes("a.prom", []byte(sample+"\n"))); ok {
		t.Error("nothing says when it begins")
	}
}

// TestTimeOfFile: the time of a file is that of its only scrape.
func TestTimeOfFile(t *testing.T) {
	file := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]bool{
		"vllm:num_requests_running{engine=\"0\"} 1\n":                                                           true,
		"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1\n":                                 true,
		"vllm:num_requests_running{engine=\"0\"} 1\nvllm:num_requests_running{engine=\"1\"} 1\n":                true,
		"vllm:num_requests_running{engine=\"0\"} 1\nvllm:num_requests_running{engine=\"0\"} 2\n":                false,
		"# Pod: a\nvllm:num_requests_running{engine=\"0\"} 1\n# Pod: b\nvllm:num_requests_running{e=\"0\"} 1\n": false,
	} {
		r, err := Format.Open(context.Background(), aged{source.FromBytes("a.prom", []byte(text)), file}, formats.Whole, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			b := r.Batch()
			col := trace.StepT
			if b.Table == trace.Histograms {
				col = trace.HistogramT
			}
			for i := range b.Rows {
				if v, ok := b.Ints(col).At(i); ok != want || ok && v != file.UnixNano() {
					t.Errorf("%q: row %d of %s has time %d, %v", text, i, b.Table.Name, v, ok)
				}
			}
		}
		r.Close()
	}
}
