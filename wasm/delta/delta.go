// Package delta packs a file as what it is beyond another one: a zstd frame whose
// dictionary is that other file. Of two modules that share most of their code the
// second takes half of what it would alone.
package delta

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// window is a power of two that spans both files.
const window = 64 << 20

// dictionary is the number of the base in the frame, the first that RFC 8878 leaves
// for private use: without one a decoder would not ask for the base.
const dictionary = 1 << 15

// Pack returns file as what it is beyond base. Equal files give equal bytes.
func Pack(base, file []byte) ([]byte, error) {
	if len(base)+len(file) > window {
		return nil, fmt.Errorf("delta: %d and %d bytes are more than the window of %d", len(base), len(file), window)
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window), zstd.WithEncoderDictRaw(dictionary, base))
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return e.EncodeAll(file, nil), nil
}

// Unpack writes to w the file that packed is beyond base. A base that is another
// than that of Pack is an error at the end at the latest, where the checksum stands.
func Unpack(w io.Writer, base, packed []byte) error {
	d, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window),
		zstd.WithDecoderDictRaw(dictionary, base))
	if err != nil {
		return err
	}
	defer d.Close()
	_, err = d.WriteTo(w)
	return err
}
