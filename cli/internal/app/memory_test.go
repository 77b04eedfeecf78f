package app

import (
	"os"
	"path/filepath"
	"testing"
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
