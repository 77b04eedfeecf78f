// Package source opens what the arguments of a command line name, or the files that
// a page was given, as sources: files, pipes, members of archives, decompressed, as
// UTF-8 and without the framing of a container runtime. It also owns the temporary
// files of all that does not fit in memory.
package source

import (
	"servescope/analyzer/diag"
	"servescope/formats"
)

// Input is one source to read.
type Input struct {
	Source formats.Source
	Label  string // as in label=path; empty when the user gave none
	Named  bool   // the user named this very file, rather than a directory or an archive that holds it
}

// Inputs is everything that the arguments of a command line name. Its sources
// can be read until Close.
type Inputs struct {
	List  []Input
	Diags diag.Log // what was skipped or assumed while the arguments were resolved

	pool   pool
	spools spools
	bases  []formats.Source // archives, whose faults are those of no member alone
}

// ArchiveFaults returns the faults, seen so far, of the archives that inputs are
// members of. Those of an input itself are at FaultsOf.
func (in *Inputs) ArchiveFaults() *diag.Log {
	log := new(diag.Log)
	for _, src := range in.bases {
		log.Merge(formats.FaultsOf(src))
	}
	return log
}

// Close closes the files and removes the temporary files of every source. None
// may be in use.
func (in *Inputs) Close() error {
	in.pool.close()
	return in.spools.close()
}

// TempFile returns a temporary file that Close removes, or nil where none may be
// written.
func (in *Inputs) TempFile() *TempFile {
	if in.spools.dir == "" {
		return nil
	}
	return in.spools.tempFile()
}
