package app

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHelp checks that every command has a help text that fits a terminal and
// shows how to use it.
func TestHelp(t *testing.T) {
	for _, c := range new(Process).commands() {
		if c.Hidden {
			continue
		}
		var stdout, stderr bytes.Buffer
		code := Run(context.Background(), &Process{Stdout: &stdout, Stderr: &stderr}, []string{"help", c.Name})
		help := stdout.String()
		if code != 0 || stderr.Len() > 0 {
			t.Errorf("help %s: exit code %d, %s", c.Name, code, stderr.String())
		}
		if !strings.HasPrefix(help, "Usage: servescope "+c.Name) {
			t.Errorf("help %s begins with %.40q", c.Name, help)
		}
		if len(c.Flags) > 0 && !strings.Contains(help, "\nExamples:\n  servescope "+c.Name) {
			t.Errorf("help %s shows no example", c.Name)
		}
		for line := range strings.Lines(help) {
			if n := utf8.RuneCountInString(line) - 1; n > 80 {
				t.Errorf("help %s: %d columns: %s", c.Name, n, line)
			}
		}
	}
}
