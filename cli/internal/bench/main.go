//go:build unix

// Command bench measures the whole program from file to report: it writes token
// logs of a given size into a cache, builds servescope, runs it and its peers in
// turn, and prints Markdown. The limit of a tool that streams a file, reading it
// and counting its newlines, is measured in the same turns.
//
//	go run ./cli/internal/bench -size 700MB
//
// It fails when a goal is missed: 500 MB per core-second and 256 MiB at the peak
// for both shapes of a token log, where analysis adds less than twice what reading
// alone takes; 300 MB per core-second for reading the text logs of servers; 200 MB per
// core-second and 256 MiB for a profiler trace; 50 ms for a benchmark result of
// the usual size.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"servescope/analyzer/unit"
)

const (
	goalRate  = 500e6     // bytes per core-second
	goalScan  = 300e6     // the same, of text logs
	goalTrace = 200e6     // the same, of profiler traces
	goalTimes = 2         // times the core-seconds of reading alone, for all that is added to it
	goalPeak  = 256 << 20 // bytes
	goalSmall = 50 * time.Millisecond
)

// sample is what one run of a process took.
type sample struct {
	wall, cpu time.Duration
	peak      int64 // resident bytes
}

// contender is one thing to measure on one file.
type contender struct {
	name    string
	args    []string
	size    int64
	samples []sample
	rate    float64       // goal in bytes per core-second, or 0
	peak    int64         // goal in bytes, or 0
	wall    time.Duration // goal, or 0
	bare    *contender    // reading the same file alone, to be compared with, or nil
}

func main() {
	if len(os.Args) == 3 && peers[os.Args[1]] != nil {
		exit(peers[os.Args[1]](os.Args[2]))
		return
	}
	size := flag.String("size", "700MB", "`bytes` of each token log")
	runs := flag.Int("runs", 5, "`number` of turns")
	cache := flag.String("cache", filepath.Join(os.TempDir(), "servescope-bench"), "`folder` for the logs")
	flag.Parse()
	bytes, err := unit.ParseSize(*size)
	if err == nil {
		err = bench(bytes, *runs, *cache)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(size int64, runs int, cache string) error {
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return err
	}
	binary := filepath.Join(cache, "servescope")
	if out, err := exec.Command("go", "build", "-o", binary, "./cli/servescope").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	list, err := contenders(binary, size, cache)
	if err != nil {
		return err
	}
	for range runs {
		for _, c := range list {
			s, err := measure(c.args)
			if err != nil {
				return fmt.Errorf("%s: %w", strings.Join(c.args, " "), err)
			}
			c.samples = append(c.samples, s)
		}
	}
	return report(list)
}

// contenders writes the files and lists what is measured on them.
func contenders(binary string, size int64, cache string) ([]*contender, error) {
	var list []*contender
	for _, shape := range shapes {
		path, n, err := shape.file(cache, size)
		if err != nil {
			return nil, err
		}
		bare := &contender{name: shape.name + ": reading alone, 1 worker", args: []string{os.Args[0], "scan", path}, size: n}
		list = append(list, bare,
			&contender{name: shape.name + ": servescope", args: []string{binary, "analyze", path}, size: n, rate: goalRate, peak: goalPeak},
			&contender{name: shape.name + ": servescope, 1 worker", args: []string{binary, "analyze", "--workers", "1", path}, size: n, rate: goalRate, peak: goalPeak, bare: bare},
			&contender{name: shape.name + ": newline count", args: []string{os.Args[0], "newlines", path}, size: n})
		if path, n, err = shape.file(cache, min(size, 64e6)); err != nil {
			return nil, err
		}
		list = append(list, &contender{name: shape.name + ": encoding/json, no analysis", args: []string{os.Args[0], "json", path}, size: n})
	}
	for _, log := range logs {
		path, n, err := log.file(cache, size/4)
		if err != nil {
			return nil, err
		}
		list = append(list,
			&contender{name: log.name + ": reading alone, 1 worker", args: []string{os.Args[0], "scan", path}, size: n, rate: goalScan, peak: goalPeak},
			&contender{name: log.name + ": servescope", args: []string{binary, "analyze", path}, size: n, peak: goalPeak})
	}
	path, n, err := traces.file(cache, size)
	if err != nil {
		return nil, err
	}
	list = append(list, &contender{name: traces.name + ": servescope, 1 worker", args: []string{binary, "analyze", "--workers", "1", path}, size: n, rate: goalTrace, peak: goalPeak})
	if path, n, err = small(cache); err != nil {
		return nil, err
	}
	return append(list, &contender{name: "benchmark result: servescope", args: []string{binary, "analyze", path}, size: n, wall: goalSmall}), nil
}

// measure runs a process and returns what it took.
func measure(args []string) (sample, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, err
	}
	s := sample{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.peak = int64(u.Maxrss) * maxrssUnit
	}
	return s, nil
}

// report prints medians, and returns an error for missed goals. Goals are held
// against the best turn: what else runs on the machine only ever adds.
func report(list []*contender) error {
	fmt.Println("| what | size | wall | best | MB per core-second | best | peak memory | goal |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
	var missed []string
	for _, c := range list {
		wall, fastest := median(c.samples, func(s sample) float64 { return s.wall.Seconds() })
		cpu, _ := median(c.samples, func(s sample) float64 { return s.cpu.Seconds() })
		least := leastCPU(c)
		peak, _ := median(c.samples, func(s sample) float64 { return float64(s.peak) })
		rate, best := float64(c.size)/cpu, float64(c.size)/least
		verdict := ""
		if c.rate > 0 || c.wall > 0 {
			verdict = "held"
			if best < c.rate || c.peak > 0 && peak >= float64(c.peak) || c.wall > 0 && fastest >= c.wall.Seconds() || c.bare != nil && least-leastCPU(c.bare) >= float64(goalTimes*leastCPU(c.bare)) {
				verdict = "missed"
				missed = append(missed, c.name)
			}
		}
		fmt.Printf("| %s | %s | %.0f ms | %.0f ms | %.0f | %.0f | %.0f MiB | %s |\n",
			c.name, unit.Format(unit.Byte, float64(c.size)), wall*1e3, fastest*1e3, rate/1e6, best/1e6, peak/(1<<20), verdict)
	}
	if len(missed) > 0 {
		return fmt.Errorf("goals missed: %s", strings.Join(missed, "; "))
	}
	return nil
}

// leastCPU returns the core-seconds of a contender's best turn.
func leastCPU(c *contender) float64 {
	_, least := median(c.samples, func(s sample) float64 { return s.cpu.Seconds() })
	return least
}

// median returns the middle and the least of what f gives.
func median(samples []sample, f func(sample) float64) (middle, least float64) {
	var values []float64
	for _, s := range samples {
		values = append(values, f(s))
	}
	slices.Sort(values)
	return values[len(values)/2], values[0]
}
