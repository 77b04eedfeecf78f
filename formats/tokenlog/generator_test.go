package tokenlog

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// generator makes up JSON.
type generator struct{ *rand.Rand }

// pick returns one of the given texts.
func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

// space returns white space, mostly none.
func (g *generator) space() string { return g.pick("", "", "", "", " ", "\t", "  ", "\r", " \t ") }

// record returns a line with random members.
func (g *generator) record() []byte {
	var names []string
	for _, f := range keys {
		if f != nil && f.kind < eventTime {
			names = append(names, f.name)
		}
	}
	return g.object(func() string { return names[g.IntN(len(names))] })
}

// object returns an object with known and unknown keys.
func (g *generator) object(known func() string) []byte {
	var b strings.Builder
	b.WriteString(g.space() + "{" + g.space())
	for i := range g.IntN(12) {
		if i > 0 {
			b.WriteString(g.space() + "," + g.space())
		}
		name := known()
		var value string
		switch g.IntN(8) {
		case 0:
			name, value = g.pick("prompt", "x", "arriva", "arrivals", "token_timestamps_s", "", "é", `a\"b`, `request_id\u0000`), g.value(3)
		case 1:
			value = g.value(2)
		default:
			value = g.fitting(name)
		}
		if g.IntN(20) == 0 && len(name) > 0 && name[0] < 0x80 && name[0] != '\\' {
			name = fmt.Sprintf(`\u%04x`, name[0]) + name[1:]
		}
		b.WriteString(`"` + name + `"` + g.space() + ":" + g.space() + value)
	}
	b.WriteString(g.space() + "}" + g.space())
	return []byte(b.String())
}

// fitting returns a value that a known key may have.
func (g *generator) fitting(name string) string {
	f := keys.lookup(append([]byte(name), make([]byte, 8)...), 0, len(name))
	switch f.kind {
	case tokenTimes, gapList, tokenCounts:
		return g.list(f)
	case count, eventTokens:
		return g.pick(strconv.Itoa(g.IntN(5000)), "0", "-1", "12.0", "1.5e3", "2.5", "99999999999999999999", `"17"`)
	case boolean:
		return g.pick("true", "false", "null")
	case text, failure, eventKind:
		return g.pick(`"r-1"`, `"`+g.chars(40)+`"`, strconv.Itoa(g.IntN(100)), `""`, "null", `{"type":"timeout","message":"x"}`)
	case code, statusCode:
		return g.pick(`"server"`, `"client"`, `"ok"`, `"failed"`, `"chunks"`, `"decode"`, `"reasoning"`, `"nonsense"`, "200")
	}
	return g.number()
}

// list returns a list of numbers, seldom with something else in it.
func (g *generator) list(f *field) string {
	var b strings.Builder
	b.WriteString("[" + g.space())
	sep := g.pick(",", ",", ", ", " , ")
	at := 1764428000 + g.Float64()*1000
	spoiled := g.IntN(10) == 0
	for i := range g.IntN(80) {
		if i > 0 {
			b.WriteString(sep)
		}
		switch {
		case spoiled && g.IntN(20) == 0:
			b.WriteString(g.pick("null", `"1.5"`, `"x"`, "[1,2]", "{}", "1e400", `" 1"`))
		case f.kind == tokenCounts:
			b.WriteString(strconv.Itoa(g.IntN(6)))
		case f.kind == gapList:
			b.WriteString(strconv.FormatFloat(g.Float64()/50, 'g', -1, 64))
		default:
			at += g.Float64() / 50
			b.WriteString(strconv.FormatFloat(at, 'f', []int{6, 9, -1}[g.IntN(3)], 64))
		}
	}
	b.WriteString(g.space() + "]")
	return b.String()
}

// number returns a number in one of the ways that people write stamps.
func (g *generator) number() string {
	return g.pick(
		fmt.Sprintf("%.6f", 1764428000+g.Float64()*1e4),
		fmt.Sprintf("%d.%09d", 1764428000+g.IntN(10000), g.IntN(1e9)),
		strconv.FormatFloat(g.Float64(), 'e', -1, 64),
		strconv.FormatFloat(g.Float64()*1e6, 'f', -1, 64),
		strconv.FormatInt(g.Int64N(1<<62), 10),
		"0", "-1", "-1.0", "-0.5", "1E3", "0.0000000005", "9223372036.8", "123456789012345678901234567890",
		`"1764428000.5"`, `" 12.5 "`, `"12x"`, `"-"`)
}

// value returns any JSON value.
func (g *generator) value(depth int) string {
	if depth == 0 {
		return g.pick("null", "true", "false", "0", "-1.5e3", `""`, "[]", "{}")
	}
	switch g.IntN(5) {
	case 0:
		var parts []string
		for range g.IntN(4) {
			parts = append(parts, g.value(depth-1))
		}
		return "[" + strings.Join(parts, g.space()+",") + g.space() + "]"
	case 1:
		var parts []string
		for i := range g.IntN(4) {
			parts = append(parts, `"`+g.pick("arrival", "request_id", "k")+strconv.Itoa(i)+`":`+g.value(depth-1))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case 2:
		return `"` + g.chars(200) + `"`
	case 3:
		ids := make([]int, g.IntN(50))
		for i := range ids {
			ids[i] = g.IntN(128000)
		}
		b, _ := json.Marshal(ids)
		return string(b)
	}
	return g.number()
}

// chars returns the inside of a string, with what breaks naive scanners.
func (g *generator) chars(most int) string {
	var b strings.Builder
	for range g.IntN(most) {
		b.WriteString(g.pick("a", "é", "漢", `\"`, `\\`, `\n`, `\u0041`, `\ud83d\ude00`, `\/`, "{", "}", "[", "]", ",", ":", " ", `{\"arrival\":1}`, "]}", "🙂"))
	}
	return b.String()
}
