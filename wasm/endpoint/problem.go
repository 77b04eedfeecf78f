package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/query"
	"servescope/formats"
)

// problem is an error as RFC 9457 has it. Its type is about:blank, so its title is
// that of the status.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"` // what to do; an extension
}

func (p *problem) Error() string { return p.Detail }

// command reads any log in the memory that its machine has.
const command = "run the command where the log is: servescope analyze FILE, or servescope gate --slo LIMITS FILE"

var (
	errBody    = &problem{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("the body is longer than %d bytes", MaxBody), Hint: "compress it with gzip or zstd, or " + command}
	errDecoded = &problem{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("the log is longer than %d bytes", MaxDecoded), Hint: "post a part of it, or " + command}
)

// tooMuch is the problem of a log that needs more than so many bytes of memory.
func tooMuch(bytes uint64) error {
	detail := fmt.Sprintf("the requests of the log need more than the %d MiB of memory that one log may have here: a million short ones do not, some 35 bytes each and their texts", bytes>>20)
	return &problem{Status: http.StatusRequestEntityTooLarge, Detail: detail, Hint: "post a part of it, or " + command}
}

// fail answers an error as a problem.
func fail(w http.ResponseWriter, err error) {
	p := *problemOf(err)
	p.Title = http.StatusText(p.Status)
	text, err := json.Marshal(&p)
	if err != nil {
		text = []byte("{}") // a struct of texts has a JSON form
	}
	answer(w, p.Status, "application/problem+json", append(text, '\n'))
}

// problemOf says what an error means for the client: by what is wrong with its
// query (400), with the kind of its data (415) or with the data (422).
func problemOf(err error) *problem {
	p := new(problem)
	if errors.As(err, &p) {
		return p
	}
	p = &problem{Status: http.StatusUnprocessableEntity, Detail: err.Error()}
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		p.Hint = h.Hint()
	}
	var q *query.Error
	var d *formats.DetectError
	switch {
	case errors.As(err, &q):
		p = &problem{Status: http.StatusBadRequest, Detail: strings.TrimPrefix(q.Flag, "--") + ": " + q.Msg, Hint: q.Fix}
	case errors.As(err, &d):
		p.Status = http.StatusUnsupportedMediaType
	}
	return p
}

// nothing is the problem of a log of which nothing could be read, with what the
// diagnostics tell: no report is answered that would hold them.
func nothing(err error, diags []diag.Diag) error {
	p := *problemOf(err)
	for _, least := range [...]diag.Severity{diag.Error, diag.DataLoss} {
		for _, d := range diags {
			if d.Severity != least {
				continue
			}
			p.Detail += ": " + d.Msg
			p.Hint = strings.ReplaceAll(d.Fix, "--map ", "map=")
			if d.Fix == "" {
				p.Hint = "see /v1/formats for what can be read; format forces one, map says what columns mean"
			}
			return &p
		}
	}
	return &p
}

// encoded refuses a Content-Encoding that is not read. Those that are show
// themselves by their first bytes.
func encoded(r *http.Request) error {
	for _, name := range strings.Split(r.Header.Get("Content-Encoding"), ",") {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "", "identity", "gzip", "x-gzip", "zstd":
		default:
			return &problem{Status: http.StatusUnsupportedMediaType, Detail: "this Content-Encoding is not read", Hint: "use gzip, zstd or identity"}
		}
	}
	return nil
}
