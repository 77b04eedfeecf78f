//go:build unix

package main

import (
	"fmt"
	"os"
	"time"

	"servescope/analyzer/unit"
)

const (
	goalRate  = 500e6     // bytes per core-second
	goalScan  = 300e6     // the same, of logs that are not token logs
	goalTrace = 200e6     // the same, of profiler traces
	goalTimes = 2         // times the core-seconds of reading alone, for all that is added to it
	goalPeak  = 256 << 20 // bytes
	goalSmall = 50 * time.Millisecond
)

// goal is a contender with what it must hold; 0 is no goal.
type goal struct {
	contender
	rate float64       // bytes per core-second
	peak int64         // bytes
	wall time.Duration //
	bare *goal         // reading the same file alone, to be compared with, or nil
}

// goals writes the files and lists what is measured on them.
func goals(binary string, a amount, cache string) (list []*goal, err error) {
	add := func(s shape, a amount, rest ...goal) error {
		path, n, err := s.file(cache, a)
		for i := range rest {
			g := &rest[i]
			g.name, g.size, g.args = s.name+": "+g.name, n, append(g.args, path)
			list = append(list, g)
		}
		return err
	}
	scan := func(rate float64) goal {
		return goal{contender: contender{name: "reading alone, 1 worker", args: []string{os.Args[0], "scan"}}, rate: rate}
	}
	analyze := func(name string, rate float64, flags ...string) goal {
		return goal{contender: contender{name: name, args: append([]string{binary, "analyze"}, flags...)}, rate: rate, peak: goalPeak}
	}
	for _, s := range []struct {
		shape
		read, all float64
	}{{records, 0, goalRate}, {events, 0, goalRate}, {result, goalRate, 0}} {
		err := add(s.shape, a, scan(s.read), analyze("servescope", s.all), analyze("servescope, 1 worker", s.all, "--workers", "1"))
		if err != nil {
			return nil, err
		}
		list[len(list)-1].bare = list[len(list)-3]
	}
	for _, s := range append(logs, lines...) {
		if err := add(s, a.part(4), scan(goalScan), analyze("servescope", 0)); err != nil {
			return nil, err
		}
	}
	if err := add(traces, a, analyze("servescope, 1 worker", goalTrace, "--workers", "1")); err != nil {
		return nil, err
	}
	path, n, err := small(cache)
	return append(list, &goal{contender: contender{name: "benchmark result of 100 requests: servescope", args: []string{binary, "analyze", path}, size: n}, wall: goalSmall}), err
}

// missed tells whether a goal is missed. Goals are held against the best turn:
// what else runs on the machine only ever adds.
func (g *goal) missed() bool {
	_, fastest := g.median(wall)
	_, least := g.median(cpu)
	middle, _ := g.median(peak)
	if g.bare != nil && g.added() >= goalTimes {
		return true
	}
	return float64(g.size)/least < g.rate || g.peak > 0 && middle >= float64(g.peak) || g.wall > 0 && fastest >= g.wall.Seconds()
}

// added returns how many times as much CPU as reading alone takes is spent on all
// else, in the best turns of each.
func (g *goal) added() float64 {
	_, least := g.median(cpu)
	_, bare := g.bare.median(cpu)
	return (least - bare) / bare
}

// printGoals prints medians and returns what misses its goal.
func printGoals(list []*goal) (missed []string) {
	fmt.Println("| what | size | wall | best | MB per core-second | best | peak memory | goal |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
	for _, g := range list {
		wall, fastest := g.median(wall)
		cpu, least := g.median(cpu)
		peak, _ := g.median(peak)
		verdict := ""
		if g.rate > 0 || g.wall > 0 || g.peak > 0 {
			verdict = "held"
			if g.missed() {
				verdict = "missed"
				missed = append(missed, g.name)
			}
		}
		if g.bare != nil {
			verdict += fmt.Sprintf(", analysis adds %.2f× reading", g.added())
		}
		fmt.Printf("| %s | %s | %.0f ms | %.0f ms | %.0f | %.0f | %.0f MiB | %s |\n",
			g.name, unit.Format(unit.Byte, float64(g.size)), wall*1e3, fastest*1e3, float64(g.size)/cpu/1e6, float64(g.size)/least/1e6, peak/(1<<20), verdict)
	}
	return missed
}
