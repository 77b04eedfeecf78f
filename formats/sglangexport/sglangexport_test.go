package sglangexport

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

type row struct {
	id              string
	output, latency int64
}

func read(t *testing.T, text string) (rows []row, a formats.Account) {
	t.Helper()
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		b := r.Batch()
		for i := range b.Rows {
			id, _ := b.Texts(trace.RequestID).At(i)
			output, _ := b.Ints(trace.OutputTokens).At(i)
			from, _ := b.Ints(trace.Received).At(i)
			to, _ := b.Ints(trace.Finished).At(i)
			rows = append(rows, row{string(id), output, to - from})
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return rows, r.Account()
}

// record returns the record of request i: all of its values follow from i.
func record(i int) (string, row) {
	id := fmt.Sprintf("r%d", i)
	return fmt.Sprintf(`{"request_parameters": "{\"rid\": \"%s\", \"stream\": true}", "id": "%[1]s", "finish_reason": {"type": "length", "length": %d}, "prompt_tokens": 5, "completion_tokens": %[2]d, "request_received_ts": %d.25, "request_finished_ts": %d.75, "e2e_latency": %[2]d.5}`,
		id, i, 1780315200, 1780315200+i), row{id, int64(i), int64(i)*1e9 + 5e8}
}

// piece is what json.dump writes at a time.
var piece = regexp.MustCompile(`"(\\.|[^"\\])*"|[-\d.]+|[{}:,] ?|[a-z]+`)

// TestP51Interleaved lets several threads write pieces of their records into one
// file. A record that nobody disturbed must be there, and none twice. Pieces that
// fit by chance make a record that nothing tells from a true one; most do not.
func TestP51Interleaved(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	mixed, all := 0, 0
	for range 300 {
		var text strings.Builder
		want := make(map[string]row)
		intact := 0
		for n := range 4 {
			base := 1 + 10*n
			alone, w := record(base)
			want[w.id] = w
			text.WriteString(alone + "\n")
			intact++
			var writers [][]string
			for k := range 2 + r.IntN(2) {
				s, w := record(base + 1 + k)
				want[w.id] = w
				writers = append(writers, append(piece.FindAllString(s, -1), "\n"))
			}
			for len(writers) > 0 {
				i := r.IntN(len(writers))
				for range 1 + r.IntN(30) {
					if len(writers[i]) > 0 {
						text.WriteString(writers[i][0])
						writers[i] = writers[i][1:]
					}
				}
				if len(writers[i]) == 0 {
					writers = append(writers[:i], writers[i+1:]...)
				}
			}
			text.WriteString("\n")
		}
		rows, a := read(t, text.String())
		seen := make(map[string]bool)
		for _, got := range rows {
			if seen[got.id] {
				t.Fatalf("%s is there twice\n%s", got.id, text.String())
			}
			if all++; got != want[got.id] {
				mixed++
			}
			seen[got.id] = true
		}
		for n := range 4 {
			if !seen[fmt.Sprintf("r%d", 1+10*n)] {
				t.Fatalf("record %d is lost, of %d lines\n%s", 1+10*n, a.Total, text.String())
			}
		}
		if len(rows) < intact || a.Parsed != int64(len(rows)) {
			t.Fatalf("%d rows, account %+v", len(rows), a)
		}
	}
	if mixed*20 > all {
		t.Errorf("%d of %d rows are mixtures", mixed, all)
	}
}

func TestRecordInPlaceOfAValue(t *testing.T) {
	a, want := record(1)
	b, _ := record(2)
	rows, account := read(t, strings.Replace(b, `"prompt_tokens": 5`, `"prompt_tokens": `+a, 1)+"\n"+a+"\n")
	if len(rows) != 1 || rows[0] != want || account.Diagnosed == 0 {
		t.Errorf("%+v %+v", rows, account)
	}
}
