package main

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// recipe matches the command of the job in the README, folded over lines as YAML does.
var recipe = regexp.MustCompile(`(?s)\n        run: >\n((?:          [^\n]*\n)+)`)

// TestRecipe runs the command of the README's job on a result that misses the service
// level: it fails with 3, and the comment is there as the next step of the job asks.
func TestRecipe(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	job := recipe.FindStringSubmatch(string(text))
	if job == nil || !strings.Contains(string(text), "hashFiles('comment.md')") || !strings.Contains(string(text), "--body-file comment.md") {
		t.Fatal("the README has no job that comments")
	}
	result, err := os.ReadFile("../../testdata/sample/vllm-bench.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"result.json", "baseline.json"} {
		if err := os.WriteFile(dir+"/"+name, result, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-c", strings.Join(strings.Fields(job[1]), " "))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("%v, want exit code 3: %s", err, out)
	}
	comment, err := os.ReadFile(dir + "/comment.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"- **gate** not met\n", "| ttft=500ms,tpot=50ms | ≥95 % | 85.94 % |", "**change** may grow by 10 % against baseline.json\n"} {
		if !strings.Contains(string(comment), part) {
			t.Errorf("the comment lacks %q:\n%s", part, comment)
		}
	}
}
