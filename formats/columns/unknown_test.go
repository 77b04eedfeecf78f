package columns

import (
	"strings"
	"testing"

	"servescope/formats"
)

// TestUnknown: a table none of whose columns is known is refused with what to type.
func TestUnknown(t *testing.T) {
	for _, c := range []struct{ text, example string }{
		{"a,b,when_done,rt\n1,x,5,0.2\n2,y,6,0.3\n", "--map e2e=rt:UNIT"},
		{"{\"a\":1,\"deep\":{\"rt\":0.2,\"q\":3}}\n{\"a\":2,\"deep\":{\"rt\":0.3,\"q\":3}}\n", "--map e2e=deep.rt:UNIT"},
		{"who,it took long\nx,0.5\ny,0.75\n", "--map 'e2e=it took long:UNIT'"},
		{"who,don't\nx,0.5\ny,0.75\n", `--map 'e2e=don'\''t:UNIT'`},
		{"model,output_tokens,n\nm,5,7\nm,6,8\n", "--map e2e=n:UNIT"},
		{"when,who\n1772359200,x\n1772359201,y\n", ""}, // times since 1970 last not so long
		{"who,where\nx,here\ny,there\n", ""},
	} {
		src := textSource(c.text)
		head, err := formats.ReadHead(src)
		if err != nil {
			t.Fatal(err)
		}
		score, why := Format.Sniff(head)
		_, _, run := read(t, src, formats.Options{})
		for _, said := range []string{why, run.NoRequests} {
			example := strings.Contains(said, "--map e2e=") || strings.Contains(said, "--map 'e2e=")
			if score != formats.No || example != (c.example != "") || !strings.Contains(said, c.example) {
				t.Errorf("%q: %d, %s; want %s", c.text, score, said, c.example)
			}
		}
	}
}
