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

func add(f *formats.Format) { list = append(list, f) }

// Set returns the set of every format.
func Set() *formats.Set { return formats.NewSet(list...) }
