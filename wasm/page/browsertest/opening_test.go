package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWindowsOfRange: under a range of time and a filter the windows stand at their time
// since the start of the whole run, as all other times of the page do.
func TestWindowsOfRange(t *testing.T) {
	server, _ := busy(t, 120)
	cmd := exec.Command(command(t), "analyze", "--format", "json", "--from", "+4s", "--to", "+9s", "--filter", "output_tokens > 20", "--window", "1s", server)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Runs []struct {
			Windows []struct{ From int64 }
		}
	}
	if err := json.Unmarshal(out, &r); err != nil || len(r.Runs) != 1 || len(r.Runs[0].Windows) < 4 {
		t.Fatalf("the command's windows: %v", err)
	}
	start := int64(served(120)[0].arrival*1e6) * 1000
	ctx := newTab(t)
	show(t, ctx, "v=1&t=4s..9s&w=1s&f=output_tokens+>+20", server)
	got := eval[[]string](t, ctx, `(() => {
		const f = [...document.querySelectorAll('#view figure, #view .figure')].find(f => /^Windows of/.test(f.querySelector('h3').textContent));
		[...f.querySelectorAll('button')].find(b => b.textContent === 'Table').click()
		return new Promise(done => setTimeout(() => done([...f.querySelectorAll('tbody tr')].map(r => r.cells[0].textContent)), 300))
	})()`)
	if len(got) != len(r.Runs[0].Windows) {
		t.Fatalf("%d windows are shown, the report has %d", len(got), len(r.Runs[0].Windows))
	}
	for i, w := range r.Runs[0].Windows {
		at := max(4, float64(w.From-start)/1e9) // the first one begins with the range
		var s float64
		if _, err := fmt.Sscanf(got[i], "%f s", &s); err != nil || s < at-0.001 || s > at+0.001 {
			t.Errorf("window %d is shown at %q, it begins at %.4f s", i, got[i], at)
		}
	}
}

// TestGivenUp: a file that is given up while it is read, for another one or for none,
// leaves nothing behind.
func TestGivenUp(t *testing.T) {
	first, _ := busy(t, 2000)
	second := filepath.Join(root, "testdata/sample/tokenlog.jsonl")
	ctx := newTab(t)
	show(t, ctx, "")
	eval[bool](t, ctx, `(() => {
		globalThis.zones = []
		new MutationObserver(() => { const z = document.querySelector('.zone b')?.textContent; if (z && z !== zones.at(-1)) zones.push(z) }).observe(document.body, { childList: true, subtree: true, characterData: true })
		return true
	})()`)
	drop(t, ctx, first)
	wait(t, ctx, `servescope.session`) // opened, and read now
	drop(t, ctx, second)
	wait(t, ctx, settled+` && document.title.startsWith('tokenlog.jsonl')`)
	if zones := eval[[]string](t, ctx, `zones`); len(zones) == 0 || zones[len(zones)-1] != "Reading tokenlog.jsonl" {
		t.Errorf("while it read the page said %q", zones)
	}
	show(t, ctx, "")
	eval[bool](t, ctx, `(() => {
		globalThis.given = false
		new MutationObserver((_, o) => { const b = document.querySelector('.progress button'); if (b) { o.disconnect(); given = true; b.click() } }).observe(document.body, { childList: true, subtree: true })
		return true
	})()`)
	drop(t, ctx, first)
	wait(t, ctx, `given && [...document.querySelectorAll('button')].some(b => /sample run/.test(b.textContent) && !b.disabled)`)
}

// TestNoLog: a format is offered for a file that might be of one, and for no other; what
// a person can do is said in the words of the page.
func TestNoLog(t *testing.T) {
	ctx := newTab(t)
	show(t, ctx, "")
	for text, want := range map[string]string{
		"":                       "The files could not be read, 0 choices",
		"\x00\x01\x02\x03":       "The files could not be read, 0 choices",
		"Dear reader,\nhello.\n": "No format knows this file, 1 choices",
	} {
		path := filepath.Join(t.TempDir(), "letter.txt")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		dropped(t, ctx, path)
		wait(t, ctx, `document.querySelector('.failure')`)
		if got := eval[string](t, ctx, `document.querySelector('.failure h2').innerText + ', ' + document.querySelectorAll('.failure select').length + ' choices'`); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if said := eval[string](t, ctx, `document.querySelector('.failure').innerText`); strings.Contains(said, "--input-format") {
			t.Errorf("%q: the page speaks of flags: %s", text, said)
		}
	}
}
