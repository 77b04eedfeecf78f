package browsertest

import (
	"strings"
	"testing"
)

// effects are what commands do, by the beginning of their names: an expression that
// becomes true. What a command shows is closed before the next one.
var effects = [][2]string{
	{"View ", `tab() === NAME.slice(5)`},
	{"Open files", `picked === 1`},
	{"Edit the filter", `document.activeElement.id === 'filter'`},
	{"Zoom in on the time", `link.t && link.t !== before.t`},
	{"Zoom out", `link.t && link.t !== before.t`},
	{"Earlier", `link.t && link.t !== before.t`},
	{"Later", `link.t && link.t !== before.t`},
	{"Fit the open request", `link.t && link.t !== before.t && link.sel`},
	{"All of the time", `!link.t`},
	{"Previous request", `link.sel`},
	{"Next request", `link.sel && link.sel !== before.sel`},
	{"Lower percentile", `link.p === '95'`},
	{"Higher percentile", `!link.p`},
	{"SLO limits", `document.activeElement.closest('#limits')`},
	{"Compare with more files", `/Choose files/.test(dialog())`},
	{"Save or export", `/Parquet/.test(dialog())`},
	{"Next theme", `link.theme !== before.theme`},
	{"Keys", `/single keys are on/.test(dialog())`},
	{"Close, or up", `link.sel !== before.sel || link.t !== before.t`},
	{"Show the seal", `/connect-src/.test(dialog())`},
	{"Metric ", `tab() === 'latency' && NAME.includes(document.querySelector('#view h3').textContent.split(' by ')[0])`},
	{"Run ", `document.querySelector('.top select').selectedOptions[0].textContent === NAME.slice(4)`},
	{"Filter: status ", `link.f === 'status = ' + NAME.slice(15)`},
	{"Group by nothing", `!link.groups`},
	{"Group by ", `link.groups === NAME.slice(9).replace(/ /g, '_')`},
	{"Windows of ", `link.w === NAME.slice(11).replace(' ', '')`},
	{"No windows", `!link.w`},
	{"Clear the filter", `!link.f`},
	{"Clear the limits", `!link.slo`},
	{"Open the sample run", `servescope.session.inputs[0].name !== 'server.jsonl'`},
	{"Close the files", `document.querySelector('.zone')`},
}

// TestPalette runs every command that the palette has, by its name, and sees what it does.
func TestPalette(t *testing.T) {
	server, client := busy(t, 100)
	ctx := newTab(t)
	show(t, ctx, "v=1&view=timeline&slo=ttft:1s&t=1s..16s~2s..14s&sel=40", server, client)
	eval[bool](t, ctx, `(() => {
		globalThis.picked = 0
		HTMLInputElement.prototype.click = function () { picked++ }
		globalThis.tab = () => document.querySelector('.tabs [aria-selected=true]').id.slice(4)
		globalThis.dialog = () => document.querySelector('dialog[open]')?.innerText ?? ''
		globalThis.fields = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
		const pause = ms => new Promise(done => setTimeout(done, ms))
		globalThis.until = async f => { for (let i = 0; i < 500; i++) { try { if (f()) return true } catch {} ; await pause(10) } return false }
		globalThis.palette = async () => {
			document.querySelector('dialog[open] [aria-label=Close]')?.click()
			await until(() => !document.querySelector('dialog'))
			document.activeElement.blur()
			document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))
			await until(() => document.getElementById('commands'))
			return [...document.querySelectorAll('#commands li span')].map(e => e.textContent)
		}
		globalThis.command = async name => {
			await palette()
			const input = document.querySelector('dialog input')
			input.value = name
			input.dispatchEvent(new Event('input', { bubbles: true }))
			if (!await until(() => document.querySelector('#commands [aria-selected=true] span').textContent === name)) return false
			globalThis.before = fields()
			input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
			return true
		}
		return true
	})()`)
	names := eval[[]string](t, ctx, `palette()`)
	if len(names) < 50 {
		t.Errorf("%d commands: %q", len(names), names)
	}
	for _, name := range names {
		effect := ""
		for _, e := range effects {
			if strings.HasPrefix(name, e[0]) {
				effect = strings.ReplaceAll(e[1], "NAME", quoted(name))
				break
			}
		}
		if effect == "" {
			t.Errorf("nobody knows what %q does", name)
			continue
		}
		if name == "Open the sample run" { // it and the last one end what the others work on
			continue
		}
		if !eval[bool](t, ctx, `command(`+quoted(name)+`)`) {
			t.Errorf("the palette does not find %q by its name", name)
		} else if !eval[bool](t, ctx, `until(() => { const link = fields(); return !!(`+effect+`) })`) {
			t.Errorf("%q does nothing: %s", name, eval[string](t, ctx, `location.hash + ' ' + document.activeElement.outerHTML.slice(0, 100)`))
		}
	}
	if !eval[bool](t, ctx, `command('Open the sample run').then(() => until(() => `+settled+` && servescope.session.inputs[0].name !== 'server.jsonl'))`) {
		t.Error("the sample run is not opened")
	}
}
