package endpoint

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
)

// file is a log that was sent, in memory.
type file struct {
	name string
	data *blocks
}

// received is what a request brings.
type received struct {
	log      file
	baseline *file // nil: none
}

// receive reads the body of a request: a log, which has the name of the command's
// standard input, or as multipart/form-data a log and a baseline.
func (e *endpoint) receive(r *http.Request) (*received, error) {
	if err := encoded(r); err != nil {
		return nil, err
	}
	if r.ContentLength > MaxBody {
		return nil, tooLong(e.body(r))
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" {
		data, err := collect(e.body(r), r.ContentLength)
		return &received{log: file{"stdin", data}}, err
	}
	if r.Header.Get("Content-Encoding") != "" {
		return nil, &problem{Status: http.StatusUnsupportedMediaType, Detail: "a form is not read compressed", Hint: "compress the files in it, which are known by their first bytes"}
	}
	return receiveForm(&limited{from: e.body(r), left: MaxBody}, params["boundary"])
}

func (e *endpoint) body(r *http.Request) io.Reader {
	switch {
	case e.opt.Body != nil:
		return e.opt.Body(r)
	case r.Body != nil:
		return r.Body
	}
	return http.NoBody
}

func receiveForm(from io.Reader, boundary string) (*received, error) {
	wrong := func(err error, detail string) error {
		if p := new(problem); errors.As(err, &p) {
			return p
		}
		return &problem{Status: http.StatusBadRequest, Detail: detail, Hint: "send the parts log and baseline, each a file: curl -F log=@FILE -F baseline=@FILE"}
	}
	parts := multipart.NewReader(from, boundary)
	got := make(map[string]*file)
	for {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, wrong(err, "the form cannot be read")
		}
		name := part.FormName()
		if name != "log" && name != "baseline" || got[name] != nil {
			return nil, wrong(nil, fmt.Sprintf("the part %.40q is unknown or there twice", name))
		}
		f := &file{name: name}
		if given := part.FileName(); given != "" {
			f.name = given
		}
		if f.data, err = collect(part, -1); err != nil {
			return nil, err
		}
		got[name] = f
	}
	if got["log"] == nil {
		return nil, wrong(nil, "the form has no part log")
	}
	return &received{*got["log"], got["baseline"]}, nil
}

// limited is a body that must end in time.
type limited struct {
	from io.Reader
	left int64
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, tooLong(l.from)
	}
	return n, err
}
