package app

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// words returns the candidates for the last of the words.
func words(t *testing.T, args ...string) []string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &Process{Stdout: &stdout, Stderr: &stderr}
	if code := Run(context.Background(), p, append([]string{"__complete"}, args...)); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, %s", code, stderr.String())
	}
	var out []string
	for line := range strings.Lines(stdout.String()) {
		word, _, ok := strings.Cut(line, "\t")
		if !ok {
			t.Errorf("candidate %q has no meaning column", line)
		}
		out = append(out, word)
	}
	return out
}

func TestComplete(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		got := words(t, strings.Split(line, " ")...)
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	f("comp", "completion")
	f("completion ", "bash zsh fish")
	f("completion z", "zsh")
	f("help vers", "version")
	f("version --h", "--help")
	f("gate --compare ttft,t", "ttft,ttft ttft,ttft_client ttft,ttft_server ttft,tpot")
	f("gate --format m", "markdown")
	f("analyze --for", "--format")
	f("analyze a.json --format js", "json")
	f("analyze --format=js", "--format=json")
	f("analyze --format = js", "json") // bash parts words at "="
	f("analyze --format =", strings.Join(append(slices.Clone(analyzeForms), formatNames()...), " "))
	f("convert --format parq", "parquet")
	f("convert --table tok", "tokens")
	f("analyze --trim s", "steady")
	f("analyze --aborts ", "missed exclude")
	f("analyze -f vllmb", "vllmbench")
	f("analyze --strict --definition sgl", "sglang")
	f("analyze --filter --format", "") // the value of --filter
	f("analyze --filter x --format j", "json")
	f("analyze -- --form", "")
	f("analyze x", "")
	f("define ttft_cl", "ttft_client ttft_client_from_schedule")
	f("version x", "")
	f("nonsense ", "")
	f("__comp", "") // hidden
}

// TestCompletionInShells loads each script in its shell and has it complete.
func TestCompletionInShells(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "servescope"), "servescope/cli/servescope")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f := func(shell, program, want string) {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("%s is not installed", shell)
			}
			cmd := exec.Command(path)
			cmd.Stdin = strings.NewReader(program)
			cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+bin)
			out, err := cmd.CombinedOutput()
			if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
	f("bash", `
eval "$(servescope completion bash)"
f() { COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _servescope; echo "${COMPREPLY[@]}"; }
f servescope comp
f servescope completion ""
f servescope version LIC`, "completion bash zsh fish")
	f("zsh", `
compdef() { : }
_describe() { print -- "${(@P)2%%:*}" }
_files() { print FILES }
eval "$(servescope completion zsh)"
f() { words=("$@"); CURRENT=$#; _servescope }
f servescope comp
f servescope completion ""
f servescope version LIC`, "completion bash zsh fish FILES")
	f("fish", `
servescope completion fish | source
complete -C "servescope comp" | string split -f1 \t
complete -C "servescope completion " | string split -f1 \t
cd $HOME; complete -C "servescope version serve"`, "completion bash fish zsh servescope")
}
