//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// maxrssUnit is the unit of rusage's Maxrss in bytes.
var maxrssUnit = map[bool]int64{true: 1, false: 1024}[runtime.GOOS == "darwin" || runtime.GOOS == "ios"]

// sample is what one run of a process took.
type sample struct {
	wall, cpu time.Duration
	peak      int64 // resident bytes
}

// contender is one thing to measure on one file.
type contender struct {
	name    string
	args    []string
	size    int64 // of the file
	samples []sample
	out     []byte // what the last run printed
}

// run runs the contender once and keeps what it took.
func (c *contender) run() error {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(c.args, " "), err)
	}
	s := sample{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.peak = int64(u.Maxrss) * maxrssUnit
	}
	c.samples, c.out = append(c.samples, s), out.Bytes()
	return nil
}

// turns runs all contenders the given number of times, in turn: what else runs on
// the machine meets all of them.
func turns(list []*contender, n int) error {
	for range n {
		for _, c := range list {
			if err := c.run(); err != nil {
				return err
			}
		}
	}
	return nil
}

func wall(s sample) float64 { return s.wall.Seconds() }
func cpu(s sample) float64  { return s.cpu.Seconds() }
func peak(s sample) float64 { return float64(s.peak) }

// median returns the middle of what f gives, and the least.
func (c *contender) median(f func(sample) float64) (middle, least float64) {
	var values []float64
	for _, s := range c.samples {
		values = append(values, f(s))
	}
	slices.Sort(values)
	return values[len(values)/2], values[0]
}

// times returns how many times longer c ran than other: the median over the
// turns.
func (c *contender) times(other *contender) float64 {
	var values []float64
	for i := range c.samples {
		values = append(values, wall(c.samples[i])/wall(other.samples[i]))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
