package rules

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pkg is what `go list -json` says of a package.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

const module = "servescope/"

// leaves lists the packages that may import nothing but the standard library
// and what is named here.
var leaves = map[string]string{
	"analyzer/unit":    `^$`,
	"analyzer/stat":    `^$`,
	"analyzer/diag":    `^servescope/analyzer/unit$`,
	"analyzer/trace":   `^servescope/analyzer/(unit|diag)$`,
	"analyzer/report":  `^servescope/analyzer/(unit|diag|stat|sorting)$`,
	"analyzer/sorting": `^$`,

	"analyzer/trace/record": `^(servescope/analyzer/(trace|unit)|github.com/apache/arrow-go/v18/arrow(/array|/memory)?)$`,
}

// shared lists the packages below formats that are not formats.
var shared = []string{"servescope/formats/all", "servescope/formats/formatstest", "servescope/formats/source"}

// only lists imports (by pattern) and the packages (by pattern, without the
// module's name) that alone may have them.
var only = []struct{ what, who, why string }{
	{`^(github.com/apache/arrow-go/v18/arrow(/array|/memory)?|servescope/analyzer/trace/record)$`, `^(analyzer/trace/record|analyzer/render/arrow|formats/arrow\w*|wasm/bridge|cli/.*)$`,
		"Arrow's arrays add 0.25 MB to the browser's core"},
	{`^github.com/apache/arrow-go/v18/arrow/ipc`, `^(analyzer/render/arrow|formats/arrow\w*|wasm/bridge)$`,
		"IPC adds 3 MB to the browser module"},
	{`^github.com/parquet-go/`, `^(analyzer/render/parquet|formats/parquet\w*)$`,
		"Parquet adds 13 MB to the browser module"},
	{`^github.com/apache/arrow-go/v18/(arrow/(compute|flight)|parquet)`, `^$`,
		"12 to 60 MB of code"},
	{oneFormat, `^formats/all$`, "only formats/all knows every format"},
	{`^servescope/formats/internal/`, `^formats(/|$)`, "internal to the formats"},
	{`^servescope/formats(/.*)?$`, `^(formats(/.*)?|analyzer(/(dataset|load|selection|fold|assemble|view))?|cli/.*|wasm/.*)$`,
		"kernels, metrics, decompositions, joins and renderers never see a format"},
	{`^servescope/analyzer/(kernel|metric|report|render|query|decompose|join)(/.*)?$`, `^(analyzer(/.*)?|cli/.*|wasm/.*)$`,
		"a format imports formats, formats/source, formats/internal/*, trace, diag and unit"},
	{`^servescope/(cli|wasm)/`, `^(cli|wasm)/`, "the core does not know its faces"},
	{`^(flag|os/signal|os/exec|net|net/http|log|log/slog|github.com/urfave/.*|github.com/schollz/.*)$`,
		`^(cli|wasm|formats/tokenlog/emitters)/|^formats/formatstest`, "only the command touches flags, signals, processes, the network and logs"},
	{`^servescope/testdata/`, `^(testdata/|cli/internal/bench$)`, "it makes test data: nothing of the product links it"},
	{`^syscall/js$`, `^wasm/(browser|worker)$`, "the rest of the core is tested natively"},
}

const oneFormat = `^servescope/formats/[^/]+$`

// list returns the packages of the module and all they depend on, as built for
// the given target.
func list(t *testing.T, env ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for d := json.NewDecoder(out); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return all
}

// root returns the module's folder.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestImports(t *testing.T) {
	for _, target := range [][]string{nil, {"GOOS=js", "GOARCH=wasm"}} {
		all := list(t, target...)
		standard := make(map[string]bool)
		for _, p := range all {
			standard[p.ImportPath] = p.Standard
		}
		ours := 0
		for _, p := range all {
			name, ok := strings.CutPrefix(p.ImportPath, module)
			if !ok {
				continue
			}
			ours++
			for _, b := range broken(name, p.Imports, standard) {
				t.Errorf("%v %s %s", target, name, b)
			}
		}
		if ours < 8 {
			t.Fatalf("%v: go list named %d packages of ours", target, ours)
		}
	}
}

// broken returns the rules that the imports of the package break.
func broken(name string, imports []string, standard map[string]bool) []string {
	var out []string
	for _, imp := range imports {
		if allowed, ok := leaves[name]; ok && !standard[imp] && !regexp.MustCompile(allowed).MatchString(imp) {
			out = append(out, "imports "+imp+": it may import only "+allowed)
		}
		for _, r := range only {
			if r.what == oneFormat && slices.Contains(shared, imp) {
				continue
			}
			if regexp.MustCompile(r.what).MatchString(imp) && !regexp.MustCompile(r.who).MatchString(name) {
				out = append(out, "imports "+imp+": "+r.why)
			}
		}
	}
	return out
}

// TestImportRules holds the rules to imports that they must allow and refuse.
func TestImportRules(t *testing.T) {
	standard := map[string]bool{"flag": true, "os": true, "syscall/js": true}
	f := func(name, imp string, want bool) {
		t.Helper()
		if got := len(broken(name, []string{imp}, standard)) == 0; got != want {
			t.Errorf("%s imports %s: allowed %v, want %v", name, imp, got, want)
		}
	}
	f("formats/tokenlog", "servescope/formats", true)
	f("formats/tokenlog", "servescope/formats/internal/numx", true)
	f("formats/tokenlog", "servescope/analyzer/trace", true)
	f("formats/tokenlog", "servescope/formats/vllmbench", false)
	f("formats/tokenlog", "servescope/analyzer/kernel", false)
	f("formats/tokenlog", "servescope/analyzer/report", false)
	f("formats/tokenlog", "flag", false)
	f("formats/all", "servescope/formats/tokenlog", true)
	f("analyzer", "servescope/formats", true)
	f("analyzer", "servescope/formats/tokenlog", false)
	f("analyzer/kernel", "servescope/formats", false)
	f("analyzer/metric", "servescope/formats", false)
	f("analyzer/stat", "servescope/analyzer/unit", false)
	f("analyzer/report", "github.com/apache/arrow-go/v18/arrow", false)
	f("analyzer/trace", "github.com/apache/arrow-go/v18/arrow/array", false)
	f("analyzer/trace/record", "github.com/apache/arrow-go/v18/arrow/array", true)
	f("analyzer/trace/record", "github.com/apache/arrow-go/v18/arrow/ipc", false)
	f("analyzer/trace", "github.com/apache/arrow-go/v18/arrow/ipc", false)
	f("analyzer/render/arrow", "github.com/apache/arrow-go/v18/arrow/ipc", true)
	f("analyzer/render/parquet", "github.com/parquet-go/parquet-go", true)
	f("analyzer/render", "github.com/parquet-go/parquet-go", false)
	f("cli/internal/app", "github.com/apache/arrow-go/v18/arrow/compute", false)
	f("cli/internal/app", "servescope/formats/all", true)
	f("analyzer/decompose", "servescope/testdata/generate/simulate", false)
	f("cli/internal/app", "servescope/testdata/generate/simulate", false)
	f("cli/internal/bench", "servescope/testdata/generate/shapes", true)
	f("wasm/bridge", "syscall/js", false)
	f("wasm/browser", "syscall/js", true)
}

// TestNeverLinked looks through everything that is linked, not at direct
// imports only: these packages cost 12 to 60 MB each.
func TestNeverLinked(t *testing.T) {
	banned := regexp.MustCompile(`^github.com/apache/arrow-go/v18/(arrow/(compute|flight)|parquet)(/|$)|^github.com/goccy/go-json`)
	for _, p := range list(t, "GOFLAGS=-tags=arrow_json_stdlib") {
		if strings.HasPrefix(p.ImportPath, module) && slices.ContainsFunc(p.Deps, banned.MatchString) {
			i := slices.IndexFunc(p.Deps, banned.MatchString)
			t.Errorf("%s links %s", p.ImportPath, p.Deps[i])
		}
	}
}
