package browsertest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
)

// TestTwoWorkers reads one file with one worker and with two, in turns. Where the
// machine does nothing else, which SERVESCOPE_GIGABYTE says with the number of bytes of
// the file, two must be half as fast again.
func TestTwoWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("a long file")
	}
	size, _ := strconv.ParseFloat(os.Getenv("SERVESCOPE_GIGABYTE"), 64)
	strict := size > 0
	if !strict {
		size = 40e6
	}
	turns := 1
	if strict {
		turns = 3
	}
	n := int(size / 1946)
	file := long(t, n)
	url, _ := host(t)
	ctx := newTab(t)
	ready(t, ctx, url)
	drop(t, ctx, file)
	patient(t, ctx, `globalThis.servescope?.session && `+settled)
	// The files are kept and the engine that has read them goes.
	eval[bool](t, ctx, `(globalThis.files = servescope.session.files, servescope.engine.end(), true)`)
	walls := make(map[int][]float64)
	report := ""
	for range turns {
		for _, workers := range []int{1, 2} {
			eval[bool](t, ctx, fmt.Sprintf(`(async () => {
				globalThis.other = await servescope.engine.constructor.start({ workers: %d })
				globalThis.s = await other.open(files)
				return true
			})()`, workers))
			before := threads(worker)
			eval[bool](t, ctx, `(globalThis.answer = null, (async () => {
				const t0 = performance.now(), report = JSON.stringify(await s.run({}))
				globalThis.answer = { ms: performance.now() - t0, report, memory: await other.memory() }
			})(), true)`)
			patient(t, ctx, `answer`)
			longest, sum, all := since(worker, before)
			ms := eval[float64](t, ctx, `answer.ms`)
			memory := eval[[]float64](t, ctx, `answer.memory`)
			walls[workers] = append(walls[workers], ms)
			t.Logf("%d workers: %.0f ms; computing time of each%s, the longest %.0f, the sum %.0f ms; memory %.0f", workers, ms, all, longest, sum, memory)
			if text := eval[string](t, ctx, `answer.report`); report == "" {
				report = text
			} else if text != report {
				t.Errorf("%d workers make another report", workers)
			}
			total := 0.0
			for _, m := range memory {
				total += m
			}
			if len(memory) != workers || total >= 1<<30 {
				t.Errorf("%d workers hold %.0f bytes", workers, memory)
			}
			eval[bool](t, ctx, `(other.end(), true)`)
		}
	}
	for _, list := range walls {
		slices.Sort(list)
	}
	one, two := walls[1][turns/2], walls[2][turns/2]
	ratio := one / two
	t.Logf("%d requests, %.0f MB: one worker %.0f ms, two %.0f ms, %.2f times", n, size/1e6, one, two, ratio)
	if strict && ratio < 1.5 {
		t.Errorf("two workers are %.2f times as fast as one", ratio)
	}
}
