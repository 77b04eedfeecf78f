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
		return s.Partial(marks...)
	}
	return s
}

// marks are what lines have, in a log of another program, of the formats of text that
// the core is without. That a line has one costs no more than loading the whole.
var marks = []string{
	"# TYPE ", "vllm:", "sglang:", "ray_vllm_", // promtext
	"total_time", "text_generation_router::", // tgi
	"eval time", `"predicted_ms"`, // llamacpp
	"[GIN] ",                          // ollama
	"== Info", "=> Send ", "<= Recv ", // sse: traces of curl
	"data:", "[DONE]", `completion"`, `completion.chunk"`, `"choices"`, `"delta"`, `"usage"`, `"meta_info"`, // sse: events behind a stamp
	`"details"`, `"message"`, `"response"`, `"type"`, `"error"`, `"token"`,
}
