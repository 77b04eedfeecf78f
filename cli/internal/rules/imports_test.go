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
	"analyzer/unit":   `^$`,
	"analyzer/stat":   `^$`,
	"analyzer/diag":   `^servescope/analyzer/unit$`,
	"analyzer/trace":  `^servescope/analyzer/(unit|diag)$`,
	"analyzer/report": `^servescope/analyzer/(unit|diag|stat)$`,

	"analyzer/trace/record": `^(servescope/analyzer/(trace|unit)|github.com/apache/arrow-go/v18/arrow(/array|/memory)?)$`,
}

// shared lists the packages in the folders of formats and kernels that are neither.
var shared = []string{
	"servescope/formats/all", "servescope/formats/formatstest", "servescope/formats/source",
	"servescope/analyzer/kernel/all", "servescope/analyzer/kernel/cell", "servescope/analyzer/kernel/kerneltest", "servescope/analyzer/kernel/request",
}

// may lists packages (by pattern, without the module's name) and the packages of
// this module (by pattern) that they may import.
var may = []struct{ who, what, why string }{
	{`^formats(/source|/internal/\w+)?$|` + strings.Replace(oneFormat, module, "", 1), `^servescope/(formats(/.*)?|analyzer/(unit|diag|sorting|trace(/.*)?))$`,
		"a format sees bytes and rows, and nothing that computes with them"},
	{`^analyzer/(metric|query|decompose|join|audit|kernel)(/.*)?$`, `^servescope/analyzer/(unit|diag|stat|sorting|collective|trace(/.*)?|report|metric|query|decompose(/.*)?|join|kernel(/.*)?)$`,
		"what computes sees no input, no stage and no renderer"},
	{`^analyzer/gate$`, `^servescope/analyzer/(unit|diag|stat|query|metric|report)$`, "a question reads no file and prints nothing"},
	{`^analyzer/render(/.*)?$`, `^servescope/analyzer/(unit|diag|trace(/.*)?|report|metric|gate|render(/.*)?)$`, "a renderer computes nothing"},
}

// notYet lists imports that break a rule of may, until they are gone.
var notYet = map[string]string{
	"analyzer/render/table": `^servescope/analyzer/kernel(/request)?$`,
}

// only lists imports (by pattern) and the packages (by pattern, without the
// module's name) that alone may have them.
var only = []struct{ what, who, why string }{
	{`^(github.com/apache/arrow-go/v18/arrow(/array|/memory)?|servescope/analyzer/trace/record)$`, `^(analyzer/trace/record|analyzer/render/arrow|formats/arrow|wasm/bridge)$`,
		"Arrow's arrays are for those who exchange them: our columns are slices"},
	{`^github.com/apache/arrow-go/v18/arrow/ipc`, `^(analyzer/render/arrow|formats/arrow|wasm/bridge)$`,
		"IPC adds 3 MB of code"},
	{`^github.com/parquet-go/`, `^(analyzer/render/parquet|formats/parquet)$`,
		"Parquet is read in one place and written in one"},
	{`^github.com/apache/arrow-go/v18/(arrow/(compute|flight)|parquet)`, `^$`,
		"12 to 60 MB of code"},
	{oneFormat, `^formats/all$`, "only formats/all knows every format"},
	{oneKernel, `^analyzer(/kernel/all|/dataset|/load|/selection|/fold|/assemble|/view)?$`, "no kernel knows another: each can be deleted"},
	{`^servescope/formats/internal/`, `^formats(/|$)`, "internal to the formats"},
	{`^servescope/formats(/.*)?$`, `^(formats(/.*)?|analyzer(/(dataset|load|selection|fold|assemble|view))?|cli/.*|wasm/.*)$`,
		"kernels, metrics, decompositions, joins and renderers never see a format"},
	{`^servescope/analyzer/(dataset|load|selection|fold|assemble|view)$`, `^analyzer(/(load|selection|fold|assemble|view))?$`,
		"the stages stand behind the facade"},
	{`^servescope/analyzer/render(/.*)?$`, `^(analyzer/render(/.*)?|cli/.*|wasm/.*)$`, "a report is a value: its readers print it"},
	{`^servescope/(cli|wasm)/`, `^(cli|wasm)/`, "the core does not know its faces"},
	{`^(flag|os/signal|os/exec|net|net/http|log|log/slog|github.com/urfave/.*|github.com/schollz/.*)$`,
		`^(cli|wasm|formats/tokenlog/emitters)/|^formats/formatstest`, "only the command touches flags, signals, processes, the network and logs"},
	{`^servescope/testdata/`, `^(testdata/|cli/internal/bench$)`, "it makes test data: nothing of the product links it"},
	{`^syscall/js$`, `^wasm/(browser|worker)$`, "the rest of the core is tested natively"},
}

const (
	oneFormat = `^servescope/formats/[^/]+$`
	oneKernel = `^servescope/analyzer/kernel/[^/]+$`
)

// list returns the packages of the module and all they depend on, as built for
// the given target.
func list(t *testing.T, env ...string) []pkg {
	t.Helper()
	key := strings.Join(env, " ")
	if all, ok := lists[key]; ok {
		return all
	}
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
	lists[key] = all
	return all
}

// lists holds what list returned, by target: go list takes a second.
var lists = make(map[string][]pkg)

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
		for _, r := range may {
			bound := strings.HasPrefix(imp, module) && regexp.MustCompile(r.who).MatchString(name) && !slices.Contains(shared, module+name)
			later, ok := notYet[name]
			if bound && !regexp.MustCompile(r.what).MatchString(imp) && !(ok && regexp.MustCompile(later).MatchString(imp)) {
				out = append(out, "imports "+imp+": "+r.why)
			}
		}
		for _, r := range only {
			if (r.what == oneFormat || r.what == oneKernel) && slices.Contains(shared, imp) {
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
	f("analyzer/kernel/latency", "servescope/analyzer/kernel/cell", true)
	f("analyzer/kernel/latency", "servescope/analyzer/kernel/tokens", false)
	f("analyzer/kernel/latency", "servescope/analyzer/render", false)
	f("analyzer/kernel/latency", "servescope/analyzer/load", false)
	f("analyzer/kernel/all", "servescope/analyzer/kernel/tokens", true)
	f("analyzer/assemble", "servescope/analyzer/fold", true)
	f("analyzer/assemble", "servescope/analyzer/render", false)
	f("wasm/bridge", "servescope/analyzer/fold", false)
	f("analyzer/gate", "servescope/analyzer/render", false)
	f("analyzer/gate", "servescope/formats", false)
	f("analyzer/render", "servescope/analyzer/decompose", false)
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
