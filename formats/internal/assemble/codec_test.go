package assemble

import (
	"bytes"
	"slices"
	"testing"
)

// TestCodecNoMemory reads a request whose lists there is no memory for: it loses
// these, and the one behind it in the file loses nothing.
func TestCodecNoMemory(t *testing.T) {
	var full nodes
	c := codec{}
	for _, id := range []string{"long", "short"} {
		q := &open{detail: &detail{offset: int64(len(id))}}
		q.setName([]byte(id))
		n := 3
		if id == "long" {
			n = 5 * nodeLen
		}
		for i := range n {
			full.push(&q.gaps, int64(i)*1e6)
			full.push(&q.counts, 2)
		}
		q.chunks = uint32(n)
		if !c.request(&full, q) {
			t.Fatal("a request cannot be written")
		}
	}
	c.reading = true
	tight := nodes{limit: 2} // of the four that each list of the first has
	read := func() (*open, bool) {
		q := &open{detail: new(detail)}
		fits := c.request(&tight, q)
		return q, fits
	}
	q, fits := read()
	if fits || q.flags&noMemory == 0 || !bytes.Equal(q.name(new([idLen + restLen]byte)), []byte("long")) || q.chunks != 5*nodeLen || tight.live != 0 {
		t.Errorf("read %q of %d chunks, flags %b, %d nodes in use, fits %v", q.name(new([idLen + restLen]byte)), q.chunks, q.flags, tight.live, fits)
	}
	q, fits = read()
	gaps, counts := tight.appendTo(nil, &q.gaps), tight.appendTo(nil, &q.counts)
	if !fits || c.bad || !bytes.Equal(q.name(new([idLen + restLen]byte)), []byte("short")) || q.offset != int64(len("short")) || !slices.Equal(gaps, []int64{0, 1e6, 2e6}) || !slices.Equal(counts, []int64{2, 2, 2}) {
		t.Errorf("behind it: %q at %d, gaps %v, counts %v, fits %v", q.name(new([idLen + restLen]byte)), q.offset, gaps, counts, fits)
	}
	if len(c.b) != 0 {
		t.Errorf("%d bytes are left", len(c.b))
	}
}
