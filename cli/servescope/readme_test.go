package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"servescope/formats/all"
)

var update = flag.Bool("update", false, "write what the README's commands print into the README")

const readme = "../../README.md"

// console matches a block of commands and what they print.
var console = regexp.MustCompile("(?s)\n```console\n(.*?)```\n")

// TestREADME runs every command in a console block of the README, in the
// module's folder, and compares what it prints with what the README shows. A
// line "…" stands for any lines.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	got := console.ReplaceAllStringFunc(string(text), func(block string) string {
		body := console.FindStringSubmatch(block)[1]
		var out strings.Builder
		for _, part := range strings.Split("\n"+body, "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			n++
			printed := run(t, command)
			if want != "" && !strings.HasSuffix(want, "\n") {
				want += "\n" // the newline before the next command
			}
			if shows(want, printed) {
				printed = want
			} else if !*update {
				t.Errorf("$ %s\nprints\n%s\nbut the README shows\n%s", command, printed, want)
			}
			out.WriteString("$ " + command + "\n" + printed)
		}
		return "\n```console\n" + out.String() + "```\n"
	})
	if n < 3 {
		t.Errorf("the README has %d commands", n)
	}
	got = formatTable(t, got)
	if *update && got != string(text) {
		if err := os.WriteFile(readme, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// run returns what a command prints, on both outputs.
func run(t *testing.T, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = filepath.Dir(readme) // testscript.Main has put servescope on the path
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("$ %s: %v\n%s", command, err, out)
	}
	return strings.ReplaceAll(string(out), "\r\n", "\n") // CSV
}

// shows says whether want, in which "…" stands for any lines, is got.
func shows(want, got string) bool {
	var re strings.Builder
	for line := range strings.Lines(want) {
		if line == "…\n" {
			re.WriteString(`(.*\n)*`)
		} else {
			re.WriteString(regexp.QuoteMeta(line))
		}
	}
	return regexp.MustCompile("^" + re.String() + "$").MatchString(got)
}

// formatTable puts the table of formats between its marks and reports whether
// it was there already.
func formatTable(t *testing.T, text string) string {
	t.Helper()
	const from, to = "<!-- formats -->\n", "<!-- end of formats -->\n"
	before, rest, ok := strings.Cut(text, from)
	old, after, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatal("the README has no marks for the table of formats")
	}
	var table bytes.Buffer
	table.WriteString("| format | written by |\n| --- | --- |\n")
	for _, f := range all.Set().All() {
		table.WriteString("| `" + f.Name + "` | " + f.Title + " |\n")
	}
	if old != table.String() && !*update {
		t.Errorf("the README lists\n%s\nthe formats are\n%s", old, table.String())
	}
	return before + from + table.String() + to + after
}

func TestShows(t *testing.T) {
	f := func(want, got string, ok bool) {
		t.Helper()
		if shows(want, got) != ok {
			t.Errorf("shows(%q, %q) = %v", want, got, !ok)
		}
	}
	f("", "", true)
	f("a\nb\n", "a\nb\n", true)
	f("a\nb\n", "a\nc\n", false)
	f("a\n…\nd\n", "a\nb\nc\nd\n", true)
	f("a\n…\nd\n", "a\nd\n", true)
	f("a\n…\n", "a\nb\n", true)
	f("a\n…\nd\n", "a\nb\n", false)
	f("a.\n", "ab\n", false)
}
