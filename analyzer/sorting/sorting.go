// Package sorting sorts slices with code that all types share. slices.SortFunc
// compiles its nine functions anew for each type of elements, some ten
// kilobytes each time, which the browser's module cannot afford for lists that
// are sorted once.
package sorting

import "sort"

// By sorts x by cmp, as slices.SortFunc does: not stable, so cmp should tell
// all elements apart.
func By[E any](x []E, cmp func(a, b E) int) { sort.Sort(&list[E]{x, cmp}) }

// Stable sorts x by cmp and keeps the order of equal elements.
func Stable[E any](x []E, cmp func(a, b E) int) { sort.Stable(&list[E]{x, cmp}) }

// list implements sort.Interface.
type list[E any] struct {
	x   []E
	cmp func(a, b E) int
}

func (l *list[E]) Len() int           { return len(l.x) }
func (l *list[E]) Less(i, j int) bool { return l.cmp(l.x[i], l.x[j]) < 0 }
func (l *list[E]) Swap(i, j int)      { l.x[i], l.x[j] = l.x[j], l.x[i] }
