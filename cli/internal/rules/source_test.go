package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// exact lists the functions of package math whose results are the same bits on
// every target: they round no further than + − × ÷ do, or not at all.
var exact = []string{
	"Abs", "Ceil", "Copysign", "Float32bits", "Float32frombits", "Float64bits", "Float64frombits", "Floor",
	"Inf", "IsInf", "IsNaN", "NaN", "Round", "RoundToEven", "Signbit", "Sqrt", "Trunc",
}

// worldly lists what only the command may touch, by package.
var worldly = map[string][]string{
	"time":    {"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until", "Local"},
	"os":      {"Args", "Environ", "Exit", "ExpandEnv", "Getenv", "LookupEnv", "Setenv", "Stderr", "Stdin", "Stdout"},
	"runtime": {"GOMAXPROCS", "NumCPU", "NumGoroutine"},
	"fmt":     {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// source is one Go file of the tree.
type source struct {
	name string // slash-separated, relative to the module's folder
	text []byte
	fset *token.FileSet
	file *ast.File
}

func (s *source) test() bool { return strings.HasSuffix(s.name, "_test.go") }

// core says whether the rules of the core bind the file.
func (s *source) core() bool {
	return !s.test() && !strings.HasPrefix(s.name, "formats/formatstest/") && !strings.HasPrefix(s.name, "formats/tokenlog/emitters/") &&
		(strings.HasPrefix(s.name, "analyzer/") || strings.HasPrefix(s.name, "formats/"))
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// sources returns every hand-written Go file.
func sources(t *testing.T) []*source {
	t.Helper()
	var all []*source
	dir := root(t)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || generated.Match(text) {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(name), text)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func parse(name string, text []byte) (*source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	return &source{name, text, fset, file}, err
}

func TestCore(t *testing.T) {
	n := 0
	for _, s := range sources(t) {
		if s.core() {
			n++
			for _, e := range uncore(s) {
				t.Error(e)
			}
		}
	}
	if n < 15 {
		t.Fatalf("only %d files of the core were seen", n)
	}
}

// uncore returns the uses in s of what the core must not touch.
func uncore(s *source) []string {
	local := make(map[string]string) // identifier → import path
	for _, imp := range s.file.Imports {
		path, _ := strconv.Unquote(imp.Path.Value)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if imp.Name != nil {
			name = imp.Name.Name
		}
		local[name] = path
	}
	var out []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok || id.Obj != nil { // a local variable hides the package
			return true
		}
		path, name := local[id.Name], sel.Sel.Name
		if path == "math" && !slices.Contains(exact, name) && !constant(name) || slices.Contains(worldly[path], name) {
			out = append(out, fmt.Sprintf("%s: %s.%s", s.fset.Position(sel.Pos()), path, name))
		}
		return true
	})
	return out
}

// constant says whether name is one of math's constants (MaxInt64, Pi).
func constant(name string) bool {
	return regexp.MustCompile(`^(Max(Int|Uint|Float)\d*|MinInt\d*|SmallestNonzeroFloat(32|64)|Pi|E|Ln2|Ln10|Sqrt2)$`).MatchString(name)
}

// TestSourceRules holds the rules themselves to what they must find.
func TestSourceRules(t *testing.T) {
	f := func(name, text string, want int) {
		t.Helper()
		s, err := parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if s.core() {
			got = uncore(s)
		}
		if len(got) != want {
			t.Errorf("%s: got %q, want %d findings", name, got, want)
		}
	}
	f("analyzer/a.go", "package p\nimport \"math\"\nvar x = math.Sqrt(2) + math.MaxFloat64\n", 0)
	f("analyzer/a.go", "package p\nimport \"math\"\nvar x = math.Exp(2) + math.FMA(1, 2, 3) + math.Max(1, 2)\n", 3)
	f("analyzer/a.go", "package p\nimport m \"math\"\nvar x = m.Pow(2, 3)\n", 1)
	f("formats/x/a.go", "package p\nimport \"time\"\nvar x, y = time.Now(), time.Unix(0, 0)\n", 1)
	f("formats/x/a.go", "package p\nimport \"os\"\nvar x, y = os.Getenv(\"A\"), os.Open\n", 1)
	f("formats/formatstest/a.go", "package p\nimport \"os\"\nvar x = os.Getenv(\"A\")\n", 0)
	f("cli/a.go", "package p\nimport \"time\"\nvar x = time.Now()\n", 0)
}
