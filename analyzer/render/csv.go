package render

import (
	"io"
	"strconv"

	"servescope/analyzer/render/csv"
	"servescope/analyzer/report"
)

// CSV writes the report in long form (RFC 4180, one header): a row per figure,
// in base units. The column scope says what a row is about: run, untrimmed or
// steady (the run before a trim, in its steady window), window, group or
// group_window. Each dimension that the query groups by is a column of its
// own, named group_DIMENSION, empty where the group's rows did not record it.
// window_from_ns and window_to_ns are the window's ends. A null has an empty value and a reason; n is the number of values that
// a statistic is over and empty elsewhere.
//
// Texts are written as the files had them: a spreadsheet that runs cells which
// begin with = must be told to import them as text.
func CSV(w io.Writer, r *report.Report) error {
	row := append([]byte(nil), "run,scope"...)
	for _, dim := range r.Query.By {
		row = csv.AppendText(append(row, ','), "group_"+dim)
	}
	row = append(row, ",window_from_ns,window_to_ns,metric,stat,value,unit,n,reason\r\n"...)
	if _, err := w.Write(row); err != nil {
		return err
	}
	for f := range r.Tidy() {
		if _, err := w.Write(appendRow(row[:0], &f, r.Query.By)); err != nil {
			return err
		}
	}
	return nil
}

func appendRow(row []byte, f *report.Row, by []string) []byte {
	row = csv.AppendText(row, f.Run)
	row = append(append(row, ','), f.Scope...)
	for _, dim := range by {
		row = append(row, ',')
		if f.Group != nil {
			row = csv.AppendText(row, f.Group[dim])
		}
	}
	row = append(row, ',')
	if f.Window != nil {
		row = strconv.AppendInt(row, f.Window.From, 10)
		row = strconv.AppendInt(append(row, ','), f.Window.To, 10)
	} else {
		row = append(row, ',')
	}
	for _, s := range []string{f.Metric, f.Stat} {
		row = csv.AppendText(append(row, ','), s)
	}
	row = appendNumber(append(row, ','), f.Value)
	row = append(append(row, ','), f.Value.Unit...)
	row = append(row, ',')
	if f.N >= 0 {
		row = strconv.AppendInt(row, f.N, 10)
	}
	row = append(row, ',')
	if f.Value.Reason != "" {
		row = csv.AppendText(row, f.Value.Reason)
	}
	return append(row, "\r\n"...)
}

// appendNumber appends a value as JSON has it, with all its digits, and null as
// nothing.
func appendNumber(dst []byte, v report.Value) []byte {
	f, ok := v.Float()
	switch {
	case !ok:
		return dst
	case v.Whole:
		return strconv.AppendInt(dst, v.Int, 10)
	}
	return report.AppendFloat(dst, f)
}
