//go:build js && wasm && writer

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"servescope/formats"
	"servescope/wasm/tables"
)

// main writes files: a request is the name of the file and that of a definition
// set, on two lines, and comes with the rows as one file.
func main() {
	serve(func(_ context.Context, request []byte, files []formats.Input, out func(head, body []byte)) {
		what, definition, _ := strings.Cut(string(request), "\n")
		head := map[string]string{"type": "result", "name": what}
		file, mime, err := []byte(nil), "", errors.New("the rows are missing")
		if len(files) == 1 {
			file, mime, err = tables.Write(what, definition, func() (io.ReadCloser, error) { return files[0].Source.Open(0) })
		}
		if head["mime"] = mime; err != nil {
			head = map[string]string{"type": "error", "code": "failed", "message": err.Error(), "hint": ""}
			file = nil
		}
		text, _ := json.Marshal(head) // texts cannot fail
		out(text, file)
	})
}
