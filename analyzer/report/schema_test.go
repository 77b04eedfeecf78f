package report

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"servescope/analyzer/diag"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "rewrite schema.json")

// TestSchemaIsCurrent generates the JSON Schemas from the structs and their
// comments and compares them with the files.
func TestSchemaIsCurrent(t *testing.T) {
	for file, got := range map[string][]byte{
		"schema.json":             generate(t, reflect.TypeFor[Report](), Schema),
		"definitions.schema.json": generate(t, reflect.TypeFor[Definitions](), DefinitionsSchema),
	} {
		if *update {
			if err := os.WriteFile(file, got, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the structs say; run go test ./analyzer/report -update", file)
		}
	}
}

// The schemas, compiled once.
var (
	compiled        = compile("schema.json")
	compiledDefined = compile("definitions.schema.json")
)

func compile(name string) func() (*jsonschema.Schema, error) {
	return sync.OnceValues(func() (*jsonschema.Schema, error) {
		file, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(name, doc); err != nil {
			return nil, err
		}
		return c.Compile(name)
	})
}

// validate fails unless data is JSON that schema.json accepts.
func validate(t *testing.T, data []byte) {
	t.Helper()
	validateAs(t, data, compiled)
}

func validateAs(t *testing.T, data []byte, compiled func() (*jsonschema.Schema, error)) {
	t.Helper()
	schema, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%v\n%s", err, data)
	}
}

type object = map[string]any

// generator collects a definition for every struct it meets.
type generator struct {
	t        *testing.T
	defs     object
	comments map[string]string // by "Type" and "Type.Field"
}

func generate(t *testing.T, of reflect.Type, title string) []byte {
	g := &generator{t, object{}, map[string]string{}}
	g.read(".")
	g.read("../diag")
	root := g.schema(of)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = title
	root["$defs"] = g.defs
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// read collects the comments of the structs of the package in dir.
func (g *generator) read(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		g.t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			g.t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				return true
			}
			spec := d.Specs[0].(*ast.TypeSpec)
			name := spec.Name.Name
			g.comments[name] = strings.Join(strings.Fields(d.Doc.Text()), " ")
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, id := range f.Names {
						g.comments[name+"."+id.Name] = strings.Join(strings.Fields(f.Comment.Text()), " ")
					}
				}
			}
			return true
		})
	}
}

func (g *generator) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[Value]():
		return g.either(t, reflect.TypeFor[knownValue](), reflect.TypeFor[nullValue]())
	case reflect.TypeFor[Metric]():
		return g.either(t, reflect.TypeFor[plainMetric](), reflect.TypeFor[nullMetric]())
	case reflect.TypeFor[Requests]():
		return g.either(t, reflect.TypeFor[plainRequests](), reflect.TypeFor[nullRequests]())
	case reflect.TypeFor[diag.Severity]():
		return object{"enum": []any{"info", "notice", "dataloss", "error"}}
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		g.t.Fatalf("%s: say what texts it has", t)
	}
	switch t.Kind() {
	case reflect.Struct:
		return g.ref(t)
	case reflect.Pointer:
		if t == reflect.TypeFor[*float64]() { // the value of what is unknown
			return object{"type": "null"}
		}
		return object{"anyOf": []any{g.schema(t.Elem()), object{"type": "null"}}}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.schema(t.Elem())}
	case reflect.Slice:
		return object{"type": "array", "items": g.schema(t.Elem())}
	case reflect.Array:
		return object{"type": "array", "items": g.schema(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64, reflect.Interface:
		return object{"type": []any{"number", "null"}}
	}
	g.t.Fatalf("no schema for %s", t)
	return nil
}

// either defines t as one of two objects.
func (g *generator) either(t reflect.Type, known, null reflect.Type) object {
	if g.defs[t.Name()] == nil {
		g.defs[t.Name()] = object{
			"description": g.comments[t.Name()],
			"anyOf":       []any{g.ref(known), g.ref(null)},
		}
	}
	return object{"$ref": "#/$defs/" + t.Name()}
}

// ref defines the struct t, once, and refers to it.
func (g *generator) ref(t reflect.Type) object {
	ref := object{"$ref": "#/$defs/" + t.Name()}
	if g.defs[t.Name()] != nil {
		return ref
	}
	properties := object{}
	def := object{"type": "object", "properties": properties}
	g.defs[t.Name()] = def
	doc := g.comments[t.Name()]
	if doc == "" {
		g.t.Errorf("%s has no comment", t.Name())
	}
	def["description"] = doc
	def["required"] = g.properties(t, properties, []string{})
	return ref
}

func (g *generator) properties(t reflect.Type, properties object, required []string) []string {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			required = g.properties(f.Type, properties, required)
			continue
		}
		owner := t.Name()
		if t == reflect.TypeFor[plainMetric]() {
			owner = "Metric"
		}
		if t == reflect.TypeFor[plainRequests]() {
			owner = "Requests"
		}
		doc := g.comments[owner+"."+f.Name]
		if doc == "" {
			g.t.Errorf("%s.%s has no comment", owner, f.Name)
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := g.schema(f.Type)
		p["description"] = doc
		if t == reflect.TypeFor[knownValue]() && f.Name == "Value" {
			p["type"] = "number"
		}
		if t == reflect.TypeFor[Report]() && f.Name == "Schema" {
			p["const"] = Schema
		}
		if properties[name] != nil {
			g.t.Errorf("%s: %s occurs twice", t, name)
		}
		properties[name] = p
		if option != "omitempty" {
			required = append(required, name)
		}
	}
	return required
}

func ExampleReport_MarshalJSON() {
	out, _ := json.Marshal(Report{Schema: Schema})
	fmt.Println(string(out))
	// Output: {"schema":"servescope.report/1","query":{"by":[],"slo":[]},"definition":{"name":"","title":"","percentile_method":"","formulas":{}},"inputs":[],"runs":[],"diags":[]}
}
