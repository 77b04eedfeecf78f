package torchtrace

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// TestSweepEndsWithDevice: behind the last event of its device a sweep reads no
// more, so that devices with few events, however many, cost little each.
func TestSweepEndsWithDevice(t *testing.T) {
	var b strings.Builder
	event := func(device, at int) {
		fmt.Fprintf(&b, `,{"ph":"X","cat":"kernel","name":"k","pid":%d,"tid":7,"ts":%d,"dur":1}`, device, at)
	}
	event(0, 0)
	event(0, 5)
	for i := range 1000 {
		event(1, 3+10*i)
	}
	src := source.FromBytes("t.json", []byte(`{"schemaVersion":1,"traceEvents":[`+b.String()[1:]+"]}"))
	opened, err := Format.Open(context.Background(), src, formats.Whole, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	r := opened.(*reader)
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	left := [2]int{}
	for ; r.line < len(r.lines); r.line++ {
		r.begin()
		n := 0
		for r.sweep.next() {
			n++
		}
		if want := []int{2, 1000}[r.line]; n != want {
			t.Errorf("device %d: %d events, want %d", r.line, n, want)
		}
		for r.sweep.in.pop() != nil {
			left[r.line]++
		}
	}
	if want := [2]int{999, 0}; left != want {
		t.Errorf("%v events behind the sweeps, want %v", left, want)
	}
}
