package parquet

import (
	"context"
	"os"
	"strings"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// TestEncrypted reads a file of pyarrow whose columns of times are encrypted, and whose
// footer is not: it names the columns, and nothing says what is in them but the message.
func TestEncrypted(t *testing.T) {
	data, err := os.ReadFile("testdata/encrypted.parquet")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Format.Open(context.Background(), source.FromBytes("t", data), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		t.Error("there are requests")
	}
	if why := r.Runs()[0].NoRequests; !strings.Contains(why, "column arrival is encrypted") {
		t.Error(why)
	}
	if n := r.Account(); n.Diagnosed != 40 || n.Parsed != 0 {
		t.Errorf("%+v", n)
	}
}
