package formats

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// prefixFormat recognises text that begins with a word.
func prefixFormat(name, word string, priority int, score Score) *Format {
	return &Format{Name: name, Priority: priority, Sniff: func(h *Head) (Score, string) {
		if bytes.HasPrefix(h.Start, []byte(word)) {
			return score, "begins with " + word
		}
		return No, "does not begin with " + word
	}}
}

func TestDetect(t *testing.T) {
	set := NewSet(
		prefixFormat("late", "ab", 30, Likely),
		prefixFormat("early", "ab", 10, Likely),
		prefixFormat("sure", "abc", 40, Sure),
	)
	f := func(text, name, reason string) {
		t.Helper()
		d, err := set.Detect(headOf(text))
		if err != nil {
			t.Fatal(err)
		}
		if d.Format.Name != name || d.Reason != reason {
			t.Errorf("%q: %s because it %s, want %s because it %s", text, d.Format.Name, d.Reason, name, reason)
		}
	}
	f("ab", "early", "begins with ab")  // the lower priority
	f("abc", "sure", "begins with abc") // the higher score
	_, err := set.Detect(headOf("zzz"))
	var de *DetectError
	if !errors.As(err, &de) {
		t.Fatalf("got %v", err)
	}
	want := `x: no format recognises this file
  early: does not begin with ab
  late: does not begin with ab
  sure: does not begin with abc`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if f, err := set.Lookup("late"); err != nil || f.Priority != 30 {
		t.Errorf("lookup: %v, %v", f, err)
	}
	if _, err := set.Lookup("no"); err == nil || !strings.Contains(err.Error(), "early, late, sure") {
		t.Errorf("unknown name: %v", err)
	}
}

func TestDetectPlainReasons(t *testing.T) {
	set := NewSet(prefixFormat("a", "\x01", 1, Sure))
	f := func(text, want string) {
		t.Helper()
		_, err := set.Detect(headOf(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %q", text, err, want)
		}
	}
	f("", "the file is empty")
	f(" \r\n\n", "only blank lines")
	f("SQLite format 3\x00", "a SQLite database")
	f("\xfd7zXZ\x00\x00", "decompress it first: xz -d")
	f("\x80\x04\x95\x10\x00", "a Python pickle, which can run code and is never loaded: if SGLang dumped it")
	f("\x80\x02}q\x00.", "python3 -c 'import json,pickle,sys;")
	f("some\x00bytes", "binary (byte 4 is 0)")
	f("\xff\xd8\xff\xe0\xff\xfe", "not UTF-8")
	f(strings.Repeat(" ", 2*HeadSize), "the first 65536 bytes are blank")
}

func TestNewSetRefusesDuplicates(t *testing.T) {
	f := func(a, b *Format) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		NewSet(a, b)
	}
	f(prefixFormat("a", "", 1, Sure), prefixFormat("b", "", 1, Sure))
	f(prefixFormat("a", "", 1, Sure), prefixFormat("a", "", 2, Sure))
}
