package browsertest

import (
	"context"
	"strconv"
	"testing"
)

// TestDeaths ends a worker in the middle of a reading, gives a reading up, and expects
// of the same engine that it reads the next file.
func TestDeaths(t *testing.T) {
	if testing.Short() {
		t.Skip("a long file")
	}
	url, _ := host(t)
	ctx := newTab(t)
	ready(t, ctx, url)
	drop(t, ctx, long(t, 16_000))
	patient(t, ctx, `globalThis.servescope?.session && `+settled)
	want := eval[float64](t, ctx, `(globalThis.files = servescope.session.files, servescope.session.run({}).then(r => r.runs[0].requests.total))`)
	if want != 16_000 {
		t.Fatalf("%.0f requests", want)
	}
	for _, c := range []struct {
		name, workers, end, code string
	}{
		{"the only worker dies", "1", "engine.crash(0)", "engine_died"},
		{"the first worker dies", "2", "engine.crash(0)", "engine_died"},
		{"the other worker dies", "2", "engine.crash(1)", "engine_died"},
		{"a reading is given up", "1", "stop.abort()", "cancelled"},
		{"a reading of two is given up", "2", "stop.abort()", "cancelled"},
	} {
		got := eval[map[string]any](t, ctx, `(async () => {
			const states = [], engine = await servescope.engine.constructor.start({ workers: `+c.workers+`, onState: s => states.push(s) })
			const first = await engine.open(files), stop = new AbortController(), out = {}
			let ended = false
			const onProgress = ({ done, total }) => {
				if (ended || done < total / 4 || done > total * 3 / 4) return
				ended = true
				`+c.end+`
			}
			out.code = await first.run({}, { onProgress, signal: stop.signal }).then(() => 'it answered', e => e.code)
			out.ended = ended
			const again = '`+c.code+`' === 'cancelled' ? first : await engine.open(files)
			out.again = (await again.run({})).runs[0].requests.total
			out.memory = (await engine.memory()).length
			out.states = states.join(' ')
			engine.end()
			return out
		})()`)
		states := "starting ready"
		if c.code == "engine_died" {
			states += " failed ready"
		}
		if got["code"] != c.code || got["ended"] != true || got["again"] != want || got["states"] != states {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	silent(t, ctx)
}

// losses are scripts that end what one of two workers does without an event of an error,
// as a browser does: nobody hears of what has been ended. Each counts to one that somebody waits for.
var losses = map[string]string{
	"what the first worker computes": ended("self.servescopeWorkers"),
	"what the other worker computes": ended("!self.servescopeWorkers"),
	"a call of the page":             `addEventListener('message', e => { if (e.data.request?.startsWith('op=run')) e.stopImmediatePropagation() })`,
	"an order to the other worker":   unheard("!self.servescopeWorkers && data?.request"),
	"an answer of the other worker":  unheard("self.servescopeWorkers && data?.head"),
	"a turn of the event loop":       unheard("typeof data === 'number'"),
	"a part of a file":               untold("ReadableStreamBYOBReader.prototype", "read", 2),
	"a part of the head of a file":   untold("Blob.prototype", "arrayBuffer", 1), // the next one is read ahead, perhaps in vain
}

func ended(where string) string {
	return `{
		const real = WebAssembly.instantiate
		let n = 0
		WebAssembly.instantiate = async (...of) => {
			const module = await real(...of)
			const resume = () => {
				if (` + where + ` && ++n === 20) throw new Error('ended')
				module.exports.resume()
			}
			const exports = { ...module.exports, resume }
			return new Proxy(module, { get: (_, name) => name === 'exports' ? exports : module[name] })
		}
	}`
}

func unheard(which string) string {
	return `{
		const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage')
		let n = 0
		Object.defineProperty(MessagePort.prototype, 'onmessage', { set(f) {
			set.call(this, e => { const { data } = e; if (!(` + which + ` && ++n === 2)) f(e) })
		} })
	}`
}

// untold loses the nth promise of a method.
func untold(object, method string, nth int) string {
	return `{
		const real = ` + object + `.` + method + `
		let n = 0
		` + object + `.` + method + ` = function (...of) {
			const promise = real.apply(this, of)
			if (++n === ` + strconv.Itoa(nth) + `) promise.then = () => { delete promise.then }
			return promise
		}
	}`
}

// silent loses one thing after the other. files are at hand in the tab.
func silent(t *testing.T, ctx context.Context) {
	t.Helper()
	for name, script := range losses {
		eval[bool](t, ctx, "(globalThis.script ??= document.getElementById('worker.js').textContent, document.getElementById('worker.js').textContent = `"+script+"\n` + script, "+`globalThis.waits ??= {}, (async () => {
			const states = [], engine = await servescope.engine.constructor.start({ workers: 2, onState: s => states.push(s) })
			waits['`+name+`'] = engine.open(files).then(s => s.run({})).then(() => 'it answered', e => e.code).then(code => {
				engine.end()
				return [code, ...states].join(' ')
			})
			return true
		})())`)
	}
	for name := range losses {
		if got, want := eval[string](t, ctx, `waits['`+name+`']`), "engine_died starting ready failed"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
