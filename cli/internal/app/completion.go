package app

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/gate"
	"servescope/analyzer/query"
	"servescope/formats/all"
)

//go:embed completion
var scripts embed.FS

var shells = []string{"bash", "zsh", "fish"}

func (p *Process) completion() *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print a script that completes commands, flags and values",
		UsageText:   "servescope completion bash|zsh|fish",
		Description: `Prints a script that completes commands, flags and their values in a shell.`,
		ArgsUsage: `  eval "$(servescope completion bash)"           in ~/.bashrc
  eval "$(servescope completion zsh)"            in ~/.zshrc, after compinit
  servescope completion fish | source            in ~/.config/fish/config.fish`,
		Action: func(c *cli.Context) error {
			script, err := scripts.ReadFile("completion/servescope." + c.Args().First())
			if err != nil || c.NArg() != 1 {
				return usagef("completion takes the name of a shell").with("one of %s", strings.Join(shells, ", "))
			}
			_, err = p.Stdout.Write(script)
			return err
		},
	}
}

// complete is the hidden command that the scripts call. Its arguments are the
// words after the program's name, of which the last is to be completed. It
// prints each candidate and its meaning, separated by a tab. No output means
// file names.
func (p *Process) complete() *cli.Command {
	return &cli.Command{
		Name:            "__complete",
		Hidden:          true,
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			for _, candidate := range candidates(c.App.Commands, c.Args().Slice()) {
				if _, err := fmt.Fprintf(p.Stdout, "%s\t%s\n", candidate.word, candidate.meaning); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

type candidate struct{ word, meaning string }

// candidates returns the completions of the last word.
func candidates(commands []*cli.Command, words []string) []candidate {
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	if len(words) == 1 {
		return matching(last, "", commandNames(commands))
	}
	var cmd *cli.Command
	for _, c := range commands {
		if c.HasName(words[0]) && !c.Hidden {
			cmd = c
		}
	}
	if cmd == nil {
		return nil
	}
	before := words[1 : len(words)-1]
	if n := len(before); n > 0 && before[n-1] == "=" { // bash makes "=" a word of its own
		before = before[:n-1]
	} else if last == "=" {
		last = ""
	}
	operand := false
	for i := 0; i < len(before); i++ {
		operand = operand || before[i] == "--"
		takes, known := takesValue(cmd.Flags, strings.TrimLeft(before[i], "-"))
		if operand || !isFlag(before[i]) || !known || !takes {
			continue
		}
		if i++; i == len(before) {
			return valued(cmd.Name, before[i-1], last, "")
		}
	}
	if !operand && strings.HasPrefix(last, "-") {
		if flag, value, ok := strings.Cut(last, "="); ok {
			return valued(cmd.Name, flag, value, flag+"=")
		}
		return matching(last, "", flagNames(cmd.Flags))
	}
	if cmd.Name == "define" && slices.ContainsFunc(before, func(w string) bool { return strings.HasPrefix(strings.TrimLeft(w, "-"), "compare") }) {
		return nil // files
	}
	return matching(last, "", operands(cmd.Name, commands))
}

// valued returns the completions of a flag's value, each after prefix. In a
// list with commas, it completes the last entry.
func valued(command, flag, start, prefix string) []candidate {
	flag = strings.TrimLeft(flag, "-")
	if i := strings.LastIndexByte(start, ','); i >= 0 && (flag == "compare" || flag == "by") {
		start, prefix = start[i+1:], prefix+start[:i+1]
	}
	return matching(start, prefix, values(command, flag))
}

// matching returns the candidates that begin with start, each after prefix.
func matching(start, prefix string, all []candidate) []candidate {
	var out []candidate
	for _, c := range all {
		if strings.HasPrefix(c.word, start) {
			out = append(out, candidate{prefix + c.word, c.meaning})
		}
	}
	return out
}

func commandNames(commands []*cli.Command) []candidate {
	var out []candidate
	for _, c := range commands {
		if !c.Hidden {
			out = append(out, candidate{c.Name, c.Usage})
		}
	}
	return out
}

func flagNames(flags []cli.Flag) []candidate {
	out := make([]candidate, 0, len(flags)+1)
	for _, f := range flags {
		if d, ok := f.(cli.DocGenerationFlag); ok {
			out = append(out, candidate{"--" + f.Names()[0], strings.ReplaceAll(d.GetUsage(), "`", "")})
		}
	}
	return append(out, candidate{"--help", "show help"})
}

// operands returns the operands of a command whose operands are not files.
func operands(command string, commands []*cli.Command) []candidate {
	switch command {
	case "help":
		return commandNames(commands)
	case "completion":
		return plain(shells)
	case "define":
		return defineNames()
	}
	return nil
}

// values returns the values of a command's flag, or nil if they cannot be
// listed.
func values(command, flag string) []candidate {
	switch flag {
	case "color":
		return plain(whens)
	case "input-format", "f":
		return formatList()
	case "format":
		switch command {
		case "analyze":
			return append(plain(analyzeForms), formatList()...)
		case "gate":
			return append(plain(gateForms), formatList()...)
		case "inspect":
			return append(plain(inspectForms), formatList()...)
		case "convert":
			inputs := formatList() // some input formats have the name of an output form
			return append(plain(kinds()), slices.DeleteFunc(inputs, func(c candidate) bool { return slices.Contains(kinds(), c.word) })...)
		}
		return append(plain(renderers), formatList()...)
	case "definition":
		return definitionList()
	case "compare":
		if command == "gate" {
			return plain(gate.Metrics)
		}
		return append(definitionList(), candidate{everySet, "every definition set"})
	case "by":
		return plain(query.Dimensions)
	case "trim":
		return plain([]string{"steady", "warmup="})
	case "aborts":
		return plain([]string{"missed", "exclude"})
	case "table":
		return plain(tables)
	case "timestamps":
		return plain(timestampUnits)
	}
	return nil
}

func formatList() []candidate {
	var out []candidate
	for _, f := range all.Set().All() {
		out = append(out, candidate{f.Name, f.Title})
	}
	return out
}

func plain(words []string) []candidate {
	out := make([]candidate, len(words))
	for i, w := range words {
		out[i].word = w
	}
	return out
}
