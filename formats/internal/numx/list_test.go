package numx

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestList compares with the numbers that encoding/json finds in the same text,
// each read by the rational reference.
func TestList(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		text := randomList(r)
		scale := []int{Second, Second, Second, Millisecond, Nanosecond}[r.IntN(5)]
		var numbers []json.Number
		if err := json.Unmarshal([]byte("["+text), &numbers); err != nil {
			t.Fatalf("%v in [%s", err, text)
		}
		var want []int64
		odd := false
		for _, s := range numbers {
			v, _, _, ok := reference([]byte(s), scale)
			if odd = !ok; odd {
				break
			}
			want = append(want, v)
		}
		for _, tail := range []string{"", strings.Repeat("\n", 64), `,"x":1}`} {
			got, n, stop := List(nil, []byte(text+tail), scale, false)
			if !slices.Equal(got, want) || odd != (stop == Odd) || !odd && (stop != End || n != len(text)) {
				t.Fatalf("List([%.99s…, %d): %d values, %d, %d, want %d; %s", text+tail, scale, len(got), n, stop, len(want), differ(got, want))
			}
		}
		// Cut anywhere, a prefix of the list is read and the rest is not invented.
		cut := r.IntN(len(text))
		got, n, stop := List(nil, []byte(text[:cut]), scale, false)
		if stop == End || n > cut || len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("List([%.99s…, %d): %d values, %d, %d, want a prefix of %d; %s", text[:cut], scale, len(got), n, stop, len(want), differ(got, want))
		}
	}
}

// differ describes the first difference.
func differ(got, want []int64) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("value %d is %d, want %d", i, got[i], want[i])
		}
	}
	return "one is longer"
}

// randomList returns the text behind the opening bracket of an array of
// numbers whose layout changes now and then.
func randomList(r *rand.Rand) string {
	var b strings.Builder
	sep := []string{",", ", ", " ,\t"}[r.IntN(3)]
	kind, base, decimals := r.IntN(11), r.Int64N(9e9), 1+r.IntN(9)
	for i := range r.IntN(200) {
		if i > 0 {
			b.WriteString(sep)
		}
		if r.IntN(30) == 0 {
			kind, sep = r.IntN(11), []string{",", ", "}[r.IntN(2)]
		}
		base += r.Int64N(2)
		switch kind {
		case 0, 1, 2:
			digits := []int{6, 7, 9}[kind]
			fmt.Fprintf(&b, "%d.%0*d", base, digits, r.IntN(1e6))
		case 3:
			fmt.Fprintf(&b, "%d.%s", base, strings.TrimLeft(fmt.Sprint(r.IntN(1e9)), "0")+"1")
		case 4, 5:
			fmt.Fprint(&b, r.Float64())
		case 6:
			fmt.Fprintf(&b, "%d.%05d000%s", r.IntN(12345678), r.IntN(1e5), []string{"5", "50", "49", "500000000000000001"}[r.IntN(4)])
		case 7: // halfway between two nanoseconds, or next to it
			fmt.Fprintf(&b, "%d.%09d5000000%s", r.IntN(11), r.IntN(1e9), []string{"", "1", "0", "00000", "000000", "0000001", "0000000", "00000001"}[r.IntN(8)])
		case 8:
			b.Write(bytes.TrimRight(validNumber(r), "x"))
		case 9: // as short as a float64 allows
			b.WriteString(strconv.FormatFloat(1764428000+float64(i)/70+r.Float64()/100, 'f', -1, 64))
		case 10: // without trailing zeros
			fmt.Fprintf(&b, "%d.%s", 1764428000+i/70, strings.TrimRight(fmt.Sprintf("%09d", r.Int64N(1e9))[:decimals], "0")+[]string{"1", "0", ""}[min(r.IntN(9), 2)])
			if text := b.String(); text[len(text)-1] == '.' {
				b.WriteByte('0')
			}
		}
	}
	b.WriteByte(']')
	return b.String()
}

// validNumber returns the text of a number as JSON allows it.
func validNumber(r *rand.Rand) []byte {
	for {
		if s := number.Find(randomNumber(r)); json.Valid(s) {
			return s
		}
	}
}

func TestListStops(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []int64
		n    int
		stop Stop
	}{
		{"]", nil, 1, End},
		{" \t]x", nil, 3, End},
		{"1,2]", []int64{1, 2}, 4, End},
		{"1 , 2 ]", []int64{1, 2}, 7, End},
		{"1,2", []int64{1}, 2, Short},
		{"", nil, 0, Short},
		{"1,", []int64{1}, 2, Short},
		{"1,-", []int64{1}, 2, Short},
		{"1,5.", []int64{1}, 2, Short},
		{"1,5e", []int64{1}, 2, Short},
		{"1,5.1e-", []int64{1}, 2, Short},
		{"1,5.1e- ", []int64{1}, 2, Odd},
		{"1,n", []int64{1}, 2, Odd},
		{"1,null,2]", []int64{1}, 2, Odd},
		{"1,NaN]", []int64{1}, 2, Odd},
		{"1,\"2\"]", []int64{1}, 2, Odd},
		{"1,[2]]", []int64{1}, 2, Odd},
		{"1,2x,3]", []int64{1}, 2, Odd},
		{"1,2 3]", []int64{1}, 2, Odd},
		{"1,,2]", []int64{1}, 2, Odd},
		{"1,]", []int64{1}, 2, Odd},
		{"1,99999999999999999999]", []int64{1}, 2, Odd},
		{"1,\n2]", []int64{1}, 2, Odd},
		{"1\n,2]", nil, 0, Odd},
	} {
		got, n, stop := List(nil, []byte(c.in), Nanosecond, false)
		if !slices.Equal(got, c.want) || n != c.n || stop != c.stop {
			t.Errorf("List([%s) = %v, %d, %d, want %v, %d, %d", c.in, got, n, stop, c.want, c.n, c.stop)
		}
	}
	// With enough bytes behind them for the loops without calls.
	for _, s := range []string{".0,1", "-.0,1", "1.,1", "01234567.5", "1234567890.,1", "1234567890.5e1x", "0.5x,1", "92233720368.5x", "9999999999.5,1"} {
		if got, n, stop := List(nil, []byte(s+strings.Repeat(" ", 64)), Second, false); len(got) != 0 || n != 0 {
			t.Errorf("List([%s) = %v, %d, %d, want nothing", s, got, n, stop)
		}
	}
	got, n, stop := List(nil, []byte("\n 1\n ,\r\n 2\n]"), Nanosecond, true)
	if !slices.Equal(got, []int64{1, 2}) || n != 12 || stop != End {
		t.Errorf("multiline: %v, %d, %d", got, n, stop)
	}
}

func FuzzList(f *testing.F) {
	f.Add([]byte("1764428000.431902,1764428000.443902,1764428000.455902]"+strings.Repeat(" ", 64)), true)
	f.Add([]byte("1764428000.4319025,1764428000.443902,1764428000.4559,1764428000.45597,1764428000.,1764428000.4,,1764428000.431902,]"+strings.Repeat(" ", 64)), true)
	f.Add([]byte("1764428000.4319025, 1764428000.443902, 1764428000.45597,1764428000.455971,1764428000.4, 1764428000.431902]"+strings.Repeat(" ", 64)), false)
	f.Add([]byte("1764428000431902.5, 1764428000443902.25 ,1764428000455]"+strings.Repeat(" ", 64)), false)
	f.Add([]byte("0.011944736004807055, 0.0119447360048070, 1.0119447365000000, 0.01194473649999999999999, 0.011944736500000000000001]"+strings.Repeat(" ", 64)), false)
	f.Add([]byte("0.011944736004807055, 5.1e-05, 0.2]"+strings.Repeat(" ", 64)), false)
	f.Fuzz(func(t *testing.T, b []byte, multiline bool) {
		scale := []int{Second, Millisecond, Microsecond, Nanosecond}[len(b)%4]
		got, n, stop := List(nil, b, scale, multiline)
		// The same list, one number at a time.
		var want []int64
		i := skipSpace(b, 0, multiline)
		for i < len(b) && len(want) < len(got) {
			v, size, ok := Scaled(b[i:], scale)
			if !ok {
				break
			}
			want = append(want, v)
			i = skipSpace(b, i+size, multiline)
			if i < len(b) {
				i = skipSpace(b, i+1, multiline)
			}
		}
		if n > len(b) || !slices.Equal(got, want) || stop == End && b[n-1] != ']' {
			t.Fatalf("List([%q) = %v, %d, %d, want %v", b, got, n, stop, want)
		}
	})
}

// benchmarkList measures one list of 200 numbers.
func benchmarkList(b *testing.B, layout func(i int) string) {
	var text []byte
	for i := range 200 {
		text = append(text, layout(i)...)
		text = append(text, ',')
	}
	text[len(text)-1] = ']'
	text = append(text, strings.Repeat("\n", 64)...)
	dst := make([]int64, 0, 256)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dst, _, _ = List(dst[:0], text, Second, false)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/number")
	if len(dst) != 200 {
		b.Fatal(len(dst))
	}
}

func BenchmarkList(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	at := 1764428000.0
	next := func() float64 { at += 0.005 + r.ExpFloat64()*0.01; return at }
	b.Run("epoch6", func(b *testing.B) {
		benchmarkList(b, func(int) string { return fmt.Sprintf("%.6f", next()) })
	})
	b.Run("epoch9", func(b *testing.B) {
		benchmarkList(b, func(int) string { return fmt.Sprintf("%.6f%03d", next(), r.IntN(1000)) })
	})
	b.Run("epochRepr", func(b *testing.B) {
		benchmarkList(b, func(int) string { s, _ := json.Marshal(next()); return string(s) })
	})
	b.Run("integer", func(b *testing.B) {
		benchmarkList(b, func(int) string { return fmt.Sprint(int64(1e6 * next())) })
	})
	b.Run("durationRepr", func(b *testing.B) {
		benchmarkList(b, func(int) string { s, _ := json.Marshal(0.005 + r.ExpFloat64()*0.01); return " " + string(s) })
	})
}

func BenchmarkScaled(b *testing.B) {
	text := []byte("1764428000.431902," + strings.Repeat(" ", 64))
	b.SetBytes(18)
	b.ReportAllocs()
	for b.Loop() {
		Seconds(text)
	}
}

func BenchmarkParseFloat(b *testing.B) {
	text := []byte("0.011944736,\n\n\n\n\n\n\n\n")
	b.SetBytes(12)
	b.ReportAllocs()
	for b.Loop() {
		ParseFloat(text)
	}
}
