package decompose

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Steps takes apart what the engines of a run say of their steps. Its timelines
// are complete; it is used by one goroutine.
type Steps struct {
	timelines []*Timeline
	pipeline  bool     // an engine has several pipeline ranks
	bounds    bool     // ranks are missing: transfer is an upper and waiting a lower bound
	notes     []string // about transfer and waiting
}

// NewSteps returns the steps of the ranks of a run's engines.
func NewSteps(timelines []*Timeline) *Steps {
	s := &Steps{timelines: timelines}
	slices.SortFunc(timelines, func(a, b *Timeline) int {
		return cmp.Or(cmp.Compare(a.Replica, b.Replica), cmp.Compare(a.Name, b.Name))
	})
	for _, t := range timelines {
		t.settle()
		s.pipeline = s.pipeline || t.Place.PP > 0
	}
	s.notes = s.split()
	return s
}

// Selection is some of the steps: for each timeline the indexes of steps, in
// order.
type Selection [][]int32

// Timelines returns the timelines in the order of selections, each with its steps
// in order. They are read-only.
func (s *Steps) Timelines() []*Timeline { return s.timelines }

// All selects every step.
func (s *Steps) All() Selection {
	all := make(Selection, len(s.timelines))
	for at, t := range s.timelines {
		for i := range t.Steps {
			all[at] = append(all[at], int32(i))
		}
	}
	return all
}

// Decompositions returns where the time per token and the time of steps went,
// over the selected steps. With detail there are also those by rank, by kind of
// step and by batch size.
func (s *Steps) Decompositions(in Selection, detail bool) []report.Decomposition {
	var ranks []rankWaits
	for at, t := range s.timelines {
		if t.source.Quantity == trace.Interval && len(in[at]) > 0 {
			ranks = append(ranks, s.weigh(t, in[at]))
		}
	}
	var out []report.Decomposition
	if len(ranks) > 0 {
		out = append(out, overall(ranks))
		if out[0].Total.Known {
			out[0].Notes = append(out[0].Notes, s.notes...)
		}
		if detail && len(ranks) > 1 {
			out = append(out, byRank(ranks))
		}
		if kinds := byKind(ranks); detail && len(kinds.Tables) > 1 {
			out = append(out, kinds)
		}
	}
	out = append(out, s.steps(in, detail)...)
	for i := range out {
		s.bound(out[i].Tables)
	}
	return out
}

// bound marks the values that are bounds only.
func (s *Steps) bound(tables []report.Breakdown) {
	if !s.bounds {
		return
	}
	for i := range tables {
		for j := range tables[i].Memos {
			switch m := &tables[i].Memos[j]; m.Name {
			case Transfer.String():
				m.Bound = "upper"
			case Waiting.String():
				m.Bound = "lower"
			}
		}
	}
}

// rankWaits is the time that the tokens of one rank waited for, and the kind of
// step that gave them.
type rankWaits struct {
	*Timeline
	all, decode, mixed account
	excluded           map[string]int64
	assumed            bool
	through, other     int64 // token-ns of the steps between, under both assumptions
	stops              []report.Stop
	excess             excess
}

// weigh adds up what the tokens of the selected steps had waited for.
func (s *Steps) weigh(t *Timeline, in []int32) rankWaits {
	r := rankWaits{Timeline: t, excluded: map[string]int64{}}
	for _, a := range []*account{&r.all, &r.decode, &r.mixed} {
		*a = account{of: ofToken, source: t.source}
	}
	why := t.why
	if why == "" && s.pipeline {
		why = "pipeline"
	}
	for _, i := range in {
		k, w := &t.Steps[i], &t.waits[i]
		switch {
		case why != "":
			r.excluded[why] += max(k.Decoding, 1)
			continue
		case w.unknown > 0:
			r.excluded["head_missing"] += w.unknown
		case k.Decoding < 0:
			r.excluded["n_unknown"]++
		}
		if w.tokens == 0 {
			continue
		}
		kind := &r.decode
		if k.Kind == trace.StepMixed {
			kind = &r.mixed
		}
		kind.n += w.tokens
		kind.step(k, w.sequences)
		kind.plus(&kind.leaf[Interference], w.before, w.through)
		kind.plus(&kind.total, w.before, w.through)
		kind.plus(&r.through, w.before, w.through)
		kind.plus(&r.other, w.before, w.other)
		r.assumed = r.assumed || w.assumed
	}
	r.all.merge(&r.decode.sums)
	r.all.merge(&r.mixed.sums)
	if why == "" {
		r.stops = t.stops(in)
		r.excess = t.excess(in)
	}
	return r
}

// begin returns a decomposition without tables, for the given members.
func begin(of, by string, total *sums, u unit.Unit) report.Decomposition {
	members := "tokens"
	if of == "step" {
		members = "steps"
	}
	d := report.Decomposition{Of: of, By: by, Side: "engine", Members: members, N: total.n, Excluded: map[string]int64{}, Total: report.Null("not_recorded")}
	switch {
	case total.over > 0:
		d.N, d.Total = 0, report.Null("out_of_range")
	case total.n > 0:
		d.Total = report.Known(float64(total.total)/float64(total.n), u)
	}
	return d
}

// tables adds a table per signature of the accounts, or one for each that has
// members.
func tables(d *report.Decomposition, accounts []account, cohorts []string, u unit.Unit) {
	for i := range accounts {
		if a := &accounts[i]; a.n > 0 && a.over == 0 {
			t := a.table(u)
			if t.Share = report.Known(float64(a.n)/float64(d.N), unit.Ratio); cohorts != nil {
				t.Cohort = cohorts[i]
			}
			if a.source.Classes && !a.source.Sampling {
				t.Notes = append(t.Notes, "sampling_in_compute: sampling cannot be told from compute and counts as compute")
			}
			d.Tables = append(d.Tables, t)
		}
	}
}

// united merges accounts whose entries are the same.
func united(list []account) []account {
	var out []account
	for i := range list {
		if list[i].n == 0 {
			continue
		}
		at := slices.IndexFunc(out, func(a account) bool { return a.source == list[i].source })
		if at < 0 {
			out = append(out, list[i])
			continue
		}
		out[at].merge(&list[i].sums)
	}
	slices.SortStableFunc(out, func(a, b account) int { return cmp.Compare(b.n, a.n) })
	return out
}

// overall returns the time per token over all ranks.
func overall(ranks []rankWaits) report.Decomposition {
	var total, through, other sums
	var accounts []account
	for i := range ranks {
		r := &ranks[i]
		total.merge(&r.all.sums)
		accounts = append(accounts, r.all)
		through.plus(&through.total, r.through, 1)
		other.plus(&other.total, r.other, 1)
	}
	d := begin("tpot", "", &total, unit.NSPerToken)
	tables(&d, united(accounts), nil, unit.NSPerToken)
	for i := range ranks {
		r := &ranks[i]
		for why, n := range r.excluded {
			d.Excluded[why] += n
		}
		d.Stops = append(d.Stops, r.stops...)
		if r.assumed {
			d.Label = "membership assumed"
		}
	}
	if d.N == 0 && total.over == 0 {
		d.Total = report.Null(mostly(d.Excluded))
	}
	if d.Label != "" && d.Total.Known {
		variant := float64(total.total-through.total+other.total) / float64(total.n)
		d.Low, d.High = report.Known(min(d.Total.V, variant), unit.NSPerToken), report.Known(max(d.Total.V, variant), unit.NSPerToken)
	}
	if len(ranks) > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("mean over %d ranks, each of which counts every token of its engine", len(ranks)))
	}
	d.Memos = memosOf(ranks, &total)
	return d
}

// mostly returns the reason that most members have, the first of equals.
func mostly(excluded map[string]int64) string {
	why, most := "no_token", int64(0)
	for code, n := range excluded {
		if n > most || n == most && code < why {
			why, most = code, n
		}
	}
	return why
}

// byRank returns the time per token with a table for each rank.
func byRank(ranks []rankWaits) report.Decomposition {
	var total sums
	var accounts []account
	var names []string
	for i := range ranks {
		total.merge(&ranks[i].all.sums)
		accounts, names = append(accounts, ranks[i].all), append(names, ranks[i].Name)
	}
	d := begin("tpot", "rank", &total, unit.NSPerToken)
	for i := range ranks {
		for why, n := range ranks[i].excluded {
			d.Excluded[why] += n
		}
	}
	tables(&d, accounts, names, unit.NSPerToken)
	return d
}

// byKind returns the time per token with a table for each kind of step that gave
// it.
func byKind(ranks []rankWaits) report.Decomposition {
	var total sums
	var decode, mixed []account
	for i := range ranks {
		total.merge(&ranks[i].all.sums)
		decode, mixed = append(decode, ranks[i].decode), append(mixed, ranks[i].mixed)
	}
	d := begin("tpot", "kind", &total, unit.NSPerToken)
	for _, x := range []struct {
		name string
		list []account
	}{{"decode steps", united(decode)}, {"mixed steps", united(mixed)}} {
		names := make([]string, len(x.list))
		for i := range names {
			names[i] = x.name
		}
		tables(&d, x.list, names, unit.NSPerToken)
	}
	return d
}

// bucket is the kind and the batch size of steps; sizes are from low to high.
type bucket struct {
	kind      trace.StepKind
	low, high int64
}

func (b bucket) String() string {
	name := "steps"
	switch b.kind {
	case NoKind:
	case trace.StepWindow:
		name = "windows"
	default:
		name = trace.Steps.Fields[trace.StepKindCol].Values[b.kind] + " steps"
	}
	switch {
	case b.low < 0:
		return name
	case b.low == b.high:
		return fmt.Sprintf("%s of %d", name, b.low)
	}
	return fmt.Sprintf("%s of %d to %d", name, b.low, b.high)
}

func (b bucket) compare(o bucket) int {
	return cmp.Or(cmp.Compare(b.kind, o.kind), cmp.Compare(b.low, o.low))
}

// maxBuckets is how many batch sizes are told apart; more are put together by
// powers of two.
const maxBuckets = 24

// bucketOf returns the bucket of a step.
func bucketOf(k *Step, coarse bool) bucket {
	b := bucket{k.Kind, k.Decoding, k.Decoding}
	switch {
	case k.Decoding <= 0 || k.Kind == trace.StepPrefill || k.Kind == trace.StepDummy:
		b.low, b.high = -1, -1
	case coarse:
		n := bits.Len64(uint64(k.Decoding))
		b.low, b.high = 1<<(n-1), 1<<n-1
	}
	return b
}

// steps returns the time of steps, and with detail by kind and batch size: a
// decomposition for each quantity that their lengths are.
func (s *Steps) steps(in Selection, detail bool) []report.Decomposition {
	var out []report.Decomposition
	for _, q := range []trace.Quantity{trace.Interval, trace.Elapsed, trace.Mean} {
		var total sums
		exact, coarse := map[bucket][]account{}, map[bucket][]account{}
		excluded := map[string]int64{}
		for at, t := range s.timelines {
			if t.source.Quantity != q {
				continue
			}
			for _, i := range in[at] {
				k := &t.Steps[i]
				switch {
				case k.Duration < 0:
					excluded["head_missing"]++
					continue
				case q == trace.Elapsed && k.Kind == trace.StepDummy:
					excluded["no_token"]++
					continue
				}
				total.n++
				total.step(k, 1)
				put(exact, bucketOf(k, false), t.source, k)
				put(coarse, bucketOf(k, true), t.source, k)
			}
		}
		if total.n == 0 {
			continue
		}
		buckets := exact
		if len(exact) > maxBuckets {
			buckets = coarse
		}
		d := stepTables(buckets, &total, excluded, q, "")
		if q == trace.Elapsed {
			d.Memos = append(d.Memos, s.between(in))
		}
		if out = append(out, d); detail {
			out = append(out, stepTables(buckets, &total, excluded, q, "batch"))
		}
	}
	return out
}

// put adds a step to the account of its bucket and source.
func put(in map[bucket][]account, b bucket, source StepSource, k *Step) {
	list := in[b]
	i := slices.IndexFunc(list, func(a account) bool { return a.source == source })
	if i < 0 {
		i, list = len(list), append(list, account{of: ofStep, source: source})
		in[b] = list
	}
	list[i].n++
	list[i].step(k, 1)
}

// stepTables returns the time of steps: over all of them, or with a table for each
// bucket.
func stepTables(buckets map[bucket][]account, total *sums, excluded map[string]int64, q trace.Quantity, by string) report.Decomposition {
	keys := make([]bucket, 0, len(buckets))
	for b := range buckets {
		keys = append(keys, b)
	}
	slices.SortFunc(keys, bucket.compare)
	d := begin("step", by, total, unit.Nanosecond)
	d.Excluded = maps.Clone(excluded)
	d.Label = quantityLabels[q]
	var all []account
	for _, b := range keys {
		list := united(buckets[b])
		all = append(all, list...)
		if by == "" {
			continue
		}
		names := make([]string, len(list))
		for i := range names {
			names[i] = b.String()
		}
		tables(&d, list, names, unit.Nanosecond)
	}
	if by == "" {
		tables(&d, united(all), nil, unit.Nanosecond)
	}
	return d
}

// quantityLabels say what the lengths of steps are.
var quantityLabels = [...]string{
	trace.Interval: "from the end of the step before to the end of the step",
	trace.Elapsed:  "elapsed time inside steps: what lies between them is not in it",
	trace.Mean:     "estimated means of logged windows: running requests × accepted length / generation rate",
}
