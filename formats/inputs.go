package formats

import "servescope/analyzer/diag"

// Input is one source to read.
type Input struct {
	Source Source
	Label  string // as in label=path; empty when the user gave none
	Named  bool   // the user named this very file, rather than a directory or an archive that holds it
}

// Inputs is everything that the arguments of a command line name. Its sources
// can be read until Close.
type Inputs struct {
	List  []Input
	Diags diag.Log // what was skipped or assumed while the arguments were resolved

	pool    pool
	scratch scratch
	bases   []Source // archives, whose faults are those of no member alone
}

// Faults returns Diags and the faults that reading the sources has brought to
// light so far, each counted once however often a source was read.
func (in *Inputs) Faults() *diag.Log {
	log := new(diag.Log)
	log.Merge(&in.Diags)
	for _, src := range in.bases {
		log.Merge(FaultsOf(src))
	}
	for _, input := range in.List {
		log.Merge(FaultsOf(input.Source))
	}
	return log
}

// Close closes the files and removes the temporary files of every source. None
// may be in use.
func (in *Inputs) Close() error {
	in.pool.close()
	return in.scratch.close()
}
