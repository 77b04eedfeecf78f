package arrow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"servescope/formats"
	"servescope/formats/internal/column"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const (
	maxDamage = 1000    // damaged batches behind which reading goes on
	maxRows   = 1 << 28 // of a batch
)

// table reads the record batches that begin in a range; it is a column.Table.
type table struct {
	scan   scanner
	rng    formats.Range
	head   message           // the schema
	dicts  map[int64]message // the last whole one, by id
	deltas []message         // to them, in order
	err    error             // that ended the scan
	ended  bool
	rows   int64 // of the batches that were found

	schema *arrow.Schema
	leaves []leaf
	want   []bool
	queue  queue
	reader *ipc.Reader
	batch  column.Batch
	arrays []converter
	failed error // of reading
	damage []column.Damage
}

// newTable begins to read a file or stream. An error that is not damage is one of
// reading.
func newTable(at io.ReaderAt, size int64, rng formats.Range) (*table, error) {
	t := &table{scan: scanner{at: at, size: size}, rng: rng, dicts: make(map[int64]message)}
	if size >= int64(len(magic)) {
		start, err := t.scan.bytes(0, int64(len(magic)))
		if err != nil {
			return nil, err
		}
		if bytes.Equal(start, []byte(magic)) {
			t.scan.off = int64(len(magic))
		}
	}
	isFile := t.scan.off > 0
	head, err := t.scan.next()
	switch {
	case err == io.EOF:
		return nil, errNoEnd
	case err == errMessage && isFile:
		var dicts []message
		if t.queue.schema, dicts, err = t.scan.readBare(); err != nil {
			return nil, err
		}
		for _, m := range dicts {
			t.note(m)
		}
		head = message{kind: ipc.MessageSchema}
	case err != nil:
		return nil, err
	case head.kind != ipc.MessageSchema:
		return nil, errMessage
	}
	t.head = head
	if err := t.open(); err != nil {
		return nil, err
	}
	t.schema = t.reader.Schema()
	t.queue.views = viewsOf(t.schema)
	t.leaves = leavesOf(nil, t.schema.Fields(), nil, "")
	return t, nil
}

// open makes a reader of the schema and of what is left, with the dictionaries in
// force.
func (t *table) open() error {
	t.queue.s = &t.scan
	t.queue.list = append(t.queue.list[:0], t.head)
	for _, m := range t.dicts {
		t.queue.list = append(t.queue.list, m)
	}
	t.queue.list = append(t.queue.list, t.deltas...)
	t.queue.follow = t.follow
	t.queue.err = nil
	var err error
	t.reader, err = ipc.NewReaderFromMessageReader(&t.queue, ipc.WithAllocator(&limited{memory.DefaultAllocator, maxBody}))
	if t.queue.err != nil {
		return t.queue.err
	}
	if err != nil {
		return damaged{fmt.Errorf("the schema cannot be decoded: %w", err)}
	}
	return nil
}

// follow returns the next message of the range. Dictionaries are noted on the way.
func (t *table) follow() (message, error) {
	for {
		m, err := t.next()
		if err != nil {
			return m, err
		}
		switch {
		case m.kind == ipc.MessageDictionaryBatch && !t.scan.bare: // whose dictionaries are known
			t.note(m)
			return m, nil
		case m.kind == ipc.MessageRecordBatch:
			return m, nil
		}
	}
}

// next scans on, up to the end of the range.
func (t *table) next() (message, error) {
	if t.err == nil && t.rng.To >= 0 && t.scan.off >= t.rng.To {
		t.err = io.EOF
	}
	if t.err != nil {
		return message{}, t.err
	}
	m, err := t.scan.next()
	t.err = err
	if err == nil {
		m.first = t.rows
		t.rows += m.rows
	}
	return m, err
}

func (t *table) note(m message) {
	if m.delta {
		t.deltas = append(t.deltas, m)
		return
	}
	t.dicts[m.dict] = m
	t.deltas = slices.DeleteFunc(t.deltas, func(d message) bool { return d.dict == m.dict })
}

// Fields implements column.Table.
func (t *table) Fields() []column.Field {
	out := make([]column.Field, len(t.leaves))
	for i := range out {
		out[i] = t.leaves[i].Field
	}
	return out
}

// Meta implements column.Table.
func (t *table) Meta(key string) (string, bool) {
	meta := t.schema.Metadata()
	return meta.GetValue(key)
}

// Select implements column.Table.
func (t *table) Select(want []bool) {
	t.want = want
	t.arrays = make([]converter, len(t.leaves))
	t.batch.Columns = make([]column.Column, len(t.leaves))
}

// Batch implements column.Table.
func (t *table) Batch() *column.Batch { return &t.batch }

// Err implements column.Table.
func (t *table) Err() error { return t.failed }

// Damage implements column.Table.
func (t *table) Damage() []column.Damage { return t.damage }

// Next implements column.Table.
func (t *table) Next() bool {
	for !t.ended && t.failed == nil {
		if t.scan.off < t.rng.From && t.err == nil { // what other ranges own
			m, err := t.next()
			if err == nil && m.kind == ipc.MessageDictionaryBatch && !t.scan.bare {
				t.note(m)
			}
			if err == nil && t.scan.off >= t.rng.From {
				err = t.open()
			}
			t.stop(err)
			continue
		}
		err := t.step()
		if err == nil && t.batch.Rows > 0 {
			return true
		}
		t.stop(err)
	}
	return false
}

// stop ends reading for err, or goes on behind a message that is damaged.
func (t *table) stop(err error) {
	var bad damaged
	switch {
	case err == nil:
	case err == io.EOF:
		t.ended = true
	case !errors.As(err, &bad):
		t.failed = err
	case t.err != nil: // the scan cannot go on
		t.ended = true
		t.lose(t.scan.off, bad)
	default:
		m := t.queue.last
		t.lose(m.start, bad)
		t.forget(m)
		if t.ended = len(t.damage) >= maxDamage; !t.ended {
			t.stop(t.open())
		}
	}
}

// lose notes damage, if it is in the range.
func (t *table) lose(at int64, bad damaged) {
	if at >= t.rng.From && (t.rng.To < 0 || at < t.rng.To) {
		t.damage = append(t.damage, column.Damage{Code: "damaged_rows", Offset: at,
			Msg: "rows of the Arrow data cannot be read: " + bad.Error()})
	}
}

// forget drops a dictionary that is damaged: batches that need it are damaged too.
func (t *table) forget(m message) {
	if m.kind != ipc.MessageDictionaryBatch {
		return
	}
	if t.dicts[m.dict] == m {
		delete(t.dicts, m.dict)
	}
	t.deltas = slices.DeleteFunc(t.deltas, func(d message) bool { return d.dict == m.dict })
}

// step reads the next batch. A panic of a decoder is damage too.
func (t *table) step() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = damaged{fmt.Errorf("a decoder fails: %v", r)}
		}
	}()
	t.batch.Rows = 0
	if !t.reader.Next() {
		switch {
		case t.queue.err != nil:
			return t.queue.err
		case t.reader.Err() == nil:
			return io.EOF
		}
		return damaged{t.reader.Err()}
	}
	rec := t.reader.RecordBatch()
	rows := rec.NumRows()
	if rows < 0 || rows > maxRows {
		return damaged{fmt.Errorf("a batch claims %d rows", rows)}
	}
	for i := range t.leaves {
		c := &t.batch.Columns[i]
		if *c = (column.Column{Null: true}); !t.want[i] {
			continue
		}
		if err := t.leaves[i].fill(c, rec, &t.arrays[i]); err != nil {
			return damaged{fmt.Errorf("column %s: %w", t.leaves[i].Name, err)}
		}
	}
	t.batch.First, t.batch.Rows = t.queue.last.first, int(rows)
	return nil
}

// limited is an allocator that panics instead of allocating much at once.
type limited struct {
	memory.Allocator
	most int
}

// Allocate implements memory.Allocator.
func (l *limited) Allocate(n int) []byte {
	l.check(n)
	return l.Allocator.Allocate(n)
}

// Reallocate implements memory.Allocator.
func (l *limited) Reallocate(n int, b []byte) []byte {
	l.check(n)
	return l.Allocator.Reallocate(n, b)
}

func (l *limited) check(n int) {
	if n < 0 || n > l.most {
		panic(fmt.Sprintf("a buffer of %d bytes", n))
	}
}
