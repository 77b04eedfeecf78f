package servebench

import (
	"math"

	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// Array names a per-request array of numbers.
type Array uint8

// The arrays, with the keys they have in both clients' files.
const (
	InputLens     Array = iota // prompt tokens
	OutputLens                 // output tokens, see Rules.Counts
	TTFTs                      // seconds from send to the first chunk
	StartTimes                 // seconds, the send on the client's clock
	Latencies                  // seconds from send to the last chunk or the end
	QueueTimes                 // seconds of waiting in the client before the send
	CachedTokens               // prompt tokens found in the prefix cache
	CachedDevice               // of these, by tier; from cached_tokens_details
	CachedHost                 //
	CachedStorage              //
	numArrays
)

var arrayKeys = [numArrays]string{"input_lens", "output_lens", "ttfts", "start_times", "latencies", "queue_times",
	"cached_tokens", "cached_tokens_details", "cached_tokens_details", "cached_tokens_details"}

// duration tells the arrays in seconds from those of counts.
func (a Array) duration() bool { return a >= TTFTs && a <= QueueTimes }

// null stands for an entry that is null or unusable. Inside this package only:
// it becomes a null of the column.
const null = math.MinInt64

// Setting is one member of a record that is not per request. Of an object or
// array it keeps no text.
type Setting struct {
	Key  string // "object.name" for members of nested objects
	Kind json.Kind
	Text string // decoded string, or the literal as written

	Nested bool
}

// Record is one result object as the index pass saw it. It is valid until the
// next record is read.
type Record struct {
	Offset   int64 // byte offset of its opening brace
	Settings []Setting
	Cut      json.Problem // where its text breaks off, see Truncated
	Broken   bool         // whether it does

	arrays   [numArrays]column[int64]
	errors   column[int32] // class of each error, 0 for none, -1 for null
	classes  []string      // names of the classes from 1
	texts    column[int8]  // 1: the text is not empty, 0: it is, -1: null
	lists    region        // where the gaps are
	overflow bool          // it has more requests than the memory budget takes
}

// Has reports whether the record has a setting or a per-request array with the
// given key.
func (r *Record) Has(key string) bool {
	for a, k := range arrayKeys {
		if k == key && r.arrays[a].present {
			return true
		}
	}
	switch {
	case key == "itls" && r.lists.present, key == "errors" && r.errors.present, key == "generated_texts" && r.texts.present:
		return true
	}
	return r.setting(key) != nil
}

func (r *Record) setting(key string) *Setting {
	for i := range r.Settings {
		if r.Settings[i].Key == key {
			return &r.Settings[i]
		}
	}
	return nil
}

// Text returns the value of a string setting; "" where there is none.
func (r *Record) Text(key string) string {
	if s := r.setting(key); s != nil && s.Kind == json.String {
		return s.Text
	}
	return ""
}

// Number returns the value of a number setting. NaN and the infinities are no
// numbers.
func (r *Record) Number(key string) (float64, bool) {
	if s := r.setting(key); s != nil && s.Kind == json.Number {
		return s.number()
	}
	return 0, false
}

func (s *Setting) number() (float64, bool) {
	f, n, ok := numx.ParseFloat([]byte(s.Text))
	return f, ok && n == len(s.Text)
}

// Nanoseconds returns the value of a setting in seconds, exactly.
func (r *Record) Nanoseconds(key string) (int64, bool) {
	s := r.setting(key)
	if s == nil || s.Kind != json.Number {
		return 0, false
	}
	ns, n, ok := numx.Scaled([]byte(s.Text), numx.Second)
	return ns, ok && n == len(s.Text)
}

// Sum returns the sum of the entries of an array that are not null.
func (r *Record) Sum(a Array) float64 {
	var sum float64
	c := &r.arrays[a]
	for i := range c.n {
		if v := c.at(i); v != null {
			sum += float64(v)
		}
	}
	return sum
}

// Min returns the smallest entry of an array that is not null.
func (r *Record) Min(a Array) (least int64, ok bool) {
	c := &r.arrays[a]
	for i := range c.n {
		if v := c.at(i); v != null && (!ok || v < least) {
			least, ok = v, true
		}
	}
	return least, ok
}

// reset empties the record and keeps its memory.
func (r *Record) reset(offset int64) {
	r.Offset, r.Settings, r.Cut, r.Broken = offset, r.Settings[:0], json.Problem{}, false
	for a := range r.arrays {
		r.arrays[a].reset()
	}
	r.errors.reset()
	r.texts.reset()
	r.classes, r.lists, r.overflow = r.classes[:0], region{}, false
}

// bytes is the memory that the record's arrays hold.
func (r *Record) bytes() int64 {
	n := r.errors.bytes() + r.texts.bytes()
	for a := range r.arrays {
		n += r.arrays[a].bytes()
	}
	return n
}
