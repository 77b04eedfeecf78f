package view

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/dataset"
	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/breakdown"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// partPrefix begins the names of columns of parts; allParts names all of them. longPrefix
// begins the names of columns that count long gaps.
const (
	longPrefix = "gaps_ge."
	partPrefix = "part."
	allParts   = "parts"
)

// column returns a column of all selected requests. The column is shared and must not be
// changed.
func (v *viewer) column(name string) (*Column, error) {
	if c := v.cache[name]; c != nil {
		return c, nil
	}
	c := &Column{Name: name}
	var err error
	switch {
	case name == "row":
		err = v.fill(c, func(k *kernel.View, i int32) float64 { return float64(k.Base + i) })
	case name == "arrival", name == "end", name == "clock":
		err = v.fillTime(c)
	case name == "gap_max", name == "gap_p99":
		err = v.fillGaps()
	case strings.HasPrefix(name, longPrefix):
		err = v.fillLong(c)
	case strings.HasPrefix(name, partPrefix):
		err = v.fillParts()
	default:
		err = v.fillNamed(c)
	}
	if err != nil {
		return nil, err
	}
	if v.cache[name] == nil {
		v.cache[name] = c
	}
	if c = v.cache[name]; len(c.Floats) == 0 && !c.Text { // a part that no request has
		c.Floats = v.nulls()
	}
	return c, nil
}

// named returns columns by name; allParts becomes one column for each part.
func (v *viewer) named(names []string) ([]Column, error) {
	if err := v.fillMetrics(names); err != nil {
		return nil, err
	}
	var out []Column
	for _, name := range names {
		list := []string{name}
		if name == allParts {
			if err := v.fillParts(); err != nil {
				return nil, err
			}
			list = list[:0]
			for other, c := range v.cache {
				if strings.HasPrefix(other, partPrefix) && len(c.Floats) > 0 && slices.ContainsFunc(c.Floats, isNumber) {
					list = append(list, other)
				}
			}
			slices.Sort(list)
		}
		for _, name := range list {
			c, err := v.column(name)
			if err != nil {
				return nil, err
			}
			out = append(out, *c)
		}
	}
	return out, nil
}

func isNumber(f float64) bool { return f == f }

// fill makes a column of a function of single rows.
func (v *viewer) fill(c *Column, of func(k *kernel.View, i int32) float64) error {
	return v.each(false, false, func(k *kernel.View, rows []int32) {
		for _, i := range rows {
			c.Floats = append(c.Floats, of(k, i))
		}
	})
}

// nulls returns a null for each request.
func (v *viewer) nulls() []float64 {
	row, err := v.column("row")
	if err != nil {
		return nil
	}
	out := make([]float64, len(row.Floats))
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// fillTime fills arrival, end or clock.
func (v *viewer) fillTime(c *Column) error {
	return v.each(false, false, func(k *kernel.View, rows []int32) {
		arrivals, leavings, names := request.ArrivalsOf(k.Batch), request.LeavingsOf(k.Batch), dataset.ClocksOf(k.Batch)
		var name string
		index, placed := 0, false
		for j, i := range rows {
			if clock := names.At(int(i)); j == 0 || clock != name {
				name = clock
				index, placed = v.clockOf(clock)
			}
			value := math.NaN()
			switch {
			case !placed:
			case c.Name == "clock":
				value = float64(index)
			case c.Name == "arrival":
				if at, ok := arrivals.At(int(i)); ok {
					value = float64(at - v.clocks[index].Origin)
				}
			default:
				if at, ok := leavings.At(int(i)); ok {
					value = float64(at - v.clocks[index].Origin)
				}
			}
			c.Floats = append(c.Floats, value)
		}
	})
}

// fillGaps fills what single requests have of chunk gaps.
func (v *viewer) fillGaps() error {
	longest, high := &Column{Name: "gap_max"}, &Column{Name: "gap_p99"}
	var sorted []int64
	err := v.each(true, false, func(k *kernel.View, rows []int32) {
		chunks := request.ChunksOf(k, metric.Default)
		for _, i := range rows {
			_, gaps, _, _, ok := chunks.At(int(i))
			if !ok || len(gaps) == 0 {
				longest.Floats, high.Floats = append(longest.Floats, math.NaN()), append(high.Floats, math.NaN())
				continue
			}
			sorted = append(sorted[:0], gaps...)
			stat.Sort(sorted)
			longest.Floats = append(longest.Floats, float64(sorted[len(sorted)-1]))
			high.Floats = append(high.Floats, QuantileOf(len(sorted), 0.99, func(n int) float64 { return float64(sorted[n]) }))
		}
	})
	if err == nil {
		v.cache[longest.Name], v.cache[high.Name] = longest, high
	}
	return err
}

// fillLong counts the chunk gaps of single requests that are as long as the name of
// the column says.
func (v *viewer) fillLong(c *Column) error {
	least, err := strconv.ParseInt(c.Name[len(longPrefix):], 10, 64)
	if err != nil || least <= 0 {
		return viewError("a column " + longPrefix + "N needs a number of ns")
	}
	return v.each(true, false, func(k *kernel.View, rows []int32) {
		chunks := request.ChunksOf(k, metric.Default)
		for _, i := range rows {
			_, gaps, _, _, ok := chunks.At(int(i))
			n := 0
			for _, gap := range gaps {
				if gap >= least {
					n++
				}
			}
			if !ok || len(gaps) == 0 {
				c.Floats = append(c.Floats, math.NaN())
			} else {
				c.Floats = append(c.Floats, float64(n))
			}
		}
	})
}

// QuantileOf returns the q-quantile of n > 0 sorted values by numpy's linear method.
func QuantileOf(n int, q float64, at func(int) float64) float64 {
	place := float64(float64(n-1) * q)
	k := int(place)
	if k+1 >= n {
		return at(n - 1)
	}
	return stat.Lerp(at(k), at(k+1), place-float64(k))
}

// fillParts fills the columns of all parts.
func (v *viewer) fillParts() error {
	if v.cache[partPrefix+"total"] != nil {
		return nil
	}
	n := 0
	parts := map[string]*Column{partPrefix + "total": {}, partPrefix + "residual": {}}
	set := func(name string, row int, ns int64) {
		c := parts[partPrefix+name]
		if c == nil {
			c = &Column{}
			parts[partPrefix+name] = c
		}
		for len(c.Floats) < row {
			c.Floats = append(c.Floats, math.NaN())
		}
		c.Floats = append(c.Floats, float64(ns))
	}
	err := v.each(false, false, func(k *kernel.View, rows []int32) {
		at := make(map[int]int, len(rows))
		for j, i := range rows {
			at[int(i)] = n + j
		}
		breakdown.EachParts(k, func(i int, p *decompose.Parts) {
			row, ok := at[i]
			if !ok {
				return
			}
			for _, e := range p.Entries() {
				set(strings.Join(e.Leaves.Names(), "+"), row, e.NS)
			}
			set("residual", row, p.Residual())
			set("total", row, p.Total)
		})
		n += len(rows)
	})
	if err != nil {
		return err
	}
	for name, c := range parts {
		for c.Name = name; len(c.Floats) < n; {
			c.Floats = append(c.Floats, math.NaN())
		}
		v.cache[name] = c
	}
	return nil
}

// fillNamed fills a column of the table, or a metric of single requests.
func (v *viewer) fillNamed(c *Column) error {
	if col, ok := trace.Requests.Lookup(c.Name); ok {
		return v.fillTable(c, col)
	}
	if !isMetric(c.Name) {
		return viewError("there is no column " + c.Name)
	}
	return v.fillMetrics([]string{c.Name})
}

// isMetric reports whether a name belongs to a metric of single requests, and not to a
// column.
func isMetric(name string) bool {
	_, column := trace.Requests.Lookup(name)
	m, ok := metric.Lookup(name)
	return !column && ok && m.Kind == metric.PerRequest
}

// fillMetrics fills the columns of all names that belong to metrics of single requests in
// one walk: each row is read once for all of them.
func (v *viewer) fillMetrics(names []string) error {
	var list []*Column
	for _, name := range names {
		if v.cache[name] == nil && isMetric(name) {
			list = append(list, &Column{Name: name, Floats: []float64{}})
		}
	}
	if len(list) == 0 {
		return nil
	}
	var values []float64
	var known []bool
	var memory request.Memory
	err := v.each(false, false, func(k *kernel.View, rows []int32) {
		k.Memory = &memory
		values, known = slices.Grow(values[:0], k.Rows)[:k.Rows], slices.Grow(known[:0], k.Rows)[:k.Rows]
		for _, c := range list {
			v.e.Metric(c.Name, k, values, known)
			for _, i := range rows {
				if !known[i] {
					c.Floats = append(c.Floats, math.NaN())
					continue
				}
				c.Floats = append(c.Floats, values[i])
			}
		}
	})
	if err == nil {
		for _, c := range list {
			v.cache[c.Name] = c
		}
	}
	return err
}

// fillTable fills a column of the requests table.
func (v *viewer) fillTable(c *Column, col trace.Col) error {
	f := &trace.Requests.Fields[col]
	switch f.Type {
	case trace.List:
		return viewError(f.Name + " is a list: view one request for it")
	case trace.Text, trace.Dict:
		return v.fillText(c, col)
	case trace.Bool:
		return v.fill(c, func(k *kernel.View, i int32) float64 {
			switch yes, ok := k.Bools(col).At(int(i)); {
			case !ok:
				return math.NaN()
			case yes:
				return 1
			}
			return 0
		})
	}
	return v.fill(c, func(k *kernel.View, i int32) float64 {
		value, ok := k.Ints(col).At(int(i))
		switch {
		case !ok:
			return math.NaN()
		case f.Stamp:
			return v.since(k.Batch, int(i), value)
		}
		return float64(value)
	})
}

// fillText fills a column of texts and sorts its values.
func (v *viewer) fillText(c *Column, col trace.Col) error {
	c.Text = true
	codes := make(map[string]int32)
	code := func(text string) int32 {
		n, ok := codes[text]
		if !ok {
			n = int32(len(c.Values))
			codes[text] = n
			c.Values = append(c.Values, text)
		}
		return n
	}
	err := v.each(false, false, func(k *kernel.View, rows []int32) {
		dicts, texts := k.Dicts(col), k.Texts(col)
		for _, i := range rows {
			n := int32(-1)
			if d, ok := dicts.At(int(i)); ok && trace.Requests.Fields[col].Type == trace.Dict {
				n = code(dicts.Values[d])
			} else if t, ok := texts.At(int(i)); ok {
				n = code(string(t))
			}
			c.Codes = append(c.Codes, n)
		}
	})
	sorted := slices.Clone(c.Values)
	slices.SortFunc(sorted, strings.Compare)
	place := make([]int32, len(sorted))
	for i, text := range sorted {
		place[codes[text]] = int32(i)
	}
	for i, n := range c.Codes {
		if n >= 0 {
			c.Codes[i] = place[n]
		}
	}
	c.Values = sorted
	return err
}
