package assemble

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// steadyBlocks makes blocks of events in the order of time, as a server would log
// that always has as many requests open: most are tokens, and one in 200 ends a
// request and begins it anew.
func steadyBlocks(open int, format string) (all []*Events, span int64) {
	const blocks, events, line = 64, 4096, 68
	r := rand.New(rand.NewPCG(1, 2))
	at := int64(1e18)
	for k := range blocks {
		e := new(Events)
		text := make([]byte, 0, events*line)
		e.Reset(int64(k)*events*line, nil)
		for range events {
			id := fmt.Sprintf(format, r.IntN(open))
			from := len(text) + 20
			text = append(append(text, make([]byte, 20)...), id...)
			for len(text) < from+line-20 {
				text = append(text, ' ')
			}
			ev := Event{Hash: Hash([]byte(id)), At: at, ID: Span{uint32(from), uint32(from + len(id))}, Tokens: -1, Sort: -1, Timed: true}
			if at += 1000; r.IntN(200) > 0 {
				e.AddTick(MakeTick(ev.Hash, ev.At, from, 20, len(id)))
				continue
			}
			ev.Kind = Finish
			e.AddPlain(ev)
			ev.Kind = Arrival
			e.AddPlain(ev)
		}
		e.Text = text
		all = append(all, e)
	}
	return all, at - 1e18
}

// BenchmarkFold folds blocks over and over, their times moved on each time, and
// writes no rows: no reading, no scanning.
func BenchmarkFold(b *testing.B) {
	for _, c := range []struct {
		name, format string
		open         int
	}{{"200", "req-%06d", 200}, {"50000", "req-%06d", 50_000}, {"50000/long", "chatcmpl-%032d", 50_000}} {
		b.Run("open="+c.name, func(b *testing.B) {
			blocks, span := steadyBlocks(c.open, c.format)
			w := &Writer{Notes: Notes{Log: new(diag.Log)}, Builder: trace.NewBuilder(trace.Requests), Run: &trace.RunMeta{Side: trace.Server}}
			a := NewAssembler(w, 0)
			a.Bound(1<<30, b.TempDir())
			var ends Ends
			events, n := 0, 0
			for b.Loop() {
				e := blocks[n%len(blocks)]
				for k := range Shards {
					a.FoldShard(k, e, &ends)
					ticks := e.Shard(k)
					for i := range ticks {
						ticks[i].at += span
					}
				}
				for i := range e.List {
					e.List[i].At += span
				}
				events += e.Len()
				n++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}
