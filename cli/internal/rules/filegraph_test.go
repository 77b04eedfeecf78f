package rules

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxCycle is the largest number of files of one package of the analyzer that may
// use each other in a circle: a few files may be one thought, a whole package may
// not.
const maxCycle = 8

// largeCycles lists the packages that are not there yet, with the number of files in
// their largest circle: exactly that number, so that it only ever goes down.
var largeCycles = map[string]int{}

// scattered lists the types whose methods are still in several files that are not
// named by them.
var scattered = map[string][]string{
	"analyzer/join": {"Links"},
}

// stages lists the stages of an analysis from left to right. A stage imports only
// stages to its left.
var stages = []string{"dataset", "load", "selection", "fold", "assemble", "view"}

// checked is one package of ours, type-checked, with the file of each declaration.
type checked struct {
	path  string // within the module
	fset  *token.FileSet
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

// TestFileGraph checks the circles of files in each package of the analyzer and
// prints the five largest.
func TestFileGraph(t *testing.T) {
	type circle struct {
		path  string
		files []string
	}
	var worst []circle
	largest := make(map[string]int)
	for _, s := range analyzerSources(t) {
		for _, files := range circles(s.uses()) {
			if len(files) > 1 {
				worst = append(worst, circle{s.path, files})
			}
			if len(files) > max(maxCycle, largeCycles[s.path]) {
				t.Errorf("%s: %d files use each other in a circle, at most %d may: %s", s.path, len(files), max(maxCycle, largeCycles[s.path]), strings.Join(files, " "))
			}
			largest[s.path] = max(largest[s.path], len(files))
		}
	}
	for path, listed := range largeCycles {
		if n := largest[path]; n <= maxCycle {
			t.Errorf("%s: no circle has more than %d files any more: take it out of largeCycles", path, maxCycle)
		} else if n < listed {
			t.Errorf("%s: the largest circle has %d files: write that in largeCycles, which says %d", path, n, listed)
		}
	}
	slices.SortStableFunc(worst, func(a, b circle) int { return len(b.files) - len(a.files) })
	for _, c := range worst[:min(5, len(worst))] {
		t.Logf("%d files in a circle in %s: %s", len(c.files), c.path, strings.Join(c.files, " "))
	}
}

// TestMethodsTogether checks that the methods of a type are in one file, or in
// files whose names begin with the name of the type, without a final State: those
// of latencyState may be in latency.go and latencymerge.go. The methods of a
// kernel's type state may also be in state.go, report.go and codec.go of its folder.
func TestMethodsTogether(t *testing.T) {
	found := make(map[string][]string)
	for _, s := range analyzerSources(t) {
		for name, files := range s.methodFiles() {
			if len(files) == 1 || prefixed(s.path, name, files) {
				continue
			}
			found[s.path] = append(found[s.path], name)
			if !slices.Contains(scattered[s.path], name) {
				t.Errorf("%s: the methods of %s are in %s: name the files by the type, or move them together", s.path, name, strings.Join(files, ", "))
			}
		}
	}
	for path, names := range scattered {
		for _, name := range names {
			if !slices.Contains(found[path], name) {
				t.Errorf("%s: the methods of %s stand together: take it out of scattered", path, name)
			}
		}
	}
}

// TestStages checks that no stage imports a stage to its right.
func TestStages(t *testing.T) {
	for _, p := range list(t) {
		name, ok := strings.CutPrefix(p.ImportPath, module+"analyzer/")
		from := slices.Index(stages, name)
		if !ok || from < 0 {
			continue
		}
		for _, imp := range p.Imports {
			if imp == module+"analyzer" {
				t.Errorf("stage %s imports the facade", name)
			}
			if to := slices.Index(stages, strings.TrimPrefix(imp, module+"analyzer/")); to > from {
				t.Errorf("stage %s imports %s, which is to its right", name, stages[to])
			}
		}
	}
}

// TestFileGraphRules checks that the checks find what they are for.
func TestFileGraphRules(t *testing.T) {
	got := fmt.Sprint(circles(map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": nil}))
	if want := "[[d] [a b c]]"; got != want {
		t.Errorf("circles: got %s, want %s", got, want)
	}
	for _, c := range []struct {
		path, name string
		files      []string
		want       bool
	}{
		{"analyzer/load", "reader", []string{"reader.go", "readerlines.go"}, true},
		{"analyzer/load", "reader", []string{"reader.go", "lines.go"}, false},
		{"analyzer/kernel/latency", "state", []string{"state.go", "report.go"}, true},
		{"analyzer/load", "state", []string{"state.go", "report.go"}, false},
	} {
		if got := prefixed(c.path, c.name, c.files); got != c.want {
			t.Errorf("prefixed(%q, %q, %q) = %t", c.path, c.name, c.files, got)
		}
	}
}

// prefixed reports whether the files that hold the methods of a type are named by it.
func prefixed(path, name string, files []string) bool {
	name = strings.ToLower(name)
	for _, f := range files {
		short := strings.TrimSuffix(name, "state")
		ownFile := strings.HasPrefix(f, name) || short != "" && strings.HasPrefix(f, short)
		kernelFile := strings.HasPrefix(path, "analyzer/kernel/") && name == "state" && slices.Contains([]string{"state.go", "report.go", "codec.go"}, f)
		if !ownFile && !kernelFile {
			return false
		}
	}
	return true
}

// methodFiles returns the names of the files with methods of each type.
func (s *checked) methodFiles() map[string][]string {
	out := make(map[string][]string)
	for _, f := range s.files {
		base := filepath.Base(s.fset.Position(f.Pos()).Filename)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			method := s.info.Defs[fn.Name].(*types.Func)
			recv := method.Signature().Recv().Type()
			if p, ok := recv.(*types.Pointer); ok {
				recv = p.Elem()
			}
			name := recv.(*types.Named).Obj().Name()
			if !slices.Contains(out[name], base) {
				out[name] = append(out[name], base)
			}
		}
	}
	return out
}

// uses returns for each file of the package the files whose declarations it uses.
// A method counts by the file that declares it, a field by the file of its struct.
func (s *checked) uses() map[string][]string {
	out := make(map[string][]string)
	for _, f := range s.files {
		out[filepath.Base(s.fset.Position(f.Pos()).Filename)] = nil
	}
	for id, o := range s.info.Uses {
		switch v := o.(type) {
		case *types.Func:
			o = v.Origin()
		case *types.Var:
			o = v.Origin()
		}
		if o.Pkg() != s.pkg || o.Parent() != s.pkg.Scope() && !isMember(o) {
			continue
		}
		from := filepath.Base(s.fset.Position(id.Pos()).Filename)
		to := filepath.Base(s.fset.Position(o.Pos()).Filename)
		if from != to && !slices.Contains(out[from], to) {
			out[from] = append(out[from], to)
		}
	}
	return out
}

// isMember reports whether o is a field or a method.
func isMember(o types.Object) bool {
	switch o := o.(type) {
	case *types.Func:
		return o.Signature().Recv() != nil
	case *types.Var:
		return o.IsField()
	}
	return false
}

// circles returns the strongly connected components of a graph (Tarjan's algorithm).
func circles(next map[string][]string) [][]string {
	index, low := make(map[string]int), make(map[string]int)
	var stack []string
	var out [][]string
	var visit func(string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack = append(stack, v)
		for _, w := range next[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if slices.Contains(stack, w) {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] == index[v] {
			at := slices.Index(stack, v)
			part := slices.Sorted(slices.Values(stack[at:]))
			stack, out = stack[:at], append(out, part)
		}
	}
	names := make([]string, 0, len(next))
	for v := range next {
		names = append(names, v)
	}
	slices.Sort(names)
	for _, v := range names {
		if index[v] == 0 {
			visit(v)
		}
	}
	return out
}

// analyzerSources type-checks the packages of the analyzer once for all tests. The
// types of what they import come from the compiler's export data.
func analyzerSources(t *testing.T) []*checked {
	t.Helper()
	if analyzerPackages != nil {
		return analyzerPackages
	}
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export", "./analyzer/...")
	cmd.Dir = root(t)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	exports := make(map[string]string)
	var ours []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.ImportPath == module+"analyzer" || strings.HasPrefix(p.ImportPath, module+"analyzer/") {
			ours = append(ours, p)
		}
	}
	if len(ours) < 10 {
		t.Fatalf("go list named %d packages of the analyzer", len(ours))
	}
	fset := token.NewFileSet()
	gc := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	for _, p := range ours {
		s := &checked{path: strings.TrimPrefix(p.ImportPath, module), fset: fset,
			info: &types.Info{Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object)}}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			s.files = append(s.files, f)
		}
		config := types.Config{Importer: gc}
		if s.pkg, err = config.Check(p.ImportPath, fset, s.files, s.info); err != nil {
			t.Fatal(err)
		}
		analyzerPackages = append(analyzerPackages, s)
	}
	return analyzerPackages
}

var analyzerPackages []*checked
