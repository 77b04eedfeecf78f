package browsertest

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// slack is by how much budgets of a machine that does nothing else may be missed: by
// the number of programs that have wanted to compute in the last minute, by two at
// least. What was measured is logged, and under which load.
func slack() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseFloat(load, 64)
	return max(2, n)
}

// long writes a log of n requests of 200 tokens each, 50 a second, in three models,
// and returns its name.
func long(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "long.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	r := rand.New(rand.NewPCG(1, 200))
	micros := func(b []byte, us int64) []byte {
		b = append(strconv.AppendInt(b, us/1e6, 10), '.')
		return append(b, strconv.FormatInt(1e6+us%1e6, 10)[1:]...)
	}
	at := int64(1764428000e6)
	var b []byte
	for i := range n {
		at += int64(r.ExpFloat64() * 20e3)
		b = append(b[:0], `{"request_id":"req-`...)
		b = append(strconv.AppendInt(b, int64(i), 10), `","model":"m`...)
		b = append(strconv.AppendInt(b, int64(i%3), 10), `","arrival":`...)
		b = append(micros(b, at), `,"prompt_tokens":`...)
		b = append(strconv.AppendInt(b, 30+int64(r.ExpFloat64()*600), 10), `,"output_tokens":200,"first_token":`...)
		b = append(micros(b, at+50e3+int64(r.ExpFloat64()*150e3)), `,"chunk_gaps":[`...)
		for k := range 199 {
			if k > 0 {
				b = append(b, ',')
			}
			b = micros(b, 8e3+int64(r.ExpFloat64()*4e3))
		}
		w.Write(append(b, "]}\n"...))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}

// within holds a time in ms to its budget.
func within(t *testing.T, what string, ms, budget float64) {
	t.Helper()
	most := slack()
	t.Logf("%s: %.0f ms of %.0f, with a load of %.1f", what, ms, budget, most)
	if ms <= 0 || ms > most*budget {
		t.Errorf("%s takes %.0f ms, which is over %.1f times its budget of %.0f ms", what, ms, most, budget)
	}
}

// TestBudgets holds the page to its budgets with 100 000 requests of 200 tokens: a
// report of the first requests comes while the file is read, a slider repaints, a
// filter answers bit by bit, and panning and zooming draws frames.
func TestBudgets(t *testing.T) {
	if testing.Short() {
		t.Skip("a long file")
	}
	ctx := newTab(t)
	file := long(t, 100_000)
	show(t, ctx, "v=1")
	eval[bool](t, ctx, `(async () => {
		globalThis.began = performance.now()
		globalThis.parts = []
		const seen = () => {
			const badge = document.querySelector('header .badge')?.textContent ?? ''
			if (badge.startsWith('partial') && parts.at(-1)?.[1] !== badge) parts.push([performance.now() - began, badge])
			globalThis.watching = requestAnimationFrame(seen)
		}
		seen()
		return true
	})()`)
	drop(t, ctx, file)
	wait(t, ctx, settled+` && globalThis.servescope.session`)
	took := eval[float64](t, ctx, `(cancelAnimationFrame(watching), performance.now() - began)`)
	parts := eval[[][2]any](t, ctx, `parts`)
	if len(parts) < 2 {
		t.Fatalf("%d reports of parts in %.0f ms: %v", len(parts), took, parts)
	}
	t.Logf("100 000 requests × 200 tokens are read in %.0f ms; %d reports of parts, the first after %.0f ms: %s", took, len(parts), parts[0][0], parts[0][1])
	within(t, "the first report of a part", parts[0][0].(float64), 1000)
	testSlider(t, ctx)
	testFilter(t, ctx)
	testLanes(t, ctx)
	testFrames(t, ctx)
	testEstimate(t, ctx)
}

// painted is a function that resolves when what has been changed is on the screen.
const painted = `const painted = () => new Promise(done => requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => done(performance.now()); c.port2.postMessage(0) }));`

func testSlider(t *testing.T, ctx context.Context) {
	for _, view := range []string{"overview", "latency", "timeline"} {
		eval[bool](t, ctx, `(document.getElementById('tab-`+view+`').click(), true)`)
		wait(t, ctx, drawn)
		got := eval[map[string]any](t, ctx, `(async () => { `+painted+`
			const slider = document.querySelector('#limits input[type=range]'), times = [], texts = new Set()
			for (const v of [700, 500, 600, 400, 550, 650]) {
				await painted()
				const t0 = performance.now()
				slider.value = v
				slider.dispatchEvent(new Event('input', { bubbles: true }))
				times.push(await painted() - t0)
				texts.add(document.querySelector('.goodput b').textContent)
			}
			times.sort((a, b) => a - b)
			return { ms: times[3], goodputs: texts.size }
		})()`)
		if got["goodputs"].(float64) < 4 {
			t.Errorf("%s: the slider gives %v values of goodput", view, got["goodputs"])
		}
		within(t, "a slider in "+view, got["ms"].(float64), 100)
		// The report under the limit comes when the slider has rested for a while.
		eval[bool](t, ctx, `new Promise(done => setTimeout(done, 1100, true))`)
		wait(t, ctx, settled)
	}
}

// testFilter asks for a filter as the page does and notes when there were requests,
// a first report with figures of tokens, and all of it; and that a query that is
// given up ends soon.
func testFilter(t *testing.T, ctx context.Context) {
	eval[bool](t, ctx, `(document.getElementById('tab-overview').click(), true)`)
	for _, filter := range []string{"prompt_tokens > 400", "prompt_tokens > 3000", "ttft < 200ms"} {
		wait(t, ctx, settled)
		got := eval[map[string]float64](t, ctx, `(async () => {
			const { session } = globalThis.servescope, query = { filter: '`+filter+`' }, out = { parts: 0 }
			const t0 = performance.now()
			const view = await session.view(query, { kind: 'columns', columns: [] })
			out.requests = performance.now() - t0
			const report = await session.run(query, { onProgress: ({ report: r }) => {
				if (r?.runs[0].metrics.chunk_gap.n > 0) {
					out.first ??= performance.now() - t0
					out.parts++
				}
			} })
			out.all = performance.now() - t0
			out.first ??= out.all
			out.n = view.n
			out.total = report.runs[0].requests.total
			return out
		})()`)
		if got["n"] != got["total"] || got["n"] <= 0 || got["n"] >= 100_000 {
			t.Errorf("%s selects %.0f and %.0f requests", filter, got["n"], got["total"])
		}
		t.Logf("%s: %.0f requests, all after %.0f ms with %.0f reports of parts", filter, got["n"], got["all"], got["parts"])
		within(t, "requests of "+filter, got["requests"], 250)
		within(t, "first figures of tokens of "+filter, got["first"], 500)
	}
	ms := eval[float64](t, ctx, `(async () => {
		const { session } = globalThis.servescope, stop = new AbortController()
		const run = session.run({ filter: 'prompt_tokens > 401' }, { signal: stop.signal }).catch(e => e.code)
		await new Promise(done => setTimeout(done, 50))
		const t0 = performance.now()
		stop.abort()
		await run
		await session.view({}, { kind: 'columns', columns: [] })
		return performance.now() - t0
	})()`)
	within(t, "another answer after a query was given up", ms, 250)
}

// testFrames pans and zooms by the keys: the median frame holds to 32 ms, and so does,
// however much else runs, the computing time of a frame in the best of three passes: the
// scripts of the first are not compiled yet. A pass that holds is the last. The charts
// show the range that they are moved to before the engine has answered.
func testFrames(t *testing.T, ctx context.Context) {
	const budget, keys = 32, "wwddaaddaassddwwaassddaawwss"
	for _, view := range []string{"timeline", "load"} {
		eval[bool](t, ctx, `(document.getElementById('tab-`+view+`').click(), true)`)
		wait(t, ctx, drawn)
		var frames, computed []float64
		for range 3 {
			press(t, ctx, "0")
			wait(t, ctx, drawn)
			before := threads(renderer)
			frames = append(frames, eval[[]float64](t, ctx, `(async () => { `+painted+`
				const frames = []
				for (const key of '`+keys+`') {
					await painted()
					const t0 = performance.now()
					document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
					frames.push(await painted() - t0)
				}
				return frames
			})()`)...)
			longest, _, _ := since(renderer, before)
			computed = append(computed, longest/float64(len(keys)))
			wait(t, ctx, drawn)
			if slices.Sort(frames); longest/float64(len(keys)) <= budget && frames[len(frames)/2] <= budget {
				break
			}
		}
		t.Logf("%s: %.1f ms of computing time for each frame, the worst of %d takes %.0f ms", view, computed, len(frames), frames[len(frames)-1])
		within(t, "a frame of "+view, frames[len(frames)/2], budget)
		// the same page computes for 15 ms on one machine and for 42 ms on another
		if least := slices.Min(computed); least > 2*budget {
			t.Errorf("%s: a frame computes for %.1f ms, its budget on a slow machine is %d ms", view, least, 2*budget)
		}
		if n := eval[int](t, ctx, `(async () => { `+painted+`
			const seen = new Set()
			for (const key of 'wwdds') {
				document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
				await painted()
				seen.add(document.querySelector('#view canvas').toDataURL())
			}
			return seen.size
		})()`); n != 5 {
			t.Errorf("%s: 5 ranges give %d pictures", view, n)
		}
		wait(t, ctx, settled)
	}
}
