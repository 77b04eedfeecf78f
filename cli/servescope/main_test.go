package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"servescope": main})
}

// command returns the path of the program for tests outside of scripts.
func command(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("servescope") // testscript.Main puts it there
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestScript runs the command as a user does; see testdata/script.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitCode, "gzip": gzipFile, "zstd": zstdFile, "tar": tarFiles, "binary": binary,
		},
	})
}

// exitCode is the script command "exitcode N command args…": it runs the
// command and fails unless it exits with N.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N command args...")
	}
	got := 0
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// gzipFile is the script command "gzip FILE OUT".
func gzipFile(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(errors.Join(err, w.Close(), os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o666)))
}

// zstdFile is the script command "zstd FILE OUT".
func zstdFile(ts *testscript.TestScript, _ bool, args []string) {
	w, err := zstd.NewWriter(nil)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), w.EncodeAll([]byte(ts.ReadFile(args[0])), nil), 0o666))
}

// tarFiles is the script command "tar OUT FILE...".
func tarFiles(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range args[1:] {
		text := ts.ReadFile(name)
		ts.Check(w.WriteHeader(&tar.Header{Name: name, Mode: 0o666, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		ts.Check(err)
	}
	ts.Check(errors.Join(w.Close(), os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666)))
}

// binary is the script command "binary OUT": a file that is no text.
func binary(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte("\x01\x00\xff\xfe\x00\x80"), 0o666))
}
