package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The names of threads of a tab.
const (
	worker   = "DedicatedWorker"
	renderer = "chromium"
)

// threads returns the computing time in ms that each thread of a name has had in all
// browsers, by its number; empty where the system does not tell.
func threads(called string) map[string]float64 {
	out := make(map[string]float64)
	names, _ := filepath.Glob("/proc/[0-9]*/task/[0-9]*/stat")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), "("+called) {
			continue
		}
		f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		user, _ := strconv.ParseFloat(f[11], 64)
		system, _ := strconv.ParseFloat(f[12], 64)
		out[filepath.Base(filepath.Dir(name))] = 10 * (user + system)
	}
	return out
}

// since tells what threads have computed since before.
func since(called string, before map[string]float64) (longest, sum float64, all string) {
	for id, ms := range threads(called) {
		if d := ms - before[id]; d > 0 {
			longest, sum = max(longest, d), sum+d
			all += fmt.Sprintf(" %.0f", d)
		}
	}
	return longest, sum, all
}
