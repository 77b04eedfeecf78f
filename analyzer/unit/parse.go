package unit

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// measure is a unit that a user may write: its name and its size in base units.
type measure struct {
	name   string
	factor int64
}

// durations lists the units of ParseDuration, the largest first. "m" is a
// minute, as in Go, Prometheus and sleep(1).
var durations = []measure{
	{"d", 86400e9}, {"h", 3600e9}, {"min", 60e9}, {"m", 60e9}, {"s", 1e9},
	{"ms", 1e6}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ns", 1},
}

// sizes lists the units of ParseSize. A bare K, M or G is refused: it means
// 1000 to some tools and 1024 to others.
var sizes = []measure{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
}

// ParseDuration parses a duration such as "500ms", "1.5s", "2m", "50us" or
// "1h30m" into nanoseconds, exactly. Every number except a bare "0" needs a
// unit (d, h, m or min, s, ms, us or µs, ns), and larger units come first.
// ParseDuration returns an error for a negative duration, for a fraction of a
// nanosecond, and for more than about 292 years.
func ParseDuration(s string) (int64, error) {
	return parse(s, durations, "duration", "500ms or 1.5s")
}

// ParseSize parses a size such as "256MiB", "1.5GB" or "4096B" into bytes,
// exactly. The rules are those of ParseDuration.
func ParseSize(s string) (int64, error) {
	return parse(s, sizes, "size", "256MiB or 1GB")
}

// parse sums number-unit pairs whose units get strictly smaller.
func parse(s string, units []measure, what, example string) (int64, error) {
	fail := func(why string) (int64, error) {
		return 0, fmt.Errorf("bad %s %q: %s; write it like %s", what, s, why, example)
	}
	rest := strings.TrimSpace(s)
	switch {
	case rest == "":
		return fail("nothing is written")
	case rest == "0":
		return 0, nil
	case len(rest) > 100:
		return fail("more than 100 characters")
	}
	// Read one number and its unit after the other.
	total, last := new(big.Rat), int64(math.MaxInt64)
	for rest != "" {
		number := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789."))]
		rest = strings.TrimLeft(rest[len(number):], " ")
		end := strings.IndexAny(rest, "0123456789. ")
		if end < 0 {
			end = len(rest)
		}
		name := rest[:end]
		rest = strings.TrimLeft(rest[end:], " ")
		v, ok := new(big.Rat).SetString(number)
		if !ok {
			return fail("a number is missing before the unit")
		}
		if name == "" {
			return fail("a unit is missing")
		}
		factor := find(units, name)
		if factor == 0 {
			return fail(fmt.Sprintf("unknown unit %q", name))
		}
		if factor >= last {
			return fail("larger units come first")
		}
		last = factor
		total.Add(total, v.Mul(v, new(big.Rat).SetInt64(factor)))
	}
	if !total.IsInt() {
		return fail("it has a fraction of 1 " + units[len(units)-1].name)
	}
	if !total.Num().IsInt64() {
		return fail("it is too large")
	}
	return total.Num().Int64(), nil
}

// find returns the factor of the named unit, or 0.
func find(units []measure, name string) int64 {
	for _, u := range units {
		if u.name == name {
			return u.factor
		}
	}
	return 0
}

// FormatDuration writes ns exactly, in the syntax of ParseDuration: "1h30m",
// "1.5s", "250us". A negative duration starts with a minus sign.
func FormatDuration(ns int64) string {
	u := uint64(ns)
	sign := ""
	if ns < 0 {
		u, sign = -u, "-"
	}
	if u == 0 {
		return "0s"
	}
	// Days, hours and minutes are written as whole numbers; the first smaller
	// unit takes the rest as a decimal fraction.
	var b strings.Builder
	b.WriteString(sign)
	for _, m := range durations {
		f := uint64(m.factor)
		if u < f || m.name == "min" {
			continue
		}
		if f > 1e9 {
			fmt.Fprintf(&b, "%d%s", u/f, m.name)
			u %= f
			continue
		}
		b.WriteString(strconv.FormatUint(u/f, 10))
		if part := u % f; part != 0 {
			digits := len(strconv.FormatUint(f, 10)) - 1
			b.WriteString("." + strings.TrimRight(fmt.Sprintf("%0*d", digits, part), "0"))
		}
		b.WriteString(m.name)
		break
	}
	return b.String()
}
