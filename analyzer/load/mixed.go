package load

import (
	"fmt"
	"strings"

	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/formats"
)

// noteMixed adds a diagnostic if lines of a file that were skipped belong to other
// formats: logs of several programs are often written into one file.
func noteMixed(f *dataset.Input, known *formats.Set) {
	left := f.Account.Noise + f.Account.Diagnosed
	if left == 0 || f.Reason == forced || f.Reason == mapped || f.Format.Shape == formats.Blocks {
		return
	}
	head, err := formats.ReadHead(f.Source)
	if err != nil {
		return // reading it has told
	}
	var count int64
	var each, names []string
	for _, o := range known.Others(head, f.Format) {
		if o.Lines <= left { // else they were read
			count += o.Lines
			each = append(each, fmt.Sprintf("%d of %s (%s)", o.Lines, o.Format.Name, o.Format.Title))
			names = append(names, o.Format.Name)
		}
	}
	if count > 0 {
		f.Diags.Add(diag.Diag{
			Code: "other_format", Severity: diag.DataLoss, File: f.Source.Name(), Offset: -1, Count: count,
			Msg: "lines are of another format, at least " + strings.Join(each, ", ") + ": they are not read as " + f.Format.Name,
			Fix: "read the file a second time with --input-format " + strings.Join(names, ", then "),
		})
	}
}
