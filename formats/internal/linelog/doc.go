// Package linelog is the one engine for the text logs of servers: a format gives
// it a Table of what its lines look like, and a Fold that makes rows of them.
//
//	lines → scanner (in parallel, block by block, line by line, no state)
//	      → records, runs of unknown lines, counts of noise
//	      → reader (in file order: clock, account, payload) → Fold → batches
//
// What needs earlier lines (the year, which of two equal hours it is, open
// requests) is decided in file order, so neither blocks nor goroutines change a
// result.
//
// # What the engine does
//
// It finds heads ("INFO 03-01 09:00:00 [loggers.py:80] ") anywhere in a line, by
// the time of day in them: behind progress bars, behind another record that lost
// its line end, behind what Docker, Kubernetes, Loki, journald or Ray put in
// front, through terminal colours, and inside the records of JSON loggers. It
// reads stamps with and without date, year, fraction and zone; the stamps of a
// container runtime, where the source has them, are preferred. Every line is
// counted once: parsed (a record was used), diagnosed (with a diag), or noise.
//
// Quoted text of users is passed over as a whole: a prompt that looks like a log
// line is none. No value of a Payload field and no text of a line that nothing
// recognised gets into a diag.
//
// A line that is like an earlier one but for its numbers is not scanned again: the
// layouts that each goroutine has learned tell its kind and where its values stand.
//
// # Adding a table
//
// A format numbers the values it wants, and says how each is read:
//
//	const (
//		running = iota
//		tps
//		method // method, path, status: named so for AccessKind
//		path
//		status
//	)
//
//	var table = (&linelog.Table{
//		Slots: []linelog.Slot{
//			running: {Name: "running", Type: linelog.Int},
//			tps:     {Name: "tps", Type: linelog.Float, Max: 1e8},
//			…
//		},
//		Heads: []linelog.Head{ // [2026-03-01 09:00:00.123 DP1 TP0 EP0] …
//			{Name: "sglang", Before: "[", After: "%R] ", Dateless: true},
//		},
//		Kinds: []linelog.Kind{
//			{Name: "decode", Start: []string{"Decode batch"}, Anywhere: true, Open: true,
//				Fields: []linelog.Field{{"#running-req", running}, {"gen throughput (token/s)", tps}},
//				Need:   []int{running}},
//			linelog.AccessKind,
//			{Name: "startup", Start: []string{"Load weight"}, Use: linelog.Noise},
//			{Name: "other load", Inside: "token/s", Use: linelog.NotUsed,
//				Unused: linelog.Problem{"unused_load", diag.Notice, "lines that carry load are not used", ""}},
//		},
//	}).Compile()
//
// Kinds are tried in order, by template first. Messages behind a known head that
// match none are noise of kind "message". Fields stand in their usual order (any
// other order is only slower); keys that are missing leave their slot unknown;
// with Open, keys that are neither listed nor Ignored are reported once per file. A
// record that lacks a slot of Need is torn, and diagnosed. With Rest, the line is
// the record's to its end: objects with texts of users in them are for the Fold to
// read, from Message, or from Object where a JSON logger wrote the line.
//
// The Fold gets records with their time resolved (T, Resolution, Timed; on the
// clock of the run, which the engine sets) and asks for values by slot:
//
//	func (f *fold) Record(r *linelog.Record) *linelog.Problem {
//		if n, ok := r.Int(running); ok { … }
//		dp, ok := linelog.Rank(r.Ranks, "DP")
//		return nil // or a problem: the line counts as diagnosed
//	}
//
// A line without a stamp has Near instead, the time of the last head with one
// before it. A slot of type Epoch is the time of its line itself.
//
// Open makes the formats.Reader of both, and Table.Sniff helps detection. Log.Note
// is for diags of the Fold's own.
package linelog
