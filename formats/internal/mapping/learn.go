package mapping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"servescope/formats"
)

// learn finds the mapping of a text from its head.
func learn(src formats.Source, list []string, lines bool) (*sample, *mapping, error) {
	given, err := parseMap(list)
	if err != nil {
		return nil, nil, err
	}
	rc, err := src.Open(0)
	if err != nil {
		return nil, nil, err
	}
	defer rc.Close()
	head := make([]byte, formats.HeadSize)
	n, err := io.ReadFull(rc, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	parts := partitionsOf(src.Name())
	if lines || ofPairs(head[:n], 2) {
		s := sampleLines(head[:n], given, parts)
		return s, s.learn(given), nil
	}
	s, _ := sampleOf(head[:n], given, parts)
	return s, s.learn(given), nil
}

// learnTable finds the mapping of a columnar table from its first rows. It reads only
// columns whose names are those of some role.
func learnTable(src Table, list []string) (*sample, *mapping, error) {
	given, err := parseMap(list)
	if err != nil {
		return nil, nil, err
	}
	from, err := src.Open(formats.Whole)
	if err != nil {
		return nil, nil, err
	}
	s := &sample{table: &table{flat: true}}
	s.startLearning(given)
	for _, f := range from.Fields() {
		s.names = append(s.names, f.Name)
		if f.Object {
			s.given = append(s.given, f.Name+".")
		}
	}
	s.width = len(s.names)
	s.addProfiles()
	s.rec.cells = make([]cell, len(s.names))
	s.addPartitions(partitionsOf(src.Name))
	s.typed = newTyped(context.Background(), from, func(i int) bool {
		p := &s.profiles[i]
		for r := noRole + 1; r < roles; r++ {
			if matchName(r, p.joined, p.levels) >= 0 {
				return true
			}
		}
		return s.holds([]byte(s.names[i])) || slices.ContainsFunc(given, func(a assignment) bool { return s.index(a.column) == i })
	})
	for i := range s.width {
		s.profiles[i].typed = &s.typed.fields[i]
	}
	s.profileAll(nil)
	if err := from.Err(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	return s, s.learn(given), nil
}

// Learn implements formats.Format.Learn for texts.
func Learn(src formats.Source, given []string) (list []string, ask string, err error) {
	if src == nil {
		_, err := parseMap(given)
		return nil, "", err
	}
	_, m, err := learn(src, given, false)
	if err != nil {
		return nil, "", err
	}
	list, ask = m.assignments()
	return list, ask, nil
}

// LearnTable does for a columnar table what Learn does for a text.
func LearnTable(src Table, given []string) (list []string, ask string, err error) {
	_, m, err := learnTable(src, given)
	if err != nil {
		return nil, "", err
	}
	list, ask = m.assignments()
	return list, ask, nil
}
