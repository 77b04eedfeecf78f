package load

import (
	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// account files the accounts, diagnostics and runs of each input.
func account(set *dataset.Set, known *formats.Set, jobs []job, results []jobResult, seen []map[int64]*trace.RunMeta) {
	for _, f := range set.Inputs {
		if f.Format == nil {
			continue
		}
		var mine []jobResult
		var runs [][]*trace.RunMeta
		var rows []map[int64]*trace.RunMeta
		for j := range jobs {
			if jobs[j].file == f {
				mine, runs, rows = append(mine, results[j]), append(runs, results[j].runs), append(rows, seen[j])
			}
		}
		f.Diags = new(diag.Log)
		f.Diags.Merge(formats.FaultsOf(f.Source))
		noteRewritten(f)
		f.Account = formats.Account{Kinds: make(map[string]int64)}
		for _, p := range mine {
			f.Diags.Merge(p.diags)
			f.Rows += p.read
			f.Account.Total += p.account.Total
			f.Account.Parsed += p.account.Parsed
			f.Account.Diagnosed += p.account.Diagnosed
			f.Account.Noise += p.account.Noise
			for kind, n := range p.account.Kinds {
				f.Account.Kinds[kind] += n
			}
			f.Account.Prints = p.account.Prints // of text logs, which one reader reads whole
		}
		f.AddRecords(runs, rows)
		if f.Rows == 0 {
			f.Diags.Add(nothingRead(f))
		}
		noteMixed(f, known)
	}
}
