package linelog

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"servescope/formats/internal/block"
)

// scan scans a text as one block.
func scan(text string, m *memo) *worker {
	w := &worker{scanner: scanner{t: testTable(), memo: m}}
	w.scanner.block(&block.Block{Data: []byte(text)}, &w.fragment)
	return w
}

// sameScan compares what is found by layouts with what is found without.
func sameScan(t *testing.T, text string) *memo {
	t.Helper()
	m := new(memo)
	got, want := scan(text, m).fragment, scan(text, nil).fragment
	if len(got.entries) != len(want.entries) || got.lines != want.lines || !reflect.DeepEqual(got.counts, want.counts) || got.stamp != want.stamp || got.headed != want.headed {
		t.Fatalf("%q\n%d entries of %d lines, counts %v\nwant %d of %d, %v", text, len(got.entries), got.lines, got.counts, len(want.entries), want.lines, want.counts)
	}
	for i := range got.entries {
		a, b := got.entries[i], want.entries[i]
		if (a.Kind == nil) != (b.Kind == nil) || a.Kind != nil && a.Kind.Name != b.Kind.Name {
			t.Fatalf("%q\n record %d is of another kind", text, i)
		}
		a.Kind, b.Kind = nil, nil
		if g, w := fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b); g != w {
			t.Fatalf("%q\n got %s\nwant %s", text, g, w)
		}
	}
	return m
}

// anyOf picks one of a list.
func anyOf(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

// number prints a number as servers do, and as they do not.
func number(r *rand.Rand) string {
	switch r.IntN(24) {
	case 0:
		return anyOf(r, "nan", "-1", "1e5", "1.5e-3", "+7", "1.", ".5", "inf", "None", "0x10", "12.5.3", "", "99999999999999999999", "1.123456789012", "5%")
	case 1, 2, 3:
		return fmt.Sprintf("%.*f", r.IntN(4), r.Float64()*1000)
	}
	return fmt.Sprint(r.IntN(1 << r.IntN(30)))
}

// similar makes a log whose lines are like each other, mostly.
func similar(r *rand.Rand, lines int) string {
	var b strings.Builder
	for range lines {
		n := func() string { return number(r) }
		stamp := fmt.Sprintf("03-%02d 09:00:%02d", 1+r.IntN(2), r.IntN(3))
		if r.IntN(30) == 0 {
			stamp = anyOf(r, "9:00:00", "13-45 09:00:00", "2026-03-01T09:00:00.250Z", "03-01 09:00:00,5", "09:00:00", "03-01 09:00:00+0200", "")
		}
		level := anyOf(r, "INFO", "INFO", "INFO", "WARNING")
		switch r.IntN(10) {
		case 8:
			b.WriteString(anyOf(r, "", "", "(API pid=3) ", "(API pid="+n()+") ", "2026-03-01T09:00:00Z ", "   "))
		case 9:
			b.WriteString(anyOf(r, "", "(API pid=3) "))
			fmt.Fprintf(&b, `INFO:     %s - "GET %s HTTP/1.1" %s OK`, anyOf(r, "1.2.3.4:"+n(), "::1:"+n(), "", "a b"), anyOf(r, "/", "/v1/x?y="+n(), "/(x pid=7)", "/09:00:00", "/[0m", "/'a'", ""), n())
			b.WriteString(anyOf(r, "\n", "\n", "\r\n"))
			continue
		case 0:
			fmt.Fprintf(&b, "(Core_DP%s pid=%s) %s %s [a/core%d.py:%d] ", n(), n(), level, stamp, r.IntN(3), r.IntN(500))
		case 1:
			fmt.Fprintf(&b, "(API pid=%d) %s %s x.py:%s] ", r.IntN(3), level, stamp, n())
		case 2, 3:
			fmt.Fprintf(&b, "[2026-%s%s] ", stamp, anyOf(r, "", " TP0", " DP1 TP0", " DP12 EP"+n()))
		case 4:
			fmt.Fprintf(&b, "2026-%s INFO a.b: ", stamp)
		case 5:
			b.WriteString(anyOf(r, "", "50%|█| 1/2 [00:01<00:01]", "\x1b[32m", "(x) ") + level + " " + stamp + anyOf(r, " [x.py:1] ", " x.py:1] ", "[0m [x.py:1] ", " [x\ry.py:1] "))
		default:
			fmt.Fprintf(&b, "%s %s [x.py:%d] ", level, stamp, r.IntN(100))
		}
		switch r.IntN(9) {
		case 0, 1:
			fmt.Fprintf(&b, "Node %s: Rate: %s tokens/s, Running: %s reqs, usage: %s%%", n(), n(), n(), n())
		case 2:
			fmt.Fprintf(&b, "Rate: %s, Running: %s, took: %s ms, sent: %s, other: %s%s", n(), n(), n(), n(), n(), anyOf(r, "", "", " (idle)", ", new: "+n(), "\x1b[0m"))
		case 3:
			fmt.Fprintf(&b, "Rate: %s, %s reqs, Per-position: %s, %s, idle: %s", n(), n(), n(), n(), anyOf(r, "True", "False", "1"))
		case 4:
			fmt.Fprintf(&b, "End r-%s%s.", n(), anyOf(r, "", "", ".5", " x", "-a8", ":12:", "[0m", "12:30:45 INFO x"))
		case 5:
			fmt.Fprintf(&b, "Got r%s: prompt: 'Rate: 1, Running: 2', max=%s", n(), n())
		case 6:
			fmt.Fprintf(&b, "Rate: %s, Running: 1 INFO 03-01 09:00:0%d [x.py:1] Rate: 2, Running: %s", n(), r.IntN(10), n())
		case 7:
			b.WriteString(anyOf(r, "nothing 1:2:3", "[3] Rate: 1", "INFO: Rate: 1, Running: 2", "{\"message\": \"Rate: 1, Running: 2\"}", "", " Rate: 1, Running: 2", "Rate: 1, Running: 2, at 10:11:12"))
		default:
			fmt.Fprintf(&b, `INFO:     1.2.3.4:%s - "GET / HTTP/1.1" %s OK`, n(), n())
		}
		b.WriteString(anyOf(r, "\n", "\n", "\n", "\r\n"))
	}
	return b.String()
}

// TestLayouts: lines whose layout is known give what a scan gives, however numbers
// and words differ from those of the lines that it was learned from.
func TestLayouts(t *testing.T) {
	hits := 0
	for seed := range uint64(300) {
		hits += sameScan(t, similar(rand.New(rand.NewPCG(seed, 5)), 200)).hits
	}
	if hits < 300*10 {
		t.Errorf("%d of %d lines had a known layout", hits, 300*200)
	}
	sameScan(t, randomLog(rand.New(rand.NewPCG(1, 2)), 5000))
}

// TestLayoutHits: lines as servers print them are scanned in full a few times only.
func TestLayoutHits(t *testing.T) {
	var b strings.Builder
	r := rand.New(rand.NewPCG(1, 1))
	const lines = 1000
	for i := range lines {
		at := fmt.Sprintf("03-01 %02d:%02d:%02d", i/3600, i/60%60, i%60)
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "(Core_DP%d pid=%d) INFO %s [core.py:80] Node %03d: Rate: %.1f tokens/s, Running: %d reqs, usage: %.1f%%\n", i%16, 100+i%16, at, r.IntN(16), r.Float64()*1000, r.IntN(100), r.Float64()*100)
		case 1:
			fmt.Fprintf(&b, "INFO %s [core.py:%d] End chat-%08x.\n", at, r.IntN(100), r.Uint32())
		case 2:
			fmt.Fprintf(&b, "[2026-%s DP%d TP%d] Rate: %.2f, Running: %d, took: %.2f ms, idle: %s, other: %d\n", at, i%16, i%8, r.Float64(), r.IntN(100), r.Float64()*100, anyOf(r, "True", "False"), i)
		default:
			fmt.Fprintf(&b, "WARNING %s [core.py:80] Rate: %.1f tokens/s, Running: %d reqs\n", at, r.Float64()*1e5, r.IntN(1e6))
		}
	}
	if m := sameScan(t, b.String()); m.hits < lines-10 {
		t.Errorf("%d of %d lines had a known layout", m.hits, lines)
	}
}
