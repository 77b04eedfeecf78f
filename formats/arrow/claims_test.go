package arrow

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"servescope/formats"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// TestClaims: a compressed buffer of some hundred bytes that says it has 512 MiB is
// damage, for which no such memory is taken.
func TestClaims(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil)
	rec := record(t, schema, `[{"a":1},{"a":1},{"a":1},{"a":1},{"a":1},{"a":1},{"a":1},{"a":1},{"a":1},{"a":1},{"a":1},{"a":1},{"a":1},{"a":1},{"a":1},{"a":1}]`)
	for name, codec := range map[string]ipc.Option{"LZ4": ipc.WithLZ4(), "zstd": ipc.WithZstd()} {
		whole := write(t, false, rec, []ipc.Option{ipc.WithSchema(schema), codec})
		size := binary.LittleEndian.AppendUint64(nil, 16*8)
		k := bytes.LastIndex(whole, append(size, map[string]string{"LZ4": "\x04\x22\x4d\x18", "zstd": "\x28\xb5\x2f\xfd"}[name]...))
		if k < 0 {
			t.Fatalf("%s: no buffer is compressed", name)
		}
		for claim, want := range map[uint64]int64{16 * 8: 16, 1 << 29: 0, 1 << 40: 0, 1 << 63: 0} {
			data := bytes.Clone(whole)
			binary.LittleEndian.PutUint64(data[k:], claim)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			tab, err := newTable(bytes.NewReader(data), int64(len(data)), formats.Whole)
			if err != nil {
				t.Fatal(err)
			}
			tab.Select([]bool{true})
			rows := int64(0)
			for tab.Next() {
				rows += int64(tab.Batch().Rows)
			}
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; rows != want || tab.Err() != nil || (len(tab.Damage()) > 0) == (want > 0) || taken > 32<<20 {
				t.Errorf("%s, %d bytes: %d rows, %v, %v, %d bytes taken", name, claim, rows, tab.Err(), tab.Damage(), taken)
			}
		}
	}
}
