package tokenlog

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// TestCommaFirst: the elements of an array may have the comma in front of them,
// and others glued to them.
func TestCommaFirst(t *testing.T) {
	for _, c := range []struct {
		format *formats.Format
		text   string
	}{
		{&Format, `{"request_id":"a","arrival":1764428000,"tokens":[1764428001]}` + "\n" + `,{"request_id":"b","arrival":1764428000,"tokens":[1764428001]},{"request_id":"c","arrival":1764428000,"tokens":[1764428001]}` + "\n ,\n"},
		{&Events, `{"ts":1764428000,"request_id":"a","event":"arrival"}` + "\n" + `,{"ts":1764428000,"request_id":"b","event":"arrival"},{"ts":1764428000,"request_id":"c","event":"arrival"}` + "\n ,\n"},
	} {
		r, err := c.format.Open(context.Background(), source.FromBytes("x", []byte(c.text)), formats.Whole, formats.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for r.Next() {
			rows += r.Batch().Rows
		}
		a := r.Account()
		if rows != 3 || a.Parsed != 3 || a.Diagnosed != 0 || a.Noise != 1 {
			t.Errorf("%s: %d rows, %+v, %v", c.format.Name, rows, a, r.Diags().All())
		}
		r.Close()
	}
}

// TestLongFirstLine: what the first line is may only be seen in the lines behind
// it, where it is longer than the head.
func TestLongFirstLine(t *testing.T) {
	long := fmt.Sprintf(`{"text":%q,"ts":1764428000,"request_id":"a","event":"arrival"}`, strings.Repeat("x", 1<<20))
	text := long + strings.Repeat("\n"+`{"ts":1764428001,"request_id":"a","event":"token"}`, 20_000) + "\n"
	head, err := formats.ReadHead(source.FromBytes("x", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	if score, why := Events.Sniff(head); score < formats.Likely {
		t.Errorf("%d, %s", score, why)
	}
	if score, why := Format.Sniff(head); score != formats.No {
		t.Errorf("%d, %s", score, why)
	}
}
