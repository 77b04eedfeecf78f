// Command core is the core without the command around it: it prints the report
// of the files it is given as JSON. Built for browsers it shows how large the
// core is there, and whether it prints the same bytes as natively.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"servescope/analyzer"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "core:", err)
		os.Exit(1)
	}
}

func run(files []string) error {
	inputs, err := source.Expand(files, os.Stdin, formats.Options{Workers: 1})
	if err != nil {
		return err
	}
	session, err := analyzer.Open(context.Background(), all.Set(), inputs, "", analyzer.Options{})
	if err != nil {
		inputs.Close()
		return err
	}
	defer session.Close()
	report, err := session.Run(context.Background(), new(query.Query))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	if err := render.JSON(out, report); err != nil {
		return err
	}
	return out.Flush()
}
