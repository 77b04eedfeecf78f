package browsertest

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestNarrowed: what a finding shows lies within the filter that is set.
func TestNarrowed(t *testing.T) {
	server, _ := busy(t, 400)
	ctx := newTab(t)
	show(t, ctx, "v=1&f=prompt_tokens+>+100", server)
	wait(t, ctx, drawn)
	if !eval[bool](t, ctx, `(() => {
		const li = [...document.querySelectorAll('.findings li')].find(l => /failed or were aborted/.test(l.textContent))
		li?.querySelector('button').click()
		return !!li
	})()`) {
		t.Fatal("nothing stands out")
	}
	wait(t, ctx, settled+` && document.querySelector('.list .item')`)
	if filter := eval[string](t, ctx, `document.getElementById('filter').value`); filter != "prompt_tokens > 100 and status in (failed, aborted)" {
		t.Errorf("the filter is %q", filter)
	}
}

// TestPresets: each preset of the table begins with the request that its column is
// greatest of.
func TestPresets(t *testing.T) {
	server, _ := busy(t, 400)
	ctx := newTab(t)
	show(t, ctx, "v=1&view=requests", server)
	wait(t, ctx, drawn+` && [...document.querySelectorAll('.list .head button')].some(b => b.textContent.startsWith('stalls'))`)
	for preset, column := range map[string]string{"Most stalls": "stalls", "Furthest beyond its prompt": "beyond prompt", "Longest gap": "longest gap"} {
		got := eval[[]float64](t, ctx, `(async () => {
			[...document.querySelectorAll('button')].find(b => b.textContent === '`+preset+`').click()
			await new Promise(done => setTimeout(done, 100))
			const at = [...document.querySelectorAll('.list .head > div')].findIndex(d => d.textContent.startsWith('`+column+`'))
			return [...document.querySelectorAll('.list .item')].slice(0, 8).map(r => Number(r.children[at].textContent))
		})()`)
		if len(got) < 8 || got[0] <= 0 {
			t.Errorf("%s: %v", preset, got)
		}
		for i := 1; i < len(got); i++ {
			if got[i] > got[i-1] {
				t.Errorf("%s: %v", preset, got)
			}
		}
	}
	// The stalls of the first are those that the drawer counts with the same length.
	eval[bool](t, ctx, `([...document.querySelectorAll('button')].find(b => b.textContent === 'Most stalls').click(), true)`)
	wait(t, ctx, `document.querySelector('.list [aria-sort=descending]')?.textContent.startsWith('stalls')`)
	counts := eval[[]float64](t, ctx, `(async () => {
		const at = [...document.querySelectorAll('.list .head > div')].findIndex(d => d.textContent.startsWith('stalls')), row = document.querySelector('.list .item')
		const shown = Number(row.children[at].textContent)
		row.click()
		const { session } = globalThis.servescope, r = (await session.run({})).runs[0], m = r.metrics.chunk_gap
		const least = Math.max(m.quantiles['0.99'], 2 * m.quantiles['0.5'])
		const id = new URLSearchParams(location.hash.slice(1)).get('sel')
		const { columns } = await session.view({}, { kind: 'request', row: Number(id), side: m.side })
		return [shown, Array.from(columns.gap).filter(g => g >= least).length]
	})()`)
	if counts[0] != counts[1] || counts[0] == 0 {
		t.Errorf("%v stalls are shown, the request has %v", counts[0], counts[1])
	}
}

// TestSteps: the steps of a profiler's trace stand on the timeline, each at its time.
func TestSteps(t *testing.T) {
	ctx := newTab(t)
	names, err := filepath.Glob(filepath.Join(root, "testdata/formats/torchtrace/*/input*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	drawnIn := 0
	for _, name := range names {
		show(t, ctx, "v=1&view=timeline")
		drop(t, ctx, name)
		wait(t, ctx, `document.querySelector('.failure, .diags') || `+settled)
		if !eval[bool](t, ctx, `!!document.querySelector('.tabs')`) {
			continue // one of the damaged ones
		}
		wait(t, ctx, drawn)
		title := eval[string](t, ctx, `document.querySelector('#view figure h3')?.textContent ?? ''`)
		if title == "" {
			continue
		}
		drawnIn++
		if blank := eval[string](t, ctx, blankCharts); title != "Steps over time" || blank != "" {
			t.Errorf("%s: figure %q, blank: %s", name, title, blank)
		}
		eval[bool](t, ctx, `(document.querySelector('#view .tools [aria-pressed]').click(), true)`)
		if head := eval[string](t, ctx, `document.querySelector('#view figure table thead')?.innerText ?? ''`); !strings.Contains(head, "length (ms)") {
			t.Errorf("%s: a table of %q", name, head)
		}
	}
	if drawnIn == 0 {
		t.Error("no trace has steps")
	}
}
