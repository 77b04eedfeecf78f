package analyzer

import (
	"errors"
	"slices"

	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

var errEnough = errors.New("all rows have been found")

// listsOf calls f with the rows of the given numbers, in order, and their token
// lists. Where these are not in memory it reads again, but only the parts of the
// inputs that hold such rows.
func (v *viewer) listsOf(numbers map[int32]int, f func(k *kernel.View, i int)) error {
	wanted := make([]int32, 0, len(numbers))
	for n := range numbers {
		wanted = append(wanted, n)
	}
	slices.Sort(wanted)
	if !v.s.lists {
		return v.rereadLists(wanted, f)
	}
	var u unpacker
	last, b := -1, (*trace.Batch)(nil)
	for _, n := range wanted {
		i := v.s.find(n)
		r := v.s.rows[i]
		if i != last {
			last, b = i, v.s.linked(u.batch(opened{r, r.open()}), r.number)
		}
		f(v.kernelView(r.slot, r.number, b), int(n-r.number))
	}
	return nil
}

func (v *viewer) rereadLists(wanted []int32, f func(k *kernel.View, i int)) error {
	s := v.s
	jobs := s.jobs()
	in := &reading{meter: newMeter(v.ctx, jobs, s.opt.Progress), lists: true}
	for j := range jobs {
		base := s.bases[j]
		if len(wanted) == 0 || j+1 < len(jobs) && wanted[0] >= s.bases[j+1] {
			continue
		}
		jobs[j].workers = s.opt.Workers
		var end part
		err := s.readJob(v.ctx, 0, &jobs[j], &end, in, func(b *trace.Batch, _ bool) error {
			if b.Table != trace.Requests {
				return nil
			}
			file := jobs[j].file
			m := file.metas[b.Run.Key]
			if m == nil {
				return changed(file)
			}
			own := s.linked(file.seen(b, m.view), base)
			for len(wanted) > 0 && wanted[0] < base+int32(b.Rows) {
				f(v.kernelView(s.slots.of(file, b.Run), base, own), int(wanted[0]-base))
				wanted = wanted[1:]
			}
			base += int32(b.Rows)
			if len(wanted) == 0 || j+1 < len(jobs) && wanted[0] >= s.bases[j+1] {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	return nil
}
