package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func testApp() *cli.App {
	return &cli.App{Commands: []*cli.Command{
		{Name: "analyze", Flags: []cli.Flag{
			&cli.StringFlag{Name: "format"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}},
			&cli.StringSliceFlag{Name: "by"},
			&cli.BoolFlag{Name: "strict"},
		}},
		{Name: "version"}, {Name: "help"},
	}}
}

func TestArrange(t *testing.T) {
	f := func(args, want string) {
		t.Helper()
		got, err := arrange(testApp(), strings.Fields(args))
		if err != nil {
			t.Errorf("%s: %v", args, err)
		} else if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
	f("analyze a.json", "analyze -- a.json")
	f("analyze a.json --format json", "analyze --format json -- a.json")
	f("analyze a --strict b --by=model c -o out d", "analyze --strict --by=model -o out -- a b c d")
	f("analyze a --by x --by y", "analyze --by x --by y -- a")
	f("analyze -", "analyze -- -")
	f("analyze -o - a", "analyze -o - -- a")
	f("analyze -o -x a", "analyze -o -x -- a") // a value may look like a flag
	f("analyze -- --format a", "analyze -- --format a")
	f("analyze a --strict -- -b --", "analyze --strict -- a -b --")
	f("analyze --format -- a", "analyze --format -- -- a") // the value of --format
	f("analyze --help a", "help -- analyze")
	f("analyze a -h --nonsense", "help -- analyze")
	f("analyze --format -h -- -h", "analyze --format -h -- -h")
	f("--version", "version --")
	f("--help", "help --")
	f("-h analyze", "help -- analyze")
}

func TestArrangeRefuses(t *testing.T) {
	f := func(args, msg, hint string) {
		t.Helper()
		got, err := arrange(testApp(), strings.Fields(args))
		u, ok := err.(*usageError)
		if !ok {
			t.Fatalf("%s: got %q, %v, want a usage error", args, got, err)
		}
		if u.msg != msg || u.hint != hint {
			t.Errorf("%s: got %q, hint %q, want %q, hint %q", args, u.msg, u.hint, msg, hint)
		}
	}
	f("analyse a", `unknown command "analyse"`, "did you mean servescope analyze?")
	f("result.json", `unknown command "result.json"`, "to analyze a file: servescope analyze result.json")
	f("dir/*.json", `unknown command "dir/*.json"`, "to analyze a file: servescope analyze dir/*.json")
	f("xyzzyx", `unknown command "xyzzyx"`, "servescope help lists the commands")
	f("--strict analyze", "flag --strict before a command", "the command comes first: servescope analyze FILE --strict")
	f("analyze a --fromat json", "unknown flag --fromat", "did you mean --format?")
	f("analyze a --zzzzzz", "unknown flag --zzzzzz", "servescope help analyze lists the flags")
	f("analyze a -z", "unknown flag -z", "servescope help analyze lists the flags")
	f("analyze a --output", "flag --output needs a value", "servescope help analyze lists the flags")
}
