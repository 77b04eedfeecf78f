package endpoint

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packed is the compressed form of blocks, which a body has where its requests need
// the memory: logs become a fifth of what they are.
type packed struct {
	code [][]byte // by block; nil: the block is kept as it is

	mu      sync.Mutex
	decoder *zstd.Decoder
	at      int    // number of the block that is open
	open    []byte // its bytes; nil: none
}

// pack compresses the blocks that become smaller by it. Nobody reads meanwhile. It
// does nothing where it was done.
func (b *blocks) pack() error {
	if b.code != nil {
		return nil
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(blockSize), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return err
	}
	b.decoder, b.code = decoder, make([][]byte, len(b.list))
	var code []byte
	for i, block := range b.list {
		if code = encoder.EncodeAll(block, code[:0]); len(code) < len(block)/4*3 {
			b.code[i], b.list[i] = bytes.Clone(code), nil
		}
	}
	return encoder.Close()
}

// unpack copies bytes of a compressed block, from one of them on.
func (p *packed) unpack(to []byte, block, from int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil || p.at != block {
		open, err := p.decoder.DecodeAll(p.code[block], p.open[:0])
		if err != nil {
			return 0, err
		}
		p.open, p.at = open, block
	}
	return copy(to, p.open[from:]), nil
}
