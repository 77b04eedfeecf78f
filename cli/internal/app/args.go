package app

import (
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/query"
)

// arrange puts the flags of a command line before its operands, because the
// library stops at the first operand. So users may write them in any order.
// "--" ends the flags, "-" is an operand, and the value of a flag is never
// treated as either. arrange refuses unknown commands and flags, and flags
// without their value.
func arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, usagef("no command given").with("%s help lists the commands; %s analyze FILE is the one you want", programName, programName)
	}
	switch args[0] {
	case "--version":
		args = append([]string{"version"}, args[1:]...)
	case "--help", "-h":
		args = append([]string{"help"}, args[1:]...)
	}
	cmd := app.Command(args[0])
	if cmd == nil {
		return nil, unknownCommand(app, args[0])
	}
	if cmd.SkipFlagParsing {
		return args, nil
	}
	flags, operands, err := split(cmd.Flags, args[1:], programName+" help "+cmd.Name+" lists the flags")
	if err == errHelp {
		return []string{"help", "--", cmd.Name}, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.Concat(args[:1], flags, []string{"--"}, operands), nil
}

// errHelp reports that the command line asks for a command's help.
var errHelp = errors.New("help requested")

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// split divides args into flags with their values, and operands. Errors carry
// advice as their hint.
func split(known []cli.Flag, args []string, advice string) (flags, operands []string, _ error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return flags, append(operands, args[i+1:]...), nil
		case !isFlag(arg):
			operands = append(operands, arg)
			continue
		}
		flags = append(flags, arg)
		name, _, valued := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "help" || name == "h" {
			return nil, nil, errHelp
		}
		takes, ok := takesValue(known, name)
		if !ok {
			return nil, nil, unknownFlag(known, arg, name, advice)
		}
		if !takes || valued {
			continue
		}
		if i++; i == len(args) {
			return nil, nil, usagef("flag %s needs a value", arg).with("%s", advice)
		}
		flags = append(flags, args[i])
	}
	return flags, operands, nil
}

// takesValue reports whether the named flag takes a value, and whether the flag
// exists.
func takesValue(known []cli.Flag, name string) (takes, ok bool) {
	for _, f := range known {
		if slices.Contains(f.Names(), name) {
			d, ok := f.(cli.DocGenerationFlag)
			return ok && d.TakesValue(), true
		}
	}
	return false, false
}

func unknownFlag(known []cli.Flag, arg, name, advice string) error {
	e := usagef("unknown flag %s", arg)
	var names []string
	for _, f := range known {
		names = append(names, f.Names()...)
	}
	if n := query.Nearest(name, append(names, "help")); len(n) > 1 {
		return e.with("did you mean --%s?", n)
	}
	return e.with("%s", advice)
}

func unknownCommand(app *cli.App, name string) error {
	e := usagef("unknown command %q", name)
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Names()...)
	}
	if isFlag(name) {
		return usagef("flag %s before a command", name).with("the command comes first: %s analyze FILE %s", programName, name)
	}
	if n := query.Nearest(name, names); n != "" {
		return e.with("did you mean %s %s?", programName, n)
	}
	if strings.ContainsAny(name, `./\*=`) {
		return e.with("to analyze a file: %s analyze %s", programName, name)
	}
	return e.with("%s help lists the commands", programName)
}
