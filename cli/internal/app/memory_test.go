package app

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestMachineMemory takes the least of what the files say that say anything.
func TestMachineMemory(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	info := file("meminfo", "MemTotal:       24684084 kB\nMemFree:        13880284 kB\n")
	none, limit := file("max", "max\n"), file("limit", "2147483648\n")
	huge, broken := file("huge", "9223372036854771712\n"), file("broken", "MemTotal: many kB\n")
	for _, c := range []struct {
		want  int64
		files []string
	}{
		{24684084 * 1024, []string{none, info}},
		{24684084 * 1024, []string{huge, info, filepath.Join(dir, "absent")}},
		{2147483648, []string{limit, info}},
		{fallbackMemory, []string{none, broken}},
		{fallbackMemory, nil},
	} {
		if got := machineMemory(c.files); got != c.want {
			t.Errorf("%v: %d bytes, want %d", c.files, got, c.want)
		}
	}
}

// TestCollectAt: a budget bounds what the process has, and never raises what it may
// have without one.
func TestCollectAt(t *testing.T) {
	const most = 3 << 30
	for budget, want := range map[int64]int64{
		256 << 20: 288 << 20, 1: 32<<20 + 1, 0: 288 << 20, 16 << 30: most, 1<<63 - 1: most, most - 1: most,
	} {
		if got := collectAt(budget, most); got != want {
			t.Errorf("%d: %d bytes, want %d", budget, got, want)
		}
	}
}

// TestCollect: what is in use beyond the limit raises it, after the collection that
// finds it, but not beyond the most; the limit is not lowered again.
func TestCollect(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	const limit, used, most = 4 << 20, 64 << 20, 72 << 20
	reached := func(want int64) bool {
		for range 100 {
			runtime.GC()
			if debug.SetMemoryLimit(-1) >= want {
				return true
			}
			time.Sleep(time.Millisecond)
		}
		return false
	}
	collect(limit, 1<<40)
	data := make([]byte, used)
	if !reached(used + used/4) {
		t.Errorf("the limit is %d bytes, with %d in use", debug.SetMemoryLimit(-1), used)
	}
	collect(limit, most)
	if !reached(most) || debug.SetMemoryLimit(-1) != most {
		t.Errorf("the limit is %d bytes, of at most %d, with %d in use", debug.SetMemoryLimit(-1), most, used)
	}
	runtime.KeepAlive(data)
}
