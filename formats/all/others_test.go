package all

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// headOf returns the head of a text, and the format it is read as.
func headOf(t *testing.T, text string) (*formats.Head, *formats.Format) {
	t.Helper()
	head, err := formats.ReadHead(source.FromBytes("x", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Set().Detect(head)
	if err != nil {
		t.Fatal(err)
	}
	return head, d.Format
}

// othersOf returns the format that a text is read as, and the others in it.
func othersOf(t *testing.T, text string) (read string, others []string) {
	t.Helper()
	head, f := headOf(t, text)
	for _, o := range Set().Others(head, f) {
		others = append(others, fmt.Sprint(o.Format.Name, " ", o.Lines))
	}
	return f.Name, others
}

// TestOthers: a file into which two programs write is read as the log of one, and
// the other is named, whichever comes first and whether it writes text or JSON.
func TestOthers(t *testing.T) {
	input := func(name string) string {
		files, _ := filepath.Glob(dir + "/" + name + "/input.*")
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range [][2]string{
		{"vllmlog/iterations", "litellm/spend-lines"}, {"tgi/json", "litellm/payloads"}, {"tgi/json", "dynamo/recorded"},
		{"vllmlog/iterations", "tgi/v1-text"}, {"sglanglog/request-log", "tgi/glued"}, {"vllmlog/iterations", "vllmrouter/json"},
		{"tokenlog/all-columns", "tgi/json"}, {"ollama/server-log", "litellm/payloads"},
		{"otlp/semconv", "otlplogs/details-v1.37"}, {"otlp/semconv", "promtext/otlp-gen-ai"}, {"otlplogs/details-v1.37", "promtext/otlp-vllm-collector"},
	} {
		for range 2 {
			slices.Reverse(c[:])
			a, _, _ := strings.Cut(c[0], "/")
			b, _, _ := strings.Cut(c[1], "/")
			text := input(c[0]) + "\n" + input(c[1])
			read, others := othersOf(t, text)
			other := a
			if read == a {
				other = b
			} else if read != b {
				t.Errorf("%v: read as %s", c, read)
			}
			if len(others) != 1 || !strings.HasPrefix(others[0], other+" ") {
				t.Errorf("%v: read as %s, beside %q", c, read, others)
			}
		}
	}
	line, _, _ := strings.Cut(input("litellm/payloads"), "\n")
	line += "\n"
	if _, others := othersOf(t, strings.Repeat("INFO 03-01 09:00:00 [x.py:1] Starting\n", 40)+input("vllmlog/iterations")+strings.Repeat(line, 3)); len(others) != 1 || others[0] != "litellm 3" {
		t.Errorf("three lines of LiteLLM: %q", others)
	}
}

// TestNoOthers: what one program writes is of one format, but for the cases that are
// damaged so.
func TestNoOthers(t *testing.T) {
	files, _ := filepath.Glob(dir + "/*/*/input*")
	if len(files) < 100 {
		t.Fatal("there are no cases")
	}
	for _, file := range files {
		name, _ := filepath.Rel(dir, filepath.Dir(file))
		if name = filepath.ToSlash(name); name == "tokenlog/lines" || name == "tokenlog-events/lines" {
			continue // hold a line of each other
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, err := formats.ReadHead(source.FromBytes("x", text))
		if err != nil {
			t.Fatal(err)
		}
		d, err := Set().Detect(head)
		if err != nil {
			continue // packed
		}
		if d.Format.Shape == formats.Blocks {
			continue
		}
		if others := Set().Others(head, d.Format); len(others) > 0 {
			t.Errorf("%s: %s beside %s", name, others[0].Format.Name, d.Format.Name)
		}
	}
}
