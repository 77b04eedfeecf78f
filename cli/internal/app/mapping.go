package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

// mapping reads --map: assignments of roles to columns, or @FILE with an object
// of them, {"ttft": "latency.first:ms"}.
func mapping(c *cli.Context) ([]string, error) {
	var list []string
	for _, text := range c.StringSlice("map") {
		name, file := strings.CutPrefix(text, "@")
		if !file {
			list = append(list, text)
			continue
		}
		more, err := mappingFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	if _, _, err := all.Set().Learner(&formats.Head{}).Learn(nil, list); err != nil {
		return nil, usagef("--map: %s", err).with("servescope inspect --suggest-mapping FILE writes a mapping to begin with")
	}
	return list, nil
}

// mappingFile reads a mapping, its members in the order of the file.
func mappingFile(name string) ([]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--map: %w", err)
	}
	bad := func(err error) ([]string, error) {
		return nil, usagef("--map @%s: %s", name, err).with(`write an object: {"ttft": "latency.first:ms", "model": "model"}`)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return bad(fmt.Errorf("this is no JSON object"))
	}
	var list []string
	for d.More() {
		var value string
		key, err := d.Token()
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return bad(err)
		}
		list = append(list, fmt.Sprintf("%s=%s", key, value))
	}
	if _, err := d.Token(); err != nil {
		return bad(err)
	}
	return list, nil
}

// suggest prints the mapping that is inferred of every input, to be edited and
// given to --map.
func (p *Process) suggest(c *cli.Context) error {
	given, err := mapping(c)
	if err != nil {
		return err
	}
	inputs, err := source.Expand(c.Args().Slice(), p.Stdin, formats.Options{Context: c.Context, Now: p.Now})
	if err != nil {
		return err
	}
	defer inputs.Close()
	if len(inputs.List) != 1 {
		return usagef("--suggest-mapping: there are %d inputs; name one", len(inputs.List))
	}
	src := inputs.List[0].Source
	head, err := formats.ReadHead(src)
	if err != nil {
		return err
	}
	list, ask, err := all.Set().Learner(head).Learn(src, given)
	if err != nil {
		return err
	}
	var b strings.Builder
	for i, text := range list {
		role, column, _ := strings.Cut(text, "=")
		value, err := json.Marshal(column)
		if err != nil {
			return err
		}
		sep := ","
		if i == len(list)-1 {
			sep = ""
		}
		fmt.Fprintf(&b, "  %q: %s%s\n", role, value, sep)
	}
	if len(list) > 0 {
		if _, err := fmt.Fprintf(p.Stdout, "{\n%s}\n", b.String()); err != nil {
			return err
		}
	}
	if ask != "" {
		return fmt.Errorf("%s: %s", src.Name(), ask)
	}
	return nil
}
