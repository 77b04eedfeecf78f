package bridge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"servescope/analyzer"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

// long is the sample's records, over and over, with a damaged one here and there.
func long(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../../testdata/sample/tokenlog.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for i := 0; len(out) < 20<<20; i++ {
		out = append(out, bytes.ReplaceAll(text, []byte("chatcmpl-bench"), []byte("r"+strconv.Itoa(i)))...)
		if i%50 == 7 {
			out = append(out, "{\"request_id\": damaged\n"...)
		}
	}
	return out
}

func reportOf(t *testing.T, text []byte, places analyzer.Remote) (string, error) {
	t.Helper()
	inputs, err := source.Unpack([]source.Input{{Source: source.FromBytes("long.jsonl", text), Named: true}}, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := analyzer.Open(t.Context(), all.Set(), inputs, "", analyzer.Options{Workers: 1, Now: present, Remote: places})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(t.Context(), new(query.Query))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := render.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String(), nil
}

// TestRemotely has records read by other engines, as workers of a page do: the
// report is the same to the last byte.
func TestRemotely(t *testing.T) {
	text := long(t)
	want, err := reportOf(t, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	workers := []*Engine{newEngine(), newEngine(), newEngine()}
	calls, folds := make(chan int, 100), new(atomic.Int64)
	call := func(ctx context.Context, k int, request []byte, src formats.Source, out Out) {
		if calls <- k; strings.HasPrefix(string(request), "op=states") {
			folds.Add(1)
		}
		workers[k].Call(ctx, request, []source.Input{{Source: src}}, out)
	}
	every := func(formats.Source) bool { return true }
	got, err := reportOf(t, text, Remotely(3, call, every))
	if err != nil || got != want {
		t.Errorf("%v: %d bytes of a report, want %d", err, len(got), len(want))
	}
	if len(calls) < 3 || folds.Load() < 1 {
		t.Errorf("%d calls of others, %d of them for what they have folded", len(calls), folds.Load())
	}
	dead := func(ctx context.Context, k int, request []byte, src formats.Source, out Out) {}
	if _, err := reportOf(t, text, Remotely(3, dead, every)); err == nil {
		t.Error("a report without what the workers read")
	}
	failing := func(ctx context.Context, k int, request []byte, src formats.Source, out Out) {
		workers[k].Call(ctx, request, []source.Input{{Source: broken{src}}}, out)
	}
	if _, err := reportOf(t, text, Remotely(3, failing, every)); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("a source that cannot be read: %v", err)
	}
}

// broken is a source that cannot be read any more.
type broken struct{ formats.Source }

func (b broken) At() io.ReaderAt { return gone{} }

func (b broken) Open(int64) (io.ReadCloser, error) { return nil, errors.New("the disk is gone") }

type gone struct{}

func (gone) ReadAt([]byte, int64) (int, error) { return 0, errors.New("the disk is gone") }
