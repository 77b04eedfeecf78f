package load

import (
	"time"
)

// Options holds the settings of the caller. The zero value reads on one goroutine.
type Options struct {
	Workers int       // goroutines that read and fold; 0 means 1
	Memory  int64     // bytes that the session may hold; 0 means DefaultMemory. Request columns are held in any case
	Lists   int64     // bytes of token lists that stay in memory beside that; 0: few, for inputs are read as fast as lists are unpacked
	Scratch string    // directory for temporary files; empty: none may be written
	Now     time.Time // the present, for logs without a year
	Block   int       // bytes read at a time; 0: each format's default

	// Join unites the inputs without a label into one run, and links the rows of
	// each run by the ids of their requests. Align applies the offsets of clocks
	// that follow from linked rows to times between two of them.
	Join, Align bool

	Years map[string]int            // year of the first stamp of logs whose stamps have none, by label of the input; "": of all others
	Zones map[string]*time.Location // zone of stamps that state none, the same way

	// Map says what the columns of tables mean that no format knows; see
	// formats.Options.
	Map []string

	// Progress, if set, is called after every block with the bytes read so far
	// in this pass over the inputs and their total, -1 when it is unknown. Calls
	// come from several goroutines, one at a time.
	Progress func(done, total int64)

	// Yield, if set, is called between batches of rows, read or in memory. A
	// browser's worker has one thread, which must be given up for others to run.
	Yield func()

	// Remote, if set, reads and folds ranges of inputs beside the Workers.
	Remote Remote
}

// DefaultMemory is the budget of a session that names none.
const DefaultMemory = 256 << 20

// RangeSize is the length of the ranges in which sources of independent records
// are read: long enough to hide the cost of opening one.
const RangeSize = 16 << 20

// remoteRangeSize is the size of ranges where remote readers read some of them: in a
// browser each range costs a stream, whose memory is new to three processes. The last
// ranges are shorter; see step.
const remoteRangeSize = 32 << 20
