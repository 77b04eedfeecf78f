package source

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"strings"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// isTar reports whether b begins with a tar header: its checksum tells.
func isTar(b []byte) bool {
	const from, to = 148, 156 // of the checksum, which counts as spaces
	if len(b) < 512 || b[0] == 0 {
		return false
	}
	want := 0
	for _, c := range strings.Trim(string(b[from:to]), " \x00") {
		if c < '0' || c > '7' {
			return false
		}
		want = want<<3 | int(c-'0')
	}
	sum := (to - from) * int(' ')
	for i, c := range b[:512] {
		if i < from || i >= to {
			sum += int(c)
		}
	}
	return want > 0 && sum == want
}

// tar adds the members of the tar archive src.
func (u *unpacker) tar(input Input, src formats.Source) error {
	m := u.members(input, src)
	r := io.NewSectionReader(src.At(), 0, src.Size())
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		pos, _ := r.Seek(0, io.SeekCurrent) // where the member's data begins: the reader does not read ahead
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			if !errors.Is(err, tar.ErrHeader) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return fmt.Errorf("%s: %w", src.Name(), err)
			}
			u.in.Diags.Add(diag.Diag{Code: "corrupt_tar", Severity: diag.DataLoss, File: src.Name(), Offset: pos,
				Msg: "the tar archive is damaged or cut off; the members before were used", Fix: "copy the archive again"})
			break
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		name, ok := m.name(h.Name, h.Typeflag == tar.TypeReg && !isSparse(h))
		if !ok {
			continue
		}
		size := max(min(h.Size, src.Size()-pos), 0)
		if !m.add(&section{name: name, at: src.At(), off: pos, size: size, mod: h.ModTime}) {
			break
		}
	}
	return m.done()
}

// isSparse reports whether a member's data has holes, so that it is not simply
// a section of the archive.
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}
