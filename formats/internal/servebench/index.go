package servebench

import (
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

const (
	maxKey      = 128      // a longer key is none of ours
	maxValue    = 4 << 10  // of a string setting
	maxError    = 64 << 10 // of an error text that is looked at
	maxSettings = 1 << 10
	maxClasses  = 64 // of errors in one record; further ones are "other"
)

// index is the first pass: it reads one result object after the other, holds
// the small arrays, and notes where the gaps are.
type index struct {
	log    *log
	c      *json.Cursor
	nested map[string]bool    // objects whose scalars are settings too
	memory int64              // for the arrays of one record
	block  int                // bytes read at a time
	survey func(*region) bool // goes on with a region on several goroutines, or nil; see survey
	rec    Record
	key    []byte  // of the member being read
	run    []int64 // of an array of numbers, reused

	started bool
	noise   bool // the line holds brackets or commas between records
	busy    bool // the line holds a record, or text that was reported
}

// next reads the next record. It returns nil at the end. Between records there
// may be white space and what joins them to an array; any other line is stray.
func (x *index) next() *Record {
	if !x.started && !x.advance() {
		return nil
	}
	for {
		w := x.c.Window()
		if len(w) == 0 {
			x.endLine()
			if !x.advance() {
				return nil
			}
			continue
		}
		n := x.separators(w)
		x.c.Advance(n)
		if n == len(w) {
			continue
		}
		x.busy = true
		if w[n] == '{' {
			return x.object()
		}
		x.log.stray(x.c.Offset(), "text that is no result object was skipped")
		x.c.SkipLine()
	}
}

// separators returns how many bytes of w stand between records: white space,
// byte order marks, RFC 7464's record separators, the NULs of a preallocated
// file, and the brackets and commas of an array of records.
func (x *index) separators(w []byte) int {
	for i, b := range w {
		switch b {
		case '\n':
			x.endLine()
		case ' ', '\t', '\r', 0xEF, 0xBB, 0xBF, 0x1E, 0:
		case '[', ']', ',':
			x.noise = true
		default:
			return i
		}
	}
	return len(w)
}

func (x *index) endLine() {
	if x.noise && !x.busy {
		x.log.Counts.Total++
		x.log.Counts.Noise++
	}
	x.noise, x.busy = false, false
}

// advance goes to the next record of lines.
func (x *index) advance() bool {
	x.started = true
	return x.c.Next()
}

func (x *index) object() *Record {
	x.rec.reset(x.c.Offset())
	for x.c.Open(); x.c.More(); {
		if !x.nextKey() {
			break
		}
		x.member(x.key)
	}
	if p, bad := x.c.Problem(); bad {
		x.rec.Cut, x.rec.Broken = p, true
		x.c.SkipLine()
	}
	return &x.rec
}

// nextKey reads the name of the next member into x.key. It reports false after
// a problem.
func (x *index) nextKey() bool {
	key := x.c.Key(maxKey)
	x.key = append(x.key[:0], key...)
	return key != nil
}

func (x *index) member(key []byte) {
	kind := x.c.Kind()
	if kind == json.Array && x.perRequest(key) {
		return
	}
	switch {
	case kind == json.Object && x.nested[string(key)]:
		x.add(Setting{Key: string(key), Kind: kind})
		x.members(string(key) + ".")
	case kind == json.Object || kind == json.Array:
		x.add(Setting{Key: string(key), Kind: kind})
		x.c.Skip()
	default:
		x.setting(string(key), false)
	}
}

// members reads the scalars of a nested object.
func (x *index) members(prefix string) {
	for x.c.Open(); x.c.More(); {
		if !x.nextKey() {
			return
		}
		if k := x.c.Kind(); k == json.Object || k == json.Array {
			x.c.Skip()
			continue
		}
		x.setting(prefix+string(x.key), true)
	}
}

// setting reads a scalar.
func (x *index) setting(key string, nested bool) {
	s := Setting{Key: key, Kind: x.c.Kind(), Nested: nested}
	var v []byte
	if s.Kind == json.String {
		v = x.c.Text(maxValue)
	} else {
		v = x.c.Literal()
	}
	if v != nil { // else it breaks off
		s.Text = string(v)
		x.add(s)
	}
}

// add keeps a setting. As in Python and Go the last of equal keys counts.
func (x *index) add(s Setting) {
	if old := x.rec.setting(s.Key); old != nil {
		*old = s
	} else if len(x.rec.Settings) < maxSettings {
		x.rec.Settings = append(x.rec.Settings, s)
	}
}

// perRequest reads the array with the given key if it is one of those with an
// entry per request.
func (x *index) perRequest(key []byte) bool {
	switch string(key) {
	case "itls":
		x.rec.lists = x.region()
	case "errors":
		x.errors()
	case "generated_texts":
		x.texts()
	case "cached_tokens_details":
		x.details()
	default:
		for a := range CachedDevice {
			if string(key) == arrayKeys[a] {
				x.numbers(a)
				return true
			}
		}
		return false
	}
	return true
}

// number reads a count, or seconds as nanoseconds. null stands for what is no
// such number; the second result is false when the text broke off.
func (x *index) number(c *column[int64], duration bool) (int64, bool) {
	at := x.c.Offset()
	switch x.c.Kind() {
	case json.Null:
		return null, x.c.Literal() != nil
	case json.Number:
	default:
		c.misfit(at)
		return null, x.c.Skip()
	}
	b := x.c.Literal()
	if b == nil {
		return null, false
	}
	var v int64
	var n int
	var ok bool
	if duration {
		v, n, ok = numx.Scaled(b, numx.Second)
	} else {
		v, n, ok = numx.ParseInt(b)
	}
	if !ok || n != len(b) || v < 0 {
		c.misfit(at)
		v = null
	}
	return v, true
}

// full reports whether the record's arrays fill the memory budget.
func (x *index) full() bool {
	if x.rec.bytes() <= x.memory {
		return false
	}
	x.rec.overflow = true
	x.c.Leave()
	return true
}

func (x *index) numbers(a Array) {
	c := &x.rec.arrays[a]
	c.reset()
	c.present = true
	scale := 0
	if a.duration() {
		scale = numx.Second
	}
	for x.c.Open(); x.c.More(); {
		before := c.n
		if x.run = x.c.Run(x.run[:0], scale); len(x.run) > 0 {
			for _, v := range x.run {
				c.append(v)
			}
		} else if v, ok := x.number(c, a.duration()); ok {
			c.append(v)
		} else {
			return
		}
		if c.n/chunk > before/chunk && x.full() {
			return
		}
	}
	c.complete = !x.cut()
}

func (x *index) cut() bool {
	_, bad := x.c.Problem()
	return bad
}

// details reads the array of objects {"device":…,"host":…,"storage":…}.
func (x *index) details() {
	var tiers [3]*column[int64]
	for i := range tiers {
		tiers[i] = &x.rec.arrays[int(CachedDevice)+i]
		tiers[i].reset()
		tiers[i].present = true
	}
	for x.c.Open(); x.c.More(); {
		v := [3]int64{null, null, null}
		if x.c.Kind() != json.Object {
			x.c.Skip()
		} else {
			for x.c.Open(); x.c.More(); {
				i := 0
				switch string(x.c.Key(maxKey)) {
				case "device":
				case "host":
					i = 1
				case "storage":
					i = 2
				default:
					x.c.Skip()
					continue
				}
				v[i], _ = x.number(tiers[i], false)
			}
		}
		if x.cut() {
			return
		}
		for i := range tiers {
			tiers[i].append(v[i])
		}
		if tiers[0].n%chunk == 0 && x.full() {
			return
		}
	}
	for i := range tiers {
		tiers[i].complete = !x.cut()
	}
}

func (x *index) errors() {
	c := &x.rec.errors
	c.reset()
	x.rec.classes = x.rec.classes[:0]
	c.present = true
	for x.c.Open(); x.c.More(); {
		class := int32(0)
		switch at := x.c.Offset(); x.c.Kind() {
		case json.String:
			s := x.c.Text(maxError)
			if len(s) > 0 {
				class = x.class(records.ErrorClass(s))
			}
		case json.Null: // Python's None: no error
			x.c.Literal()
		default:
			c.misfit(at)
			class = -1
			x.c.Skip()
		}
		if x.cut() {
			return
		}
		c.append(class)
		if c.n%chunk == 0 && x.full() {
			return
		}
	}
	c.complete = !x.cut()
}

// class returns the number of an error class of the record.
func (x *index) class(name string) int32 {
	for i, n := range x.rec.classes {
		if n == name {
			return int32(i + 1)
		}
	}
	if len(x.rec.classes) == maxClasses-1 {
		name = "other"
	}
	if len(x.rec.classes) < maxClasses {
		x.rec.classes = append(x.rec.classes, name)
	}
	return int32(len(x.rec.classes))
}

// texts notes which of the generated texts are empty and keeps none of them.
func (x *index) texts() {
	c := &x.rec.texts
	c.reset()
	c.present = true
	for x.c.Open(); x.c.More(); {
		v, kind, at := int8(-1), x.c.Kind(), x.c.Offset()
		switch x.c.Skip(); {
		case kind != json.String:
		case x.c.Offset()-at > int64(len(`""`)):
			v = 1
		default:
			v = 0
		}
		if x.cut() {
			return
		}
		c.append(v)
		if c.n%chunk == 0 && x.full() {
			return
		}
	}
	c.complete = !x.cut()
}
