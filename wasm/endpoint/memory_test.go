package endpoint

import (
	"bytes"
	"io"
	"math/rand"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"servescope/formats/all"
)

// TestPack reads a body of which one block becomes smaller and others do not.
func TestPack(t *testing.T) {
	data := make([]byte, 3*blockSize+5)
	rand.New(rand.NewSource(1)).Read(data)
	for i := blockSize; i < 2*blockSize; i++ {
		data[i] = "requests and tokens "[i%20]
	}
	b, err := collect(bytes.NewReader(data), -1)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time nothing is left to do
		if err := b.pack(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range b.list {
		if packed := b.list[i] == nil; packed != (i == 1) || packed != (b.code[i] != nil) {
			t.Errorf("block %d is packed: %v", i, packed)
		}
	}
	if len(b.code[1]) > blockSize/100 {
		t.Errorf("a block of one sentence takes %d bytes", len(b.code[1]))
	}
	if err := iotest.TestReader(io.NewSectionReader(b, blockSize-7, blockSize+9), data[blockSize-7:2*blockSize+2]); err != nil {
		t.Error(err)
	}
	b.code[1] = b.code[1][:20]
	b.open = nil
	if _, err := b.ReadAt(make([]byte, 9), blockSize+5); err == nil {
		t.Error("a block that is damaged was read")
	}
}

// TestMemory judges by what is alive: garbage never counts, and a body is compressed
// before its requests are refused.
func TestMemory(t *testing.T) {
	body := func() *blocks {
		b, err := collect(bytes.NewReader(bytes.Repeat([]byte("{\"arrival\": 1}\n"), blockSize/4)), -1)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := body()
	if err := newMemory(1<<40, b).check(); err != nil || b.code != nil {
		t.Errorf("with room: %v, packed %v", err, b.code != nil)
	}
	for range 64 {
		sink = make([]byte, blockSize) // 64 MiB of garbage
	}
	sink = nil
	if err := newMemory(64<<20, b).check(); err != nil {
		t.Errorf("of garbage: %v", err)
	}
	if err := newMemory(16, b).check(); problemOf(err).Status != 413 || b.code == nil {
		t.Errorf("without room: %v, packed %v", err, b.code != nil)
	}
}

var sink []byte

// TestMemoryRefused answers a log that needs too much memory by what is to be done, and
// one that is compressed while it is read by the same report.
func TestMemoryRefused(t *testing.T) {
	log, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	want := post(t, "", "POST /v1/analyze", bytes.NewReader(log))
	f := func(limit uint64) (int, string) {
		w := httptest.NewRecorder()
		New(Options{Set: all.Set(), Now: time.Now, Memory: limit}).ServeHTTP(w, httptest.NewRequest("POST", "/v1/analyze", bytes.NewReader(log)))
		return w.Code, w.Body.String()
	}
	if code, text := f(1 << 40); code != 200 || text != want.Body.String() {
		t.Errorf("with room: %d", code)
	}
	// What is alive is more than 8/16 of the limit, from where on it is looked closely,
	// and less than 12/16.
	if code, text := f((objects() + 8<<20) / 11 * 16); code != 200 || text != want.Body.String() {
		t.Errorf("with little room: %d, %.200s", code, text)
	}
	sink = make([]byte, 8<<20)
	if code, text := f(4 << 20); code != 413 || !strings.Contains(text, "more than the 3 MiB of memory") || !strings.Contains(text, "servescope analyze FILE") {
		t.Errorf("without room: %d, %.300s", code, text)
	}
	runtime.KeepAlive(sink)
	sink = nil
}
