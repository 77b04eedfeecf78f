package otlp

import "testing"

func TestRelease(t *testing.T) {
	for r, want := range map[release]string{5_01: "v0.5.1", 5_10: "v0.5.10", 10_00: "v0.10.0", 10_02: "v0.10.2", 16_00: "v0.16", 11_01: "v0.11.1"} {
		if got := r.String(); got != want {
			t.Errorf("%d is %s, want %s", r, got, want)
		}
	}
}

// TestNarrow: every piece of evidence takes away releases that cannot be; where
// they contradict each other the releases of both may have been at work.
func TestNarrow(t *testing.T) {
	for _, c := range []struct {
		list []between
		want string
	}{
		{nil, ""},
		{[]between{{}, since(5_10)}, "≥v0.5.10"},
		{[]between{since(5_03), {5_03, 5_09}, since(5_05)}, "v0.5.5–v0.5.9"},
		{[]between{{5_03, 5_04}, {5_03, 5_09}}, "v0.5.3–v0.5.4"},
		{[]between{{5_04, 5_04}, since(5_03), {}}, "v0.5.4"},
		{[]between{{5_03, 5_09}, since(5_10)}, "≥v0.5.3"},
		{[]between{since(5_10), {5_03, 5_09}}, "≥v0.5.3"},
		{[]between{{5_03, 5_04}, {5_06, 5_09}}, "v0.5.3–v0.5.9"},
	} {
		var b between
		for _, o := range c.list {
			b.narrow(o)
		}
		if got := b.String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.list, got, c.want)
		}
	}
}
