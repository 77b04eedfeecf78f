package vllmlog

import (
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// TestP40ObjectWithoutTime: an object of a logger that states no time was written
// when the container's runtime says.
func TestP40ObjectWithoutTime(t *testing.T) {
	const msg = "Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 2.5 tokens/s, Running: 3 reqs, Waiting: 4 reqs, GPU KV cache usage: 5.0%"
	text := `2026-03-05T06:30:10.125Z stdout F {"level": "info", "message": "Engine 000: ` + msg + `"}` + "\n" +
		`2026-03-05T06:30:20.5Z stdout F {"message": "Engine 000: ` + msg + `"}` + "\n"
	in, err := source.Unpack([]source.Input{{Source: source.FromBytes("pod.log", []byte(text)), Named: true}}, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := times(read(t, in.List[0].Source, formats.Options{})), "2026-03-05T06:30:10.125 2026-03-05T06:30:20.5"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
