package assemble

import "testing"

// TestApart: a server's log in local time of zone -08:00, read as UTC, seems eight
// hours early; one of +05:30 five and a half hours late.
func TestApart(t *testing.T) {
	const hour = int64(3600e9)
	requests := []stretch{{from: 100 * hour, to: 101 * hour}}
	for _, c := range []struct {
		from int64
		want string
	}{
		{92*hour + 998694016, "they begin 7h59m59s before the requests: the logs may be in different time zones; try --tz -08:00"},
		{105*hour + hour/2 + 2e9, "they begin 5h30m2s after the requests: the logs may be in different time zones; try --tz +05:30"},
		{76 * hour, "they begin 1d before the requests"},
		{100*hour - 600e9, "they begin 10m before the requests"},
		{100*hour - 1500e6, "they begin 1.5s before the requests"},
	} {
		if got := apart([]stretch{{from: c.from, to: c.from + hour}}, requests); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
