// Package vegeta reads the results of single requests that vegeta encodes as CSV or JSON
// (vegeta encode --to csv): when a request was sent, its HTTP status, how long it took to
// the end of its response, and its error. There are no tokens and no first one.
//
// A row of CSV has no names: ns since 1970, status (0: there was no response), latency in
// ns, bytes out and in, error, body in base64, name of the attack, number, method, URL and,
// since v12.9, headers; see NewCSVEncoder in lib/results.go of vegeta.
package vegeta

import (
	"bytes"
	"context"

	"servescope/formats"
	"servescope/formats/internal/mapping"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "vegeta",
	Title:    "vegeta encode --to csv or json: a request per row",
	Priority: 131,
	Shape:    formats.Document,
	Sniff: func(h *formats.Head) (formats.Score, string) {
		if columnsOf(h.Start) != nil {
			return formats.Sure, "its rows are those that vegeta encodes"
		}
		return formats.No, "its first row is none that vegeta encodes"
	},
	Open: open,
}

func open(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
	r, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, formats.HeadSize)
	n := 0
	for n < len(head) { // an error comes again where the source is read
		k, err := r.Read(head[n:])
		if n += k; err != nil {
			break
		}
	}
	if opt.Map = columnsOf(head[:n]); opt.Map == nil {
		opt.Map = ofRows
	}
	return mapping.Open(ctx, src, opt, "vegeta")
}

// What the columns mean.
var (
	ofRows    = []string{"sent=1:ns", "status=2", "e2e=3:ns", "error=6"}
	ofObjects = []string{"sent=timestamp:iso", "status=code", "e2e=latency:ns", "error=error"}
)

// columnsOf returns the mapping of the columns of a text, or nil if vegeta has not
// encoded it.
func columnsOf(start []byte) []string {
	if start = bytes.TrimLeft(start, " \r\n"); len(start) > 0 && start[0] == '{' {
		keys := formats.Keys(start)
		for _, name := range [...]string{"attack", "seq", "code", "timestamp", "latency", "bytes_out", "bytes_in"} {
			if _, ok := formats.Find(keys, name); !ok {
				return nil
			}
		}
		return ofObjects
	}
	line, _, _ := bytes.Cut(start, []byte("\n"))
	cells := bytes.Split(line, []byte(","))
	if len(cells) < 9 || len(cells[0]) != 19 || cells[0][0] != '1' || len(cells[1]) > 3 {
		return nil
	}
	for _, cell := range cells[:5] {
		if len(cell) == 0 || len(bytes.Trim(cell, "0123456789")) > 0 {
			return nil
		}
	}
	return ofRows
}
