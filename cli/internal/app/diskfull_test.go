//go:build linux

package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallDisk mounts a file system of the given size, for whose removal the test
// sees.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// manyRequests is a token log of n requests.
func manyRequests(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"request_id":"request-%d","arrival":%d.5,"token_timestamps":[%d.75,%d.875]}`+"\n", i*7919, i, i, i)
	}
	return b.String()
}

// TestDiskFull fills the disk for temporary files, with what of standard input
// does not fit the memory and with the columns of requests, and the disk that the
// report goes to: one error with advice, nothing left behind, no half a report.
func TestDiskFull(t *testing.T) {
	log := manyRequests(20_000)
	file := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(file, []byte(log), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args  []string
		stdin string
		temp  bool // the temporary files' disk is small, not the report's
	}{
		"spooled": {[]string{"-", "--memory", "4KiB"}, log, true},
		"columns": {[]string{file, "--memory", "4KiB"}, "", true},
		"csv":     {nil, "", false},
		"arrow":   {nil, "", false},
		"arrows":  {nil, "", false},
		"parquet": {nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			small := smallDisk(t, "64k")
			temp, out := t.TempDir(), filepath.Join(small, "out.json")
			if c.temp {
				temp, out = small, filepath.Join(t.TempDir(), "out.json")
			}
			if err := os.WriteFile(out, []byte("old"), 0o666); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"analyze", "-o", out}, c.args...)
			if !c.temp {
				args = []string{"convert", "-o", out, "--format", name, file}
			}
			t.Setenv("TMPDIR", temp)
			var stdout, stderr bytes.Buffer
			code := Run(context.Background(), &Process{Stdin: strings.NewReader(c.stdin), Stdout: &stdout, Stderr: &stderr, Getenv: os.Getenv}, args)
			text := stderr.String()
			if code != 1 || stdout.Len() > 0 || !strings.Contains(text, "no space left on device") || strings.Contains(text, ".tmp") {
				t.Errorf("exit code %d, %s%s", code, text, stdout.String())
			}
			if !strings.HasPrefix(text, "servescope: "+map[bool]string{true: "a temporary", false: "output " + out}[c.temp]) && name != "spooled" || !strings.Contains(text, "\nhint: ") {
				t.Errorf("no advice: %s", text)
			}
			if got, _ := os.ReadFile(out); string(got) != "old" {
				t.Errorf("the output holds %d bytes", len(got))
			}
			for _, dir := range []string{temp, filepath.Dir(out)} {
				list, err := os.ReadDir(dir)
				if err != nil || len(list) > 1 || len(list) == 1 && list[0].Name() != "out.json" {
					t.Errorf("left behind in %s: %v, %v", dir, list, err)
				}
			}
		})
	}
}
