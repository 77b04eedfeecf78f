package all

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"testing"

	"servescope/formats"
)

// packageOf returns the package that a format is of.
func packageOf(t *testing.T, f *formats.Format) string {
	t.Helper()
	return regexp.MustCompile(`^[\w/]+`).FindString(runtime.FuncForPC(reflect.ValueOf(f.Sniff).Pointer()).Name())
}

// core returns the set that the page begins with.
func core(t *testing.T) *formats.Set {
	t.Helper()
	far := beyond(t)
	var list []*formats.Format
	for _, f := range Set().All() {
		if !far[packageOf(t, f)] {
			list = append(list, f)
		}
	}
	return formats.NewSet(list...).Partial(marks...)
}

// TestCoreOthers: of a log of text into which two programs write the core says what
// the whole set says, or that it lacks formats to say it, whichever comes first.
func TestCoreOthers(t *testing.T) {
	core := core(t)
	files, _ := filepath.Glob(dir + "/*/*/input*")
	type text struct{ name, text string }
	var near, far []text
	seen := make(map[string]int)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, err := formats.ReadHead(formats.FromBytes("x", raw[:min(len(raw), 8<<10)]))
		if err != nil {
			t.Fatal(err)
		}
		d, err := Set().Detect(head)
		if err != nil || d.Format.Shape != formats.Records && d.Format.Shape != formats.Ordered {
			continue
		}
		if seen[d.Format.Name]++; seen[d.Format.Name] > 3 {
			continue
		}
		one := text{file, string(head.Start) + "\n"}
		if _, err := core.Lookup(d.Format.Name); err == nil {
			near = append(near, one)
		} else {
			far = append(far, one)
		}
	}
	told := 0
	for _, a := range near {
		for _, b := range far {
			for _, both := range []string{a.text + b.text, b.text + a.text} {
				head, err := formats.ReadHead(formats.FromBytes("x", []byte(both)))
				if err != nil {
					t.Fatal(err)
				}
				d, err := core.Detect(head)
				if err != nil {
					continue // the whole set tells
				}
				got, _ := core.Others(head, d.Format)
				want, _ := Set().Others(head, d.Format)
				if told++; !reflect.DeepEqual(got, want) {
					t.Errorf("%s and %s: the core finds %d other formats, the whole set %d", a.name, b.name, len(got), len(want))
				}
			}
		}
	}
	if len(near) < 10 || len(far) < 10 || told == 0 {
		t.Errorf("%d and %d texts, the core reads %d of two", len(near), len(far), told)
	}
}
