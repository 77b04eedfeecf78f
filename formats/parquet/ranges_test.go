package parquet

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"

	pq "github.com/parquet-go/parquet-go"
)

type request struct {
	ID     string    `parquet:"request_id"`
	At     time.Time `parquet:"arrival,timestamp(microsecond)"`
	TTFT   float64   `parquet:"ttft_s"`
	E2E    float64   `parquet:"latency_s"`
	Tokens *int64    `parquet:"output_tokens,optional"`
}

// TestRanges: a table of another program is read in ranges as it is read whole,
// with the same numbers of rows in what is told.
func TestRanges(t *testing.T) {
	const n = 5000
	rows := make([]request, n)
	for i := range rows {
		rows[i] = request{fmt.Sprint("r", i), time.Unix(1772359200+int64(i), 0), 0.25, 2, nil}
		if i%701 == 700 {
			rows[i].TTFT = 3 // above the latency
		} else if i%3 > 0 {
			tokens := int64(i % 100)
			rows[i].Tokens = &tokens
		}
	}
	var out bytes.Buffer
	w := pq.NewGenericWriter[request](&out, pq.MaxRowsPerRowGroup(333))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	src := source.FromBytes("requests.parquet", out.Bytes())
	read := func(ranges ...formats.Range) (got, notes []string) {
		var log diag.Log
		for _, rng := range ranges {
			r, err := Format.Open(context.Background(), src, rng, formats.Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			for r.Next() {
				for i := range r.Batch().Rows {
					id, _ := r.Batch().Texts(trace.RequestID).At(i)
					first, ok := r.Batch().Ints(trace.FirstToken).At(i)
					out, known := r.Batch().Ints(trace.OutputTokens).At(i)
					got = append(got, fmt.Sprint(string(id), " ", first, ok, out, known))
				}
			}
			if r.Err() != nil || r.Close() != nil {
				t.Fatal(r.Err())
			}
			log.Merge(r.Diags())
			for _, run := range r.Runs() {
				notes = append(notes, run.Notes...)
			}
		}
		for _, d := range log.All() {
			notes = append(notes, fmt.Sprint(d.Code, d.Count, d.Line))
		}
		return got, notes
	}
	whole, told := read(formats.Whole)
	if len(whole) != n || whole[1] != "r1 1772359201250000000 true 1 true" || !slices.Contains(told, "contradiction7 701") {
		t.Fatalf("%d rows, %q, %q", len(whole), whole[1], told)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		a := r.Int64N(int64(out.Len()))
		b := a + r.Int64N(int64(out.Len())-a)
		got, notes := read(formats.Range{From: 0, To: a}, formats.Range{From: a, To: b}, formats.Range{From: b, To: -1})
		if !slices.Equal(got, whole) || !slices.Equal(notes, told) {
			t.Fatalf("cut at %d and %d: %d rows, %q", a, b, len(got), notes)
		}
	}
}
