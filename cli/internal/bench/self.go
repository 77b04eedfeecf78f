//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"servescope/analyzer"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

// selves are what this program itself measures, each run in a process of its own.
var selves = map[string]func(path string) error{"newlines": countNewlines, "json": decodeLines, "scan": scan}

// scan reads a file as the program does, on one goroutine, up to the batches of
// rows, without any analysis.
func scan(path string) error {
	inputs, err := source.Expand([]string{path}, os.Stdin, formats.Options{Workers: 1})
	if err != nil {
		return err
	}
	defer inputs.Close()
	src := inputs.List[0].Source
	head, err := formats.ReadHead(src)
	if err != nil {
		return err
	}
	found, err := all.Set().Detect(head)
	if err != nil {
		return err
	}
	r, err := found.Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Memory: analyzer.DefaultMemory / 2, Lists: true})
	if err != nil {
		return err
	}
	defer r.Close()
	rows := 0
	for r.Next() {
		rows += r.Batch().Rows
	}
	fmt.Println(rows)
	return r.Err()
}

// countNewlines reads a file and counts its lines, on one goroutine.
func countNewlines(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buf, lines := make([]byte, 256<<10), 0
	for off := int64(0); ; {
		n, err := f.ReadAt(buf, off)
		lines += bytes.Count(buf[:n], []byte("\n"))
		off += int64(n)
		if err == io.EOF {
			fmt.Println(lines)
			return nil
		} else if err != nil {
			return err
		}
	}
}

// decodeLines decodes each line into a struct with encoding/json.
func decodeLines(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	tokens := 0
	for d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20)); ; {
		var line struct {
			RequestID       string    `json:"request_id"`
			Event           string    `json:"event"`
			TS              float64   `json:"ts"`
			Arrival         float64   `json:"arrival"`
			TokenTimestamps []float64 `json:"token_timestamps"`
		}
		if err := d.Decode(&line); err == io.EOF {
			fmt.Println(tokens)
			return nil
		} else if err != nil {
			return err
		}
		tokens += len(line.TokenTimestamps)
	}
}
