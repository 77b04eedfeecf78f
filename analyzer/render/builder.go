package render

import (
	"cmp"
	"fmt"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
	"slices"
	"strings"
)

// builder makes the document of a report.
type builder struct {
	*document
	rep *report.Report
}

// value prints a value with its unit, or a dash with the reason as a footnote.
func (b *builder) value(v report.Value) string {
	c := b.valueCell(v)
	return c.text + superscript(c.note)
}

func (b *builder) valueCell(v report.Value) cell {
	f, ok := v.Float()
	if !ok {
		return cell{text: "—", note: b.note(reason(v.Reason))}
	}
	c := cell{text: unit.Format(v.Unit, f)}
	if v.Note != "" {
		c.note = b.note(words(v.Note))
	}
	return c
}

// remark sets the footnote of a cell.
func (b *builder) remark(c *cell, why []string) {
	if len(why) > 0 {
		c.note = b.note(strings.Join(why, "; "))
	}
}

// nonEmpty returns the texts that are not empty.
func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// with returns s and its suffix, or nothing when s is empty.
func with(s, suffix string) string {
	if s == "" {
		return ""
	}
	return s + suffix
}

// byCount returns the keys, the largest count first.
func byCount(m map[string]int64) []string {
	keys := sortedKeys(m)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(m[b], m[a]) })
	return keys
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// nextTo joins what a table is about.
func nextTo(texts ...string) string { return strings.Join(nonEmpty(texts...), ": ") }
