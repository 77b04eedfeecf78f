package linelog

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// nearTable has a kind without a time and one that holds its own.
func nearTable() *Table {
	return (&Table{
		Slots: []Slot{{Name: "n", Type: Int}, {Name: "at", Type: Epoch}},
		Kinds: []Kind{
			{Name: "load", Start: []string{"Load {n}$"}, Bare: true, Need: []int{0}},
			{Name: "sent", Start: []string{"Sent at {at}$"}, Bare: true, Need: []int{1}},
		},
	}).Compile()
}

// times is a fold that writes down when its records are, "~" before Near.
type times []string

func (l *times) Record(r *Record) *Problem {
	at := r.Kind.Name
	if r.Timed {
		at += " " + time.Unix(0, r.T).UTC().Format(time.TimeOnly)
	}
	if r.HasNear {
		at += " ~" + time.Unix(0, r.Near).UTC().Format(time.TimeOnly)
	}
	*l = append(*l, at)
	return nil
}

func (*times) Batch(bool) *trace.Batch { return nil }
func (*times) End()                    {}

// readTimes checks the times of the records of a text, wherever blocks begin.
func readTimes(t *testing.T, text string, want ...string) {
	t.Helper()
	for size := range len(text) + 1 {
		var got times
		opt := formats.Options{Workers: 1, Block: size} // 0: the usual size
		r, err := Open(context.Background(), source.FromBytes("x", []byte(text)), formats.Whole, opt, nearTable(), new(trace.RunMeta), func(*Log) Fold { return &got })
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
		}
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("in blocks of %d:\n got %s\nwant %s", size, strings.Join(got, ", "), strings.Join(want, ", "))
		}
	}
}

// TestNearSkipsTornStamps: a line without a stamp was written at the last stamp
// that can be read or later, also where objects without one stand in between.
func TestNearSkipsTornStamps(t *testing.T) {
	readTimes(t, "Load 1\n"+
		`{"timestamp": "2026-03-01 09:00", "message": "Load 2"}`+"\n"+
		"2026-03-01 09:00:00 INFO Load 3\n"+
		`{"timestamp": "2026-03-0109:01", "message": "x\nLoad 4"}`+"\n"+
		`{"message": "Load 5"}`+"\n"+
		"Load 6\n"+
		`{"timestamp": "2026-03-01 09:02:00", "message": "x"}`+"\n"+
		"Load 7\n",
		"load", "load", "load 09:00:00", "load ~09:00:00", "load ~09:00:00", "load ~09:00:00", "load ~09:02:00")
}

// TestNearTellsNoZone: a time in a line without a stamp is not that of the stamp
// before it, and so does not tell the zone of the stamps.
func TestNearTellsNoZone(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC).Unix()
	readTimes(t, "2026-03-01 09:00:00 INFO Load 1\n"+
		fmt.Sprintf("Sent at %d\n", at)+
		fmt.Sprintf(`{"message": "Sent at %d"}`, at)+"\n"+
		"2026-03-01 10:00:01 INFO Load 2\n",
		"load 09:00:00", "sent 10:00:00", "sent 10:00:00", "load 10:00:01")
}
