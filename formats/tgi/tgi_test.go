package tgi

import (
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// TestTokens: the number of tokens is what the inference was divided by, where
// only one number can be.
func TestTokens(t *testing.T) {
	for _, c := range []struct{ whole, each, want int64 }{
		{99400000, 19880000, 5}, {699999000, 34999950, 20}, {100, 33, 3}, {7, 7, 1},
		{100, 30, 0}, // 100/3 is 33
		{10, 1, 0},   // of 6 to 10
		{5, 10, 0}, {0, 0, 0}, {5, 0, 0}, {-5, 1, 0},
	} {
		if got := tokens(c.whole, c.each); got != c.want {
			t.Errorf("%d by %d: %d, want %d", c.whole, c.each, got, c.want)
		}
	}
	// Any number of tokens of realistic lengths comes back.
	for n := int64(1); n < 5000; n += 7 {
		whole := 1_000_000_007 + n*12_345_678
		if got := tokens(whole, whole/n); got != n {
			t.Errorf("%d tokens in %d ns: %d", n, whole, got)
		}
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]formats.Score{
		`2026-01-02T03:04:05.000100Z  INFO generate{total_time="1s" validation_time="1ms" queue_time="1ms" inference_time="1s"}: x: y: Success` + "\n": formats.Sure,
		"2026-01-02T03:03:00.000001Z  INFO text_generation_router::server: router/src/main.rs:289: Connected\n":                                        formats.Likely,
		"INFO 03-01 09:00:00 [x.py:1] total_time and inference_time\n":                                                                                 formats.No,
		"": formats.No,
	} {
		head, err := formats.ReadHead(source.FromBytes("x", []byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		if score, why := Format.Sniff(head); score != want || why == "" {
			t.Errorf("%q: %d, %s", text, score, why)
		}
	}
}

// TestGlued: records that share a line are told apart by their heads, which texts of
// users hardly hold.
func TestGlued(t *testing.T) {
	const head = "2026-01-02T03:04:05.000100Z  INFO generate{"
	for _, c := range []struct {
		line string
		want int
	}{
		{head + `a="b"}: x: Success`, len(head) + 18},
		{head + `a="b"}: x: Success` + head, len(head) + 18},
		{head + `total_time="1.2` + "2026-01-02T03:04:06Z ERROR text_generation_router: x", len(head) + 15},
		{head + `stop: ["2026-01-02T03:04:06Z", "2026-01-02T03:04:06Z INFO that was all"]`, -1},
		{"Z  INFO a:", -1}, {"", -1}, {"Z ", -1}, {"xZ INFO a{", -1},
	} {
		want := c.want
		if want < 0 {
			want = len(c.line)
		}
		if got := glued([]byte(c.line)); got != want {
			t.Errorf("%s: %d, want %d", c.line, got, want)
		}
	}
}
