package source

import (
	"encoding/binary"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// Unpack returns the readable sources that the given ones hold: decompressed,
// the members of archives one by one, as UTF-8, without the framing of a
// container runtime. What a source is, its content decides and never its name.
// Expand does this for the arguments of a command line; a page, which has files
// but no paths, begins here.
func Unpack(list []Input, opt formats.Options) (*Inputs, error) {
	in := &Inputs{spools: newSpools(opt)}
	u := newUnpacker(in, opt)
	for _, input := range list {
		if err := u.add(input); err != nil {
			in.Close()
			return nil, err
		}
	}
	return in, nil
}

// unpacker adds to in what is found in sources.
type unpacker struct {
	in      *Inputs
	limits  limits
	line    int // longest line put together from the parts of a framed log
	workers int
}

func newUnpacker(in *Inputs, opt formats.Options) *unpacker {
	return &unpacker{in: in, limits: defaultLimits, line: int(min(memory(opt)/8, 64<<20)), workers: opt.Workers}
}

func (u *unpacker) layer(base formats.Source, d decode) formats.Source {
	return &layer{base: base, decode: d, limits: u.limits, workers: u.workers}
}

// container is what a source is wrapped in.
type container uint8

const (
	plain container = iota
	gzipFile
	zstdFile
	zstdMessages
	zipFile
	tarFile
)

var streams = map[container]decode{gzipFile: gunzip, zstdFile: unzstd, zstdMessages: unmessage}

// containerOf returns what the text that begins with b is wrapped in.
func containerOf(b []byte) container {
	const zstdMagic = 0xfd2fb528
	is := func(magic string) bool { return strings.HasPrefix(string(b[:min(len(b), 8)]), magic) }
	switch {
	case is("\x1f\x8b\x08"):
		return gzipFile
	case is("PK\x03\x04"), is("PK\x05\x06"), is("PK\x07\x08"):
		return zipFile
	case isTar(b):
		return tarFile
	}
	word := func(i int) uint32 {
		if len(b) < i+4 {
			return 0
		}
		return binary.LittleEndian.Uint32(b[i:])
	}
	switch {
	case word(0) == zstdMagic, word(0)&^15 == 0x184d2a50: // the latter is a frame to skip
		return zstdFile
	case word(4) == zstdMagic:
		return zstdMessages
	}
	return plain
}

// add adds what input holds. It fails only for an input that the user named;
// one that was found is reported in a diag.
func (u *unpacker) add(input Input) error {
	if err := u.open(input, false); err != nil {
		if input.Named {
			return err
		}
		u.in.Diags.Add(diag.Diag{Code: "unreadable", Severity: diag.Error, File: input.Source.Name(), Offset: -1, Msg: err.Error()})
	}
	return nil
}

// open adds what input holds; nested is true for a member of an archive.
func (u *unpacker) open(input Input, nested bool) error {
	src := input.Source
	start, err := peek(src)
	if err != nil {
		return err
	}
	kind := containerOf(start)
	for depth := 0; streams[kind] != nil && depth < 2; depth++ {
		src = u.layer(src, streams[kind])
		if start, err = peek(src); err != nil {
			return err
		}
		kind = containerOf(start)
	}
	switch {
	case kind == plain:
		input.Source = u.text(src, start)
		u.in.List = append(u.in.List, input)
		return nil
	case nested || streams[kind] != nil:
		u.skip("nested_archive", diag.DataLoss, src.Name(), 1, "an archive within an archive was not read", "unpack the outer one first")
		return nil
	}
	if src.At() == nil {
		if src, err = u.respool(src); err != nil {
			return err
		}
	}
	u.in.bases = append(u.in.bases, src)
	input.Named = false
	if kind == zipFile {
		return u.zip(input, src)
	}
	return u.tar(input, src)
}

// skip records that n things in the named file were left out.
func (u *unpacker) skip(code string, s diag.Severity, file string, n int, msg, fix string) {
	if n > 0 {
		u.in.Diags.Add(diag.Diag{Code: code, Severity: s, File: file, Offset: -1, Count: int64(n), Msg: msg, Fix: fix})
	}
}

// respool decompresses src once, so that it can be read anywhere.
func (u *unpacker) respool(src formats.Source) (formats.Source, error) {
	r, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sp, err := u.in.spools.fill(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	u.in.Diags.Merge(formats.FaultsOf(src))
	return FromReaderAt(src.Name(), sp, sp.size, src.ModTime()), nil
}

// peek returns the beginning of src.
func peek(src formats.Source) ([]byte, error) {
	r, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return formats.ReadUpTo(r, formats.HeadSize)
}

// members are the members of one archive.
type members struct {
	u       *unpacker
	archive Input
	src     formats.Source
	index   map[string]int // of the name in the list
	list    []formats.Source
	hidden  int
	special int
	twice   int
}

func (u *unpacker) members(archive Input, src formats.Source) *members {
	return &members{u: u, archive: archive, src: src, index: make(map[string]int)}
}

// name returns the name of a member as a source, and whether it is wanted.
func (m *members) name(raw string, regular bool) (string, bool) {
	name := path.Clean("/" + strings.ReplaceAll(raw, `\`, "/"))[1:]
	switch {
	case isHidden(name):
		m.hidden++
	case !regular:
		m.special++
	default:
		return m.src.Name() + "!" + printable(name), true
	}
	return "", false
}

// add adds a member. A later one replaces an earlier one of the same name, as
// it does when the archive is unpacked. It returns false when there are too many.
func (m *members) add(src formats.Source) bool {
	if i, ok := m.index[src.Name()]; ok {
		m.list[i] = src
		m.twice++
		return true
	}
	if len(m.list) >= m.u.limits.members {
		m.u.skip("too_many_members", diag.DataLoss, m.src.Name(), 1,
			fmt.Sprintf("the archive has more than %d members, which is the limit; the rest was not read", m.u.limits.members), "unpack it first")
		return false
	}
	m.index[src.Name()] = len(m.list)
	m.list = append(m.list, src)
	return true
}

// done adds the sources of all members.
func (m *members) done() error {
	name := m.src.Name()
	m.u.skip("hidden_skipped", diag.Info, name, m.hidden, "hidden members were skipped", "")
	m.u.skip("special_skipped", diag.Info, name, m.special, "links and other members that are no files were skipped", "")
	m.u.skip("member_replaced", diag.Notice, name, m.twice, "members were left out because a later one has the same name", "")
	for _, src := range m.list {
		input := m.archive
		input.Source = src
		if err := m.u.open(input, true); err != nil {
			m.u.skip("unreadable", diag.Error, src.Name(), 1, err.Error(), "")
		}
	}
	return nil
}

// isHidden reports whether a path, relative and separated by slashes, leads to
// something that its system hides.
func isHidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") && part != "." && part != ".." || part == "__MACOSX" {
			return true
		}
	}
	return false
}

// printable returns name fit for a terminal: an archive may name its members
// anything.
func printable(name string) string {
	const most = 1024
	if len(name) > most {
		name = name[:most]
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(name, string(utf8.RuneError)))
}
