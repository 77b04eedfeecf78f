package endpoint

import (
	"runtime"
	"runtime/metrics"
)

// memory keeps a process below a number of bytes: it is asked between batches of
// rows, collects garbage when there is much, and judges by what is alive then. What
// the collector does by itself depends on how much of the processor it gets, and on
// a loaded machine garbage would count.
type memory struct {
	most uint64 // bytes that may be alive
	next uint64 // bytes of objects, dead ones included, from which on it is looked closely
	body *blocks
}

// The shares of the limit of a process, in sixteenths: what may be alive, beside
// which there is garbage, a batch of rows, the answer and what the runtime needs for
// itself; and from where on it is looked closely.
const (
	alive   = 12
	careful = 8
)

// growth is how many bytes there may be more before the next look.
const growth = 4 << 20

func newMemory(limit uint64, body *blocks) *memory {
	return &memory{most: limit / 16 * alive, next: limit / 16 * careful, body: body}
}

// check returns a problem if too much is alive, also when the body is compressed.
func (m *memory) check() error {
	if objects() < m.next {
		return nil
	}
	runtime.GC()
	n := objects()
	if n+growth >= m.next && m.body.code == nil {
		if err := m.body.pack(); err != nil {
			return err
		}
		runtime.GC()
		n = objects()
	}
	if n > m.most {
		return tooMuch(m.most)
	}
	m.next = max(m.next, n+growth)
	return nil
}

// objects returns the bytes of what is alive, and of garbage that is not collected.
func objects() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
