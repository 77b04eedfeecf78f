package trace

import "servescope/analyzer/unit"

// Columns of the histograms table: one row per sample of a metrics endpoint.
const (
	HistogramName Col = iota
	HistogramLabels
	HistogramReplica
	HistogramModel
	HistogramClock
	HistogramT
	HistogramType
	HistogramStat
	HistogramBound
	HistogramValue
	HistogramUnit
	HistogramOffset
)

// Histograms is the histograms table. Counters, gauges and buckets of a scrape
// are lossy: a quantile computed from them is an interpolation, not a
// measurement. The bucket without an upper bound is the row with stat count,
// because infinity never enters a column.
var Histograms = &Table{Name: "histograms", Fields: []Field{
	HistogramName:    dict("name", "name of the metric family as exposed"),
	HistogramLabels:  dict("labels", "labels of the sample as exposed, sorted by name, without le and quantile"),
	HistogramReplica: dict("replica", "host, data-parallel rank or engine index"),
	HistogramModel:   dict("model", "model name"),
	HistogramClock:   dict("clock", "clock of the row's stamps: kind, or kind/source"),
	HistogramT:       stamp("t", "time of the scrape"),
	HistogramType:    dict("type", "type of the family", "counter", "gauge", "histogram", "summary", "untyped"),
	HistogramStat:    dict("stat", "what the value is", "value", "bucket", "sum", "count", "quantile"),
	HistogramBound:   float("bound", unit.None, "upper limit (le) of a bucket in the family's own unit, or the rank of a quantile"),
	HistogramValue:   float("value", unit.None, "value as exposed; buckets are cumulative"),
	HistogramUnit:    dict("unit", "unit of the family as its name says: seconds, tokens, …"),
	HistogramOffset:  count("offset", unit.Byte, "byte offset of the sample in its decompressed source"),
}}

// Columns of the reported table: one row per figure that a producer reported.
const (
	ReportedKey Col = iota
	ReportedMetric
	ReportedStat
	ReportedValue
	ReportedUnit
)

// ReportedTable is the reported table: the producers' own figures.
var ReportedTable = &Table{Name: "reported", Fields: []Field{
	ReportedKey:    dict("key", "key in the source"),
	ReportedMetric: dict("metric", "name of our metric; null where there is none like it"),
	ReportedStat:   dict("stat", "mean, std, min, max, a quantile as 0.99, or value"),
	ReportedValue:  float("value", unit.None, "the figure, in base units"),
	ReportedUnit:   dict("unit", "base unit of the figure"),
}}
