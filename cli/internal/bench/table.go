//go:build unix

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"servescope/analyzer/unit"
)

// printRaces prints the races as a table and returns the bounds that are missed.
func printRaces(list []*race, runs int) (missed []string) {
	fmt.Printf("%s, %s. Medians of %d interleaved runs, page cache warm; answers equal within 1 µs and 10⁻⁶.\n\n", time.Now().Format("2006-01-02"), machine(), runs)
	fmt.Println("| log | tool | wall | CPU | peak memory | times wall | must | target | times CPU |")
	fmt.Println("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, r := range list {
		missed = append(missed, r.print()...)
	}
	for _, r := range list[:1] {
		for _, why := range r.dropped {
			fmt.Println("\n" + why)
		}
	}
	return missed
}

// print prints the rows of a race.
func (r *race) print() (missed []string) {
	row := func(log string, c *contender, scale float64, b bound, factor float64, verdict string) {
		name := c.name
		if scale > 1 {
			name += fmt.Sprintf(" (scaled from %s)", unit.Format(unit.Byte, float64(r.size)/scale))
		}
		took, _ := c.median(wall)
		work, _ := c.median(cpu)
		most, _ := c.median(peak)
		must, target := "", ""
		if b.must > 0 {
			must, target = fmt.Sprintf(verdict, b.must), fmt.Sprintf(verdict, b.target)
			if factor < b.must {
				missed = append(missed, r.shape.name+": "+name)
			}
		}
		is, more := "", ""
		if factor > 0 {
			own, _ := r.two.median(cpu)
			is, more = fmt.Sprintf(verdict, factor), fmt.Sprintf("%.3g×", work*scale/own)
		}
		fmt.Printf("| %s | %s | %.2f s | %.2f s | %.0f MiB | %s | %s | %s | %s |\n", log, name, took*scale, work*scale, most/(1<<20), is, must, target, more)
	}
	log := fmt.Sprintf("%s, %s", r.shape.name, unit.Format(unit.Byte, float64(r.size)))
	row(log, r.two, 1, bound{}, 0, "")
	row("", r.one, 1, r.bounds["one"], r.one.times(r.two), "%.3g×")
	for _, e := range r.peers {
		row("", &e.contender, e.scale, r.bounds[e.tool.name], e.times(r.two)*e.scale, "%.3g×")
	}
	limit := r.bounds["limit"]
	row("", r.limit, 1, bound{100 * limit.must, 100 * limit.target}, 100*r.limit.times(r.two), "%.3g %%")
	if peak, _ := r.two.median(peak); peak >= goalPeak+64*r.requests {
		missed = append(missed, r.shape.name+": peak memory")
	}
	return missed
}

// machine describes the machine.
func machine() string {
	model := runtime.GOARCH
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(b), "model name"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			model = strings.TrimLeft(line, "\t :")
		}
	}
	return fmt.Sprintf("%s, %d cores, %d GiB, %s, %s", strings.TrimSpace(model), runtime.NumCPU(), memory()>>30, runtime.GOOS, runtime.Version())
}

// memory returns the bytes of memory of the machine, or 8 GiB when unknown.
func memory() int64 {
	b, _ := os.ReadFile("/proc/meminfo")
	var kib int64
	if _, err := fmt.Sscanf(string(b), "MemTotal: %d kB", &kib); err != nil {
		return 8 << 30
	}
	return kib << 10
}
