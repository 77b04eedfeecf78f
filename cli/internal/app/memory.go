package app

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/urfave/cli/v2"

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

func memoryFlag() cli.Flag {
	return &cli.StringFlag{Name: "memory", Usage: "`SIZE` to hold: 1GiB, 512MB (default: a quarter of all)"}
}

// memory returns the budget that c names: a quarter of the machine's memory
// without one. The collector is told of what the machine has, unless the
// environment does, so that garbage is no reason to run out of it.
func (p *Process) memory(c *cli.Context) (int64, error) {
	all := machineMemory(memoryFiles)
	if p.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(all / 4 * 3)
	}
	if !c.IsSet("memory") {
		return all / 4, nil
	}
	n, err := unit.ParseSize(c.String("memory"))
	if err != nil {
		return 0, usagef("--memory: %s", err)
	}
	return n, nil
}
