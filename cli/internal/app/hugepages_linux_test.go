package app

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"servescope/formats"
)

// sized is a source of which only the length is known.
type sized struct {
	formats.Source
	n int64
}

func (s sized) Size() int64 { return s.n }

// TestAdviseHeap asks the kernel which of the process's memory is to be in huge
// pages: none for small inputs, as much as was advised for large ones.
func TestAdviseHeap(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("the kernel has no huge pages: ", err)
	}
	for _, c := range []struct{ input, want int64 }{{-1, 0}, {enough - 1, 0}, {enough, advised}} {
		before := huge(t)
		adviseHeap(&formats.Inputs{List: []formats.Input{{Source: sized{n: c.input}}}})
		if got := huge(t) - before; got < c.want || c.want == 0 && got != 0 {
			t.Errorf("%d bytes of input: %d bytes are advised, want %d", c.input, got, c.want)
		}
	}
}

// huge returns how many bytes of the process's memory are to be in huge pages.
func huge(t *testing.T) (sum int64) {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	var kilobytes int64
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch fields[0] {
		case "Size:":
			if kilobytes, err = strconv.ParseInt(fields[1], 10, 64); err != nil {
				t.Fatal(err)
			}
		case "VmFlags:":
			if strings.Contains(line, " hg") {
				sum += 1024 * kilobytes
			}
		}
	}
	return sum
}
