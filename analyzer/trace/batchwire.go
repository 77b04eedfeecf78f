package trace

import "encoding/binary"

// wireTables lists the tables that have a wire form. The index in the list
// identifies a table on the wire.
var wireTables = []*Table{Requests, Steps, Collectives, Histograms, ReportedTable}

// AppendWire appends the wire form of b, which is everything but its run, to
// dst. LoadWire reads it in another process of the same program, so that
// several processes can read one input. AppendWire panics if the table of b
// exists in exports only.
func (b *Batch) AppendWire(dst []byte) []byte {
	number := -1
	for i, t := range wireTables {
		if t == b.Table {
			number = i
		}
	}
	if number < 0 {
		panic("trace: a batch of " + b.Table.Name + " has no wire form")
	}
	dst = append(dst, byte(number))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(b.Rows))
	dst = packBytes(dst, []byte(b.File))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.Implausible.Count))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.Implausible.Offset))
	for i := range b.columns {
		c := &b.columns[i]
		dst = binary.LittleEndian.AppendUint32(dst, uint32(c.n))
		if c.n == 0 {
			continue
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(c.nulls))
		repaired := byte(0)
		if c.repaired {
			repaired = 1
		}
		dst = append(dst, repaired)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(c.values)))
		for _, text := range c.values {
			dst = packBytes(dst, []byte(text))
		}
		dst = c.pack(dst)
	}
	return dst
}

// LoadWire returns the batch whose wire form is src, in new memory, as a batch
// of run. ok is false if src is corrupt.
func LoadWire(src []byte, run *RunMeta) (b *Batch, ok bool) {
	u := unpacking{src: src}
	number := u.take(1)
	if u.bad || int(number[0]) >= len(wireTables) {
		return nil, false
	}
	b = &Batch{Table: wireTables[number[0]], Run: run, Rows: u.count()}
	b.File = string(u.bytes())
	b.Implausible = Implausible{u.number(), u.number()}
	b.columns = make([]column, len(b.Table.Fields))
	for i := range b.columns {
		c := &b.columns[i]
		if c.n = u.count(); c.n == 0 || u.bad {
			continue
		}
		c.nulls = u.count()
		repaired := u.take(1)
		c.repaired = len(repaired) == 1 && repaired[0] == 1
		for n := u.count(); n > 0 && !u.bad; n-- {
			c.values = append(c.values, string(u.bytes()))
		}
		c.unpack(&u)
	}
	return b, !u.bad && len(u.src) == 0
}
