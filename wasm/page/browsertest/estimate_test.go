package browsertest

import (
	"context"
	"strings"
	"testing"
)

// testEstimate holds what is said beforehand of the open session to what its worker
// holds now, and shows what the page says of a file that is too large: 40 GB that are
// one megabyte many times over.
func testEstimate(t *testing.T, ctx context.Context) {
	got := eval[map[string]float64](t, ctx, `(async () => {
		const { engine, session } = globalThis.servescope
		return { ...session.estimate, fits: Number(session.estimate.fits), held: (await engine.memory())[0] }
	})()`)
	t.Logf("%.0f MB are read with %.0f MB of memory, estimated at %.0f MB", got["bytes"]/1e6, got["held"]/1e6, got["memory"]/1e6)
	if got["fits"] != 1 || got["held"] > 1.25*got["memory"] || got["held"] < got["memory"]/4 {
		t.Errorf("the estimate is off: %v", got)
	}
	eval[bool](t, ctx, `(async () => {
		const line = '{"request_id":"r1","arrival":100,"token_timestamps":[100.1,100.2],"prompt_tokens":5,"output_tokens":2}\n'
		const part = new Blob([line.repeat(10000)]), file = new File(Array(40000).fill(part), "it's long.jsonl"), list = new DataTransfer()
		list.items.add(file)
		const input = document.getElementById('files')
		input.files = list.files
		input.dispatchEvent(new Event('change'))
		return true
	})()`)
	wait(t, ctx, `document.querySelector('.failure')`)
	text := eval[string](t, ctx, `document.querySelector('.failure').innerText`)
	if !strings.Contains(text, "too much for a browser tab") || !strings.Contains(text, `servescope view 'it'\''s long.jsonl'`) || !strings.Contains(text, "GiB") {
		t.Errorf("of a file that is too large the page says %q", text)
	}
}
