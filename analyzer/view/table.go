package view

import (
	"cmp"
	"math"
	"slices"
)

// showColumns shows every selected request.
func showColumns(v *viewer, out *Columns) error {
	list, err := v.named(append([]string{"row"}, v.p.Columns...))
	if err != nil {
		return err
	}
	out.List = list
	out.Facts["n"] = float64(len(list[0].Floats))
	return nil
}

// showRequests shows a page of requests in the order of a column, nulls last and ties
// in the order of inputs.
func showRequests(v *viewer, out *Columns) error {
	list, err := v.named(append([]string{"row"}, v.p.Columns...))
	if err != nil {
		return err
	}
	order, err := sortedBy(v)
	if err != nil {
		return err
	}
	total := len(list[0].Floats)
	from := min(max(v.p.Offset, 0), total)
	to := total
	if v.p.Limit > 0 {
		to = min(total, from+v.p.Limit)
	}
	out.Facts["total"], out.Facts["n"] = float64(total), float64(to-from)
	for i := range list {
		c := &list[i]
		page := Column{Name: c.Name, Text: c.Text, Values: c.Values}
		for k := from; k < to; k++ {
			at := k
			if order != nil {
				at = int(order[k])
			}
			if c.Text {
				page.Codes = append(page.Codes, c.Codes[at])
			} else {
				page.Floats = append(page.Floats, c.Floats[at])
			}
		}
		out.List = append(out.List, page)
	}
	return nil
}

// sortedBy returns the order of the requests, or nil for the order of the inputs.
func sortedBy(v *viewer) ([]int32, error) {
	if v.p.Sort == "" {
		return nil, nil
	}
	by := v.p.Sort
	if v.p.Desc {
		by += " down"
	}
	if v.by == by {
		return v.order, nil
	}
	c, err := v.column(v.p.Sort)
	if err != nil {
		return nil, err
	}
	keys := c.Floats
	if c.Text {
		keys = make([]float64, len(c.Codes))
		for i, code := range c.Codes {
			keys[i] = float64(code)
			if code < 0 {
				keys[i] = math.NaN()
			}
		}
	}
	order := make([]int32, len(keys))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := keys[a], keys[b]
		switch {
		case !isNumber(x) || !isNumber(y):
			return cmp.Compare(boolOf(!isNumber(x)), boolOf(!isNumber(y)))
		case v.p.Desc:
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	})
	v.order, v.by = order, by
	return order, nil
}

func boolOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// showValues shows what a column of texts holds, the most frequent first.
func showValues(v *viewer, out *Columns) error {
	c, err := v.column(v.p.Column)
	if err != nil {
		return err
	}
	if !c.Text {
		return viewError(v.p.Column + " is not a text")
	}
	counts := make([]float64, len(c.Values))
	nulls := 0
	for _, code := range c.Codes {
		if code < 0 {
			nulls++
		} else {
			counts[code]++
		}
	}
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	if v.p.Limit > 0 && len(order) > v.p.Limit {
		order = order[:v.p.Limit]
	}
	value, count := Column{Name: "value", Text: true}, Column{Name: "count"}
	for i, k := range order {
		value.Values, value.Codes = append(value.Values, c.Values[k]), append(value.Codes, int32(i))
		count.Floats = append(count.Floats, counts[k])
	}
	out.List = []Column{value, count}
	out.Facts["n"], out.Facts["total"], out.Facts["nulls"] = float64(len(order)), float64(len(counts)), float64(nulls)
	return nil
}
