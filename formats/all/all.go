// Package all is the list of every format. It is the only package that knows
// them all; each format adds itself in a file of its own:
//
//	package all
//
//	import "servescope/formats/tokenlog"
//
//	func init() { add(&tokenlog.Format) }
package all

import "servescope/formats"

var list []*formats.Format

// partial is whether formats are left out: browsers begin with a core that is small,
// and load the whole, which the tag full builds, for the files that need it.
var partial bool

func add(f *formats.Format) { list = append(list, f) }

// Set returns the set of every format, or of those that are built in.
func Set() *formats.Set {
	s := formats.NewSet(list...)
	if partial {
		return s.Partial()
	}
	return s
}
