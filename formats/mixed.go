package formats

import "bytes"

// Other is a format that some lines of a source are of, which is read as another.
type Other struct {
	Format *Format
	Lines  int64 // at least
}

const (
	maxGroups = 8
	groupSize = 16 << 10 // bytes of a group that formats are asked about
)

// group is the lines of a head that look alike: objects by their first names, and
// lines of text.
type group struct {
	names [3]string // empty: text
	lines int64
	text  []byte
}

// Others tells which formats else lines of h are of, where it is read as f: logs of
// several programs are written into one file.
func (s *Set) Others(h *Head, f *Format) (others []Other) {
	groups := h.groups()
	add := func(g *Format, lines int64) {
		for k := range others {
			if others[k].Format == g {
				others[k].Lines += lines
				return
			}
		}
		others = append(others, Other{g, lines})
	}
	for i := range groups {
		g := &groups[i]
		head := &Head{Name: h.Name, Size: int64(len(g.text)), Start: g.text}
		switch score, _ := f.Sniff(head); {
		case g.names[0] == "" && score >= Likely:
			s.amid(head, f, add)
			continue
		case score > No:
			continue
		}
		if found, err := s.Detect(head); err == nil && found.Score >= Likely {
			add(found.Format, g.lines)
		}
	}
	return others
}

// amid looks for lines of text that are of another format, among those of f.
func (s *Set) amid(h *Head, f *Format, add func(g *Format, lines int64)) {
	for _, g := range s.formats {
		if g == f || g.Loose {
			continue
		}
		if score, _ := g.Sniff(h); score < Likely {
			continue
		}
		n, found := int64(0), &Head{Name: h.Name}
		for _, line := range h.Lines() {
			one := &Head{Name: h.Name, Size: int64(len(line)), Start: line}
			if score, _ := g.Sniff(one); score < Likely {
				continue
			}
			if score, _ := f.Sniff(one); score < Maybe {
				n++
				found.Start = append(append(found.Start, line...), '\n')
			}
		}
		found.Size = int64(len(found.Start))
		if score, _ := g.Sniff(found); n > 1 && score >= Likely { // one line may be quoted
			add(g, n)
		}
	}
}

// groups sorts the lines of a head into groups, in the order in which these begin.
func (h *Head) groups() (groups []group) {
	for i, text := range append([][]byte{h.Start}, h.Samples...) {
		if i > 0 { // a sample begins in the middle of a line
			text = text[bytes.IndexByte(text, '\n')+1:]
		}
		if k := bytes.LastIndexByte(text, '\n'); !h.Whole() {
			text = text[:k+1]
		}
		for line := range bytes.Lines(text) {
			if line[0] <= ' ' || len(line) < 4 { // blank, a part of a record, or its end
				continue
			}
			var names [3]string
			for k, key := range Keys(bytes.TrimPrefix(line[:min(len(line), 512)], []byte("["))) {
				if k < len(names) {
					names[k] = key.Name
				}
			}
			k := 0
			for k < len(groups) && groups[k].names != names {
				k++
			}
			if k == len(groups) {
				if k == maxGroups {
					continue
				}
				groups = append(groups, group{names: names})
			}
			g := &groups[k]
			if g.lines++; len(g.text) < groupSize {
				g.text = append(g.text, line...)
			}
		}
	}
	return groups
}
