package tokenlog

import (
	"flag"
	"go/doc/comment"
	goparser "go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the page of the documentation")

// TestPage holds docs/tokenlog.md to the specification: its second half is the
// package's documentation.
func TestPage(t *testing.T) {
	const page, mark = "../../docs/tokenlog.md", "<!-- from here on as in formats/tokenlog/doc.go -->\n\n"
	file, err := goparser.ParseFile(token.NewFileSet(), "doc.go", nil, goparser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	printer := comment.Printer{HeadingLevel: 2, HeadingID: func(*comment.Heading) string { return "" }}
	want := string(printer.Markdown(new(comment.Parser).Parse(file.Doc.Text())))
	_, want, _ = strings.Cut(want, "\n\n") // what a package is
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, got, found := strings.Cut(string(text), mark)
	if !found {
		t.Fatalf("%s has no line %q", page, mark)
	}
	if *update {
		if err := os.WriteFile(page, []byte(head+mark+want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != want {
		t.Errorf("%s is not what doc.go says: go test ./formats/tokenlog -run TestPage -update", page)
	}
}
