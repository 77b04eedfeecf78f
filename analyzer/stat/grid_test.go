package stat

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestGridIndex compares the index with a division.
func TestGridIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for _, unit := range gridUnits {
		g, _ := newGrid([]int64{0, unit, unit, 3 * unit})
		if g == nil || g.unit < unit {
			t.Fatalf("no grid of %d ns", unit)
		}
		for range 100_000 {
			v := int64(r.Uint64() >> r.IntN(64))
			switch r.IntN(4) {
			case 0:
				v -= v % g.unit
			case 1:
				v = -v
			}
			want := v >= 0 && v%g.unit == 0
			if got := g.index(v); want && got != uint64(v/g.unit) || !want && got <= math.MaxInt64/uint64(g.unit) {
				t.Fatalf("%d has index %d of %d", v, got, g.unit)
			}
		}
	}
}

// TestGridIsChosen checks which streams are counted value by value: with all of
// them known, every order statistic is. Of clocks of several steps most are.
func TestGridIsChosen(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	want := map[string]int64{"zero": 1e6, "micro": 1e3, "milli": 1e6, "tenths": 100, "mixed": 100, "mostly": 1e6, "gaps": 0, "ramp": 0, "any": 0, "signed": 0, "tight": 0}
	all := streams(r, 12_000)
	for name, unit := range want {
		d := NewDigest(testQuantiles, 9000)
		d.Add(all[name])
		switch {
		case unit == 0 && d.grid != nil:
			t.Errorf("%s: counted in units of %d ns", name, d.grid.unit)
		case unit > 0 && (d.grid == nil || d.grid.unit != unit):
			t.Errorf("%s: not counted in units of %d ns", name, unit)
		case name == "mixed":
			if n := d.grid.total; n < 7000 || n > 10_000 { // four in five, but for the tail
				t.Errorf("%s: %d of %d values are counted one by one", name, n, len(all[name]))
			}
		case unit > 0:
			for k := range int64(len(all[name])) {
				if v, exact := d.At(k); !exact {
					t.Fatalf("%s: value %d is not exact: %d", name, k, v)
				}
			}
		}
	}
}

// TestGridDrains checks that counts are moved on before they can wrap around.
func TestGridDrains(t *testing.T) {
	d := NewDigest(testQuantiles, 1000)
	values := make([]int64, 1001)
	for i := range values {
		values[i] = int64(i%7) * 1e6
	}
	d.Add(values[:1000])
	d.Add(values)
	if d.grid == nil || d.grid.total == 0 {
		t.Fatal("nothing is counted in a grid")
	}
	d.grid.total = gridTotal - 1
	d.Add([]int64{1e6})
	if d.grid.total != 0 || bits.OnesCount32(d.grid.n[1]) != 0 {
		t.Error("the grid is not drained")
	}
	if n := d.Moments().N; n != 2002 {
		t.Errorf("%d values", n)
	}
}
