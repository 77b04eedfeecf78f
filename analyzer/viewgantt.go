package analyzer

import (
	"cmp"
	"math"

	"servescope/analyzer/sorting"
	"servescope/analyzer/trace"
)

// ganttStamps are the marks on a lane, by their names in the chart.
var ganttStamps = [][2]string{
	{"start", "arrival"}, {"queued", "queued"}, {"admitted", "admitted"}, {"prefill_start", "prefill_start"}, {"prefill_end", "prefill_end"},
	{"first", "first_token"}, {"last", "last_token"}, {"end", "end"}, {"clock", "clock"},
}

// gantt shows the requests that are alive in an interval of time, a page of
// lanes: each request has its own, in order of arrival, or Packed, the lowest that
// is free when it arrives. A request without an end is alive at its arrival only.
// With Width, worst holds for each request the longest chunk gap that covers each
// of so many equal parts of the interval.
func (v *viewer) gantt(out *Columns) error {
	var all []Column
	for _, names := range ganttStamps {
		c, err := v.column(names[1])
		if err != nil {
			return err
		}
		all = append(all, Column{Name: names[0], Floats: c.Floats})
	}
	row, err := v.column("row")
	if err != nil {
		return err
	}
	status, err := v.column(trace.Requests.Fields[trace.StatusCol].Name)
	if err != nil {
		return err
	}
	start, end := all[0].Floats, all[7].Floats
	from, to := ganttTime(v.p.From, v.p.To, start, end)
	order, lanes := ganttLanes(start, end, float64(from), float64(to), v.p.Packed)
	total := 0
	for _, lane := range lanes {
		total = max(total, int(lane)+1)
	}
	first, last := float64(v.p.Offset), math.Inf(1)
	if v.p.Limit > 0 {
		last = first + float64(v.p.Limit)
	}
	numbers := make(map[int32]int)
	list := []Column{{Name: "row"}, {Name: "lane"}, {Name: "status", Text: true, Values: status.Values}}
	for _, c := range all {
		list = append(list, Column{Name: c.Name})
	}
	for i, k := range order {
		if lanes[i] < first || lanes[i] >= last {
			continue
		}
		numbers[int32(row.Floats[k])] = len(numbers)
		list[0].Floats = append(list[0].Floats, row.Floats[k])
		list[1].Floats = append(list[1].Floats, lanes[i])
		list[2].Codes = append(list[2].Codes, status.Codes[k])
		for j := range all {
			list[3+j].Floats = append(list[3+j].Floats, all[j].Floats[k])
		}
	}
	out.List = list
	for name, n := range map[string]float64{"n": float64(len(numbers)), "total": float64(len(order)), "lanes": float64(total), "from": float64(from), "to": float64(to)} {
		out.Facts[name] = n
	}
	if v.p.Width > 0 && from < to {
		worst, err := v.worstGaps(numbers, from, to, v.p.Width)
		if err != nil {
			return err
		}
		out.List = append(out.List, Column{Name: "worst", Floats: worst})
	}
	return nil
}

// ganttTime returns the interval of a chart, by default that of all requests.
func ganttTime(from, to int64, start, end []float64) (int64, int64) {
	if from < to {
		return from, to
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i, t := range start {
		if isNumber(t) {
			low, high = min(low, t), max(high, t)
		}
		if isNumber(end[i]) {
			high = max(high, end[i])
		}
	}
	if low > high {
		return 0, 0
	}
	return int64(low), int64(high) + 1
}

// ganttLanes returns the requests that are alive between from and to in order of
// arrival, and the lane of each.
func ganttLanes(start, end []float64, from, to float64, packed bool) (order []int32, lanes []float64) {
	until := func(k int32) float64 {
		if isNumber(end[k]) {
			return max(end[k], start[k])
		}
		return start[k]
	}
	for k := range start {
		if isNumber(start[k]) && start[k] < to && until(int32(k)) >= from {
			order = append(order, int32(k))
		}
	}
	sorting.By(order, func(a, b int32) int { return cmp.Or(cmp.Compare(start[a], start[b]), cmp.Compare(a, b)) })
	lanes = make([]float64, len(order))
	var busy laneHeap // the lanes in use, by when they end
	var free laneHeap // those that are not, the lowest first
	next := 0.0
	for i, k := range order {
		if !packed {
			lanes[i] = float64(i)
			continue
		}
		for len(busy) > 0 && busy[0].key <= start[k] {
			lane := busy.pop().lane
			free.push(laneEnd{lane, lane})
		}
		lane := next
		if len(free) > 0 {
			lane = free.pop().lane
		} else {
			next++
		}
		lanes[i] = lane
		busy.push(laneEnd{until(k), lane})
	}
	return order, lanes
}

// laneHeap is a heap of lanes, the least key first.
type laneHeap []laneEnd

type laneEnd struct{ key, lane float64 }

func (a laneEnd) before(b laneEnd) bool { return a.key < b.key || a.key == b.key && a.lane < b.lane }

func (h *laneHeap) push(e laneEnd) {
	*h = append(*h, e)
	s := *h
	for i := len(s) - 1; i > 0 && s[i].before(s[(i-1)/2]); i = (i - 1) / 2 {
		s[i], s[(i-1)/2] = s[(i-1)/2], s[i]
	}
}

func (h *laneHeap) pop() laneEnd {
	s := *h
	top := s[0]
	s[0] = s[len(s)-1]
	s = s[:len(s)-1]
	for i := 0; ; {
		least := i
		for _, c := range [...]int{2*i + 1, 2*i + 2} {
			if c < len(s) && s[c].before(s[least]) {
				least = c
			}
		}
		if least == i {
			break
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
	*h = s
	return top
}
