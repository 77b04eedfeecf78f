package app

import (
	"bytes"
	"cmp"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"servescope/analyzer"
	"servescope/analyzer/unit"
)

// fallbackMemory is what a machine is taken to have that does not tell, in bytes.
const fallbackMemory = 4 << 30

// memoryFiles hold what a process may use: the limits of the control groups of
// both versions, and what the machine has. A group without a limit says "max",
// or a number that no machine reaches.
var memoryFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/proc/meminfo"}

// machineMemory returns the memory that the process may use, in bytes.
func machineMemory(files []string) int64 {
	least := int64(0)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if n := memoryIn(text); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if least == 0 {
		return fallbackMemory
	}
	return least
}

// memoryIn returns the number of bytes that the text of one of the memoryFiles
// states, or 0.
func memoryIn(text []byte) int64 {
	scale := int64(1)
	if rest, ok := bytes.CutPrefix(text, []byte("MemTotal:")); ok {
		rest, _, _ = bytes.Cut(rest, []byte("kB"))
		text, scale = rest, 1024
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil || n <= 0 || n > 1<<62/scale {
		return 0
	}
	return n * scale
}

// memoryFlag is of what is held of the inputs, which is not all that the process has:
// the README's limits say what else there is.
func memoryFlag() cli.Flag {
	return &cli.StringFlag{Name: "memory", Usage: "hold `SIZE` of data: 1GiB, 512MB (default: a quarter)"}
}

// memory returns the budget that c names: a quarter of the machine's memory
// without one. The collector is told, unless the environment tells it, so that
// garbage is no reason to go far beyond the budget or to run out of memory.
func (p *Process) memory(c *cli.Context) (n int64, err error) {
	all := machineMemory(memoryFiles)
	n, most := all/4, all/4*3
	limit := min(usual, most)
	if c.IsSet("memory") {
		if n, err = unit.ParseSize(c.String("memory")); err != nil {
			return 0, usagef("--memory: %s", err)
		}
		limit = collectAt(n, most)
	}
	if p.Getenv("GOMEMLIMIT") == "" {
		collect(limit, most)
	}
	if !c.IsSet("memory") && p.Getenv("GOGC") == "" && spare == nil {
		spare = make([]byte, spareSize)
	}
	return n, nil
}

// spare is never written to, so it takes no memory, but the collector takes it for
// something in use: it does not begin before there is about as much garbage. The
// answers to most logs take a few megabytes, and are collected over and over
// without it; what it costs does not grow with them.
var spare []byte

const spareSize = 32 << 20

// usual is the memory in bytes that a process with garbage is held to without a budget
// of its own, spare included: few logs need more.
const usual = 256 << 20

// besides is the memory in bytes that a process needs whatever it reads.
const besides = 32 << 20

// collectAt returns how many bytes a process with that budget may have before it
// collects garbage more often than it would, at most most. What is in use is within
// the budget; without a limit there is as much garbage as that.
func collectAt(budget, most int64) int64 {
	return min(cmp.Or(budget, analyzer.DefaultMemory), most-besides) + besides
}

// collect makes the collector hold the process to limit, and where more than that is
// in use to a quarter more than what is: it would do nothing but collect otherwise.
// Beyond most it has to.
func collect(limit, most int64) {
	debug.SetMemoryLimit(limit)
	collecting.limit.Store(limit)
	collecting.most.Store(most)
	collecting.once.Do(func() { runtime.SetFinalizer(new([16]byte), collected) })
}

// collecting is what the collector is told; it is one for the process.
var collecting struct {
	limit, most atomic.Int64
	once        sync.Once
}

// collected is called after each collection, of which mark is garbage: of the next
// one again.
func collected(mark *[16]byte) {
	runtime.SetFinalizer(mark, collected)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	limit := collecting.limit.Load()
	next := min(roomFor(int64(live[0].Value.Uint64())), collecting.most.Load())
	if next > limit && collecting.limit.CompareAndSwap(limit, next) {
		debug.SetMemoryLimit(next)
	}
}

// roomFor returns how many bytes a process needs at least of which some are in use.
func roomFor(used int64) int64 { return used + used/4 + 8<<20 }
