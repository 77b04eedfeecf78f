package bridge

import (
	"context"
	"errors"
	"io/fs"

	"servescope/analyzer"
	"servescope/analyzer/query"
	"servescope/formats"
	"servescope/wasm/exports"
	"servescope/wasm/wire"
)

// The codes of errors.
const (
	usage     = "usage"     // the query is wrong; flag says which part of it
	format    = "format"    // no format knows the files; formats says why
	empty     = "empty"     // the files hold nothing that can be analyzed
	unread    = "read"      // a file cannot be read
	cancelled = "cancelled" // the caller said so
	failed    = "failed"    // anything else
)

// failure is the head of an answer that ends a call without a result.
type failure struct {
	Type    string    `json:"type"`
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Hint    string    `json:"hint"`
	Flag    string    `json:"flag,omitempty"`
	Formats []attempt `json:"formats,omitempty"`
}

// attempt is why one format does not know a file.
type attempt struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func (f *failure) Error() string { return f.Message }

// failureOf describes an error to the page.
func failureOf(ctx context.Context, err error) *failure {
	out := &failure{Code: failed, Message: err.Error()}
	var hint interface{ Hint() string }
	if errors.As(err, &hint) {
		out.Hint = hint.Hint()
	}
	var own *failure
	var wrong *query.Error
	var unknown *formats.DetectError
	var nothing *analyzer.EmptyError
	var foreign *exports.UnknownError
	switch {
	case errors.As(err, &own):
		*out = *own
	case ctx.Err() != nil:
		out.Code = cancelled
	case errors.As(err, &wrong):
		out.Code, out.Flag, out.Message, out.Hint = usage, wrong.Flag, wrong.Msg, wrong.Fix
	case errors.As(err, &unknown):
		out.Code = format
		if unknown.Plain == "" {
			out.Message = unknown.Name + ": no format recognises this file"
			for _, a := range unknown.Tried {
				out.Formats = append(out.Formats, attempt{a.Format.Name, a.Reason})
			}
		}
	case errors.As(err, &foreign):
		out.Code, out.Flag = usage, "what"
	case errors.As(err, &nothing):
		out.Code = empty
	case errors.As(err, new(*fs.PathError)), errors.As(err, new(*wire.ReadError)):
		out.Code = unread
	}
	out.Type = "error"
	return out
}
