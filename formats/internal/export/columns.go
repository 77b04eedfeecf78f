package export

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/column"
)

// columns says which column of a file is which of the model.
type columns struct {
	model          *trace.Table
	file           string
	of             []int // by column of the model: field of the file, or -1
	run, name, key int   // fields that name the run of a row, or -1
	want           []bool
	wrong          []string // columns of another type than that of the model
}

// kinds are the types of columns that hold those of the model.
var kinds = map[trace.Type]column.Kind{trace.Int64: column.Int, trace.Float64: column.Float, trace.Bool: column.Bool,
	trace.Text: column.Text, trace.Dict: column.Text, trace.List: column.IntList}

// match finds the columns of the model among fields.
func match(fields []column.Field, model *trace.Table, file File) columns {
	c := columns{model: model, file: file.Name, of: make([]int, len(model.Fields)), want: make([]bool, len(fields))}
	index := make(map[string]int, len(fields))
	for i := range fields {
		index[fields[i].Name] = i
	}
	find := func(name string, kind column.Kind) int {
		i, ok := index[name]
		if !ok {
			return -1
		}
		if fields[i].Kind != kind || fields[i].Scale > 0 || fields[i].Unsigned {
			c.wrong = append(c.wrong, name)
			return -1
		}
		c.want[i] = true
		return i
	}
	c.run, c.name, c.key = find("run", column.Text), find("file", column.Text), find("run_key", column.Int)
	for i := range model.Fields {
		f := &model.Fields[i]
		if c.of[i] = -1; f.Type == trace.List && !file.Lists {
			continue
		}
		c.of[i] = find(Name(f), kinds[f.Type])
	}
	return c
}

// Name is the name of a column of the model in exports.
func Name(f *trace.Field) string {
	if f.Unit == unit.Nanosecond && f.Type == trace.Int64 {
		return f.Name + "_ns"
	}
	return f.Name
}

// note says which columns could not be used.
func (c *columns) note(log *diag.Log, file File) {
	if len(c.wrong) > 0 {
		log.Add(diag.Diag{Code: "column_type", Severity: diag.DataLoss, File: file.Name, Offset: -1, Count: int64(len(c.wrong)),
			Msg: fmt.Sprintf("columns are not of the type that an export gives them and count as unknown: %.200s", strings.Join(c.wrong, ", ")),
			Fix: "export the log again"})
	}
}

var nothing = &column.Column{Null: true}

func (c *columns) column(b *column.Batch, field int) *column.Column {
	if field < 0 {
		return nothing
	}
	return &b.Columns[field]
}

// batch returns the rows of b in the columns of the model. Memory is shared
// wherever nothing has to be repaired.
func (c *columns) batch(b *column.Batch, log *diag.Log) *trace.Batch {
	out := trace.NewBatch(c.model, nil, c.file, b.Rows)
	for i := range c.model.Fields {
		from := c.column(b, c.of[i])
		if from.Null {
			continue
		}
		col, f := trace.Col(i), &c.model.Fields[i]
		switch f.Type {
		case trace.Int64:
			v := trace.Ints{Values: from.Ints, Valid: from.Valid}
			if f.Unit == unit.Token {
				out.Implausible.Count += believe(&v)
			}
			out.SetInts(col, v)
		case trace.Float64:
			out.SetFloats(col, finite(from))
		case trace.Bool:
			out.SetBools(col, trace.Bools{Values: from.Bits, Valid: from.Valid})
		case trace.Text:
			out.SetTexts(col, texts(from, b.Rows))
		case trace.Dict:
			out.SetDicts(col, c.dicts(from, b.Rows, f, log))
		case trace.List:
			most := int64(math.MaxInt64)
			if f.Unit == unit.Token {
				most = trace.MaxTokenCount
			}
			v := trace.Lists{Values: from.Ints, Offsets: from.Offsets, Valid: from.Valid}
			c.noteLists(f, within(&v, most), log)
			out.SetLists(col, v)
		}
	}
	if out.Implausible.Count > 0 {
		out.Implausible.Offset = -1
	}
	return out
}

func (c *columns) noteLists(f *trace.Field, n int64, log *diag.Log) {
	if n > 0 {
		log.Add(diag.Diag{Code: "absurd_list", Severity: diag.DataLoss, File: c.file, Offset: -1, Count: n,
			Msg: fmt.Sprintf("a value of a list of %s is negative or beyond belief: the list counts as unknown", f.Name)})
	}
}

// believe makes counts of tokens null that nobody believes, and counts them.
func believe(v *trace.Ints) (n int64) {
	for i, x := range v.Values {
		if uint64(x) <= trace.MaxTokenCount || !v.Valid.Valid(i) {
			continue
		}
		if n == 0 {
			v.Valid = ownBits(v.Valid, len(v.Values))
		}
		v.Valid[i>>3] &^= 1 << (i & 7)
		n++
	}
	return n
}

// within makes lists null that hold a negative value or one above most, and
// counts them.
func within(v *trace.Lists, most int64) (n int64) {
	var bad uint64
	for _, x := range v.Values {
		bad |= uint64(x) | uint64(most-x)
	}
	if bad>>63 == 0 {
		return 0
	}
	rows := len(v.Offsets) - 1
	v.Valid = ownBits(v.Valid, rows)
	for i := range rows {
		list := v.Values[v.Offsets[i]:v.Offsets[i+1]]
		if v.Valid.Valid(i) && slices.ContainsFunc(list, func(x int64) bool { return x < 0 || x > most }) {
			v.Valid[i>>3] &^= 1 << (i & 7)
			n++
		}
	}
	return n
}

// ownBits returns a copy of a bitmap of n bits that may be written to.
func ownBits(valid trace.Bitmap, n int) trace.Bitmap {
	if valid != nil {
		return slices.Clone(valid)
	}
	return bytes.Repeat([]byte{0xff}, (n+7)/8)
}

// finite returns floats without NaN and infinities, which are null.
func finite(c *column.Column) trace.Floats {
	v := trace.Floats{Values: c.Floats, Valid: c.Valid}
	own := false
	for i, x := range v.Values {
		if x-x == 0 || !v.Valid.Valid(i) {
			continue
		}
		if !own {
			v.Valid, own = ownBits(v.Valid, len(v.Values)), true
		}
		v.Valid[i>>3] &^= 1 << (i & 7)
	}
	return v
}

// sane returns a text as a column may hold it.
func sane(s string) string {
	if len(s) > trace.MaxText {
		s = s[:trace.MaxText]
		for len(s) > 0 && len(s) > trace.MaxText-utf8.UTFMax && !utf8.ValidString(s[len(s)-1:]) && !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	if utf8.ValidString(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "�")
	for len(s) > trace.MaxText {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}

// texts returns plain texts.
func texts(c *column.Column, rows int) trace.Texts {
	if c.Codes == nil && clean(c, rows) {
		return trace.Texts{Data: c.Data, Offsets: c.Offsets, Valid: c.Valid}
	}
	out := trace.Texts{Offsets: make([]int32, 1, rows+1), Valid: c.Valid}
	for i := range rows {
		if c.Valid.Valid(i) && len(out.Data) < math.MaxInt32-trace.MaxText {
			out.Data = append(out.Data, sane(textAt(c, i))...)
		}
		out.Offsets = append(out.Offsets, int32(len(out.Data)))
	}
	return out
}

// clean reports whether the texts can be taken as they are.
func clean(c *column.Column, rows int) bool {
	ascii := true
	for _, b := range c.Data {
		ascii = ascii && b < utf8.RuneSelf
	}
	for i := range rows {
		s := c.Data[c.Offsets[i]:c.Offsets[i+1]]
		if len(s) > trace.MaxText || !ascii && !utf8.Valid(s) {
			return false
		}
	}
	return true
}

// dicts returns codes of a dictionary: of that of the field where it has one, in
// which case other texts are null.
func (c *columns) dicts(from *column.Column, rows int, f *trace.Field, log *diag.Log) trace.Dicts {
	out := trace.Dicts{Codes: make([]int32, rows), Values: f.Values, Valid: from.Valid}
	index := make(map[string]int32)
	for i, v := range f.Values {
		index[v] = int32(i)
	}
	var known []int32 // by code of the file: 1 + code here, 0: not yet looked up
	if from.Codes != nil {
		known = make([]int32, len(from.Values))
	}
	for i := range out.Codes {
		if !from.Valid.Valid(i) {
			continue
		}
		if known != nil && known[from.Codes[i]] > 0 {
			out.Codes[i] = known[from.Codes[i]] - 1
			continue
		}
		text := sane(textAt(from, i))
		code, ok := index[text]
		switch {
		case ok:
		case f.Values == nil:
			code = int32(len(out.Values))
			index[text] = code
			out.Values = append(out.Values, text)
		default:
			c.noteValue(f, log)
			out.Valid = ownBits(out.Valid, rows)
			out.Valid[i>>3] &^= 1 << (i & 7)
			continue
		}
		out.Codes[i] = code
		if known != nil {
			known[from.Codes[i]] = code + 1
		}
	}
	return out
}

func (c *columns) noteValue(f *trace.Field, log *diag.Log) {
	log.Add(diag.Diag{Code: "unknown_value", Severity: diag.DataLoss, File: c.file, Offset: -1,
		Msg: fmt.Sprintf("a value of the column %s is none that there is: it counts as unknown", f.Name)})
}

// textAt returns a text, "" where it is null.
func textAt(c *column.Column, i int) string {
	switch {
	case c.Null || !c.Valid.Valid(i):
		return ""
	case c.Codes != nil:
		return c.Values[c.Codes[i]]
	}
	return string(c.Data[c.Offsets[i]:c.Offsets[i+1]])
}

func intAt(c *column.Column, i int) int64 {
	if c.Null || !c.Valid.Valid(i) {
		return 0
	}
	return c.Ints[i]
}

// sameText reports whether two rows have the same text.
func sameText(c *column.Column, i, j int) bool {
	switch {
	case c.Null:
		return true
	case c.Valid.Valid(i) != c.Valid.Valid(j):
		return false
	case c.Codes != nil:
		return !c.Valid.Valid(i) || c.Codes[i] == c.Codes[j]
	}
	return bytes.Equal(c.Data[c.Offsets[i]:c.Offsets[i+1]], c.Data[c.Offsets[j]:c.Offsets[j+1]])
}
