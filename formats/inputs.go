package formats

import (
	"io"
	"os"

	"servescope/analyzer/diag"
)

// Input is one source to read.
type Input struct {
	Source Source
	Label  string // as in label=path; empty when the user gave none
	Named  bool   // the user named this very file, rather than a directory, a pattern or an archive that holds it
}

// Inputs is everything that the arguments of a command line name.
type Inputs struct {
	List  []Input
	Diags diag.Log // what was skipped or assumed while the arguments were resolved

	pool pool
}

// Close closes the files and removes the temporary files of every source.
func (in *Inputs) Close() error {
	in.pool.close()
	return nil
}

// Expand resolves the arguments of a command line: files.
func Expand(args []string, stdin io.Reader, opt Options) (*Inputs, error) {
	in := new(Inputs)
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			in.Close()
			return nil, err
		}
		in.List = append(in.List, Input{Source: &file{name: arg, size: info.Size(), info: info, pool: &in.pool}, Named: true})
	}
	return in, nil
}
