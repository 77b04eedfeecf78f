package formats

// Head is what detection sees of a source: its first 64 KiB and, when it can
// be read at any offset, 64 KiB at 1/4, 1/2 and 3/4.
type Head struct {
	Name    string   // for messages; detection never trusts it
	Size    int64    // -1 when unknown
	Start   []byte   // the first bytes, decoded to UTF-8 without BOM
	Samples [][]byte // further samples; each begins in the middle of a line
}

// Set is a list of formats to choose from.
type Set struct{ formats []*Format }

// NewSet returns a set of the given formats, ordered by priority.
func NewSet(list ...*Format) *Set {
	return &Set{formats: list}
}
