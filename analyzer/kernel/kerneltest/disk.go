package kerneltest

import (
	"sync"
)

// Disk is a store.
type Disk struct {
	sync.Mutex
	Bytes []byte
}

func (d *Disk) Append(p []byte) (int64, error) {
	d.Lock()
	defer d.Unlock()
	d.Bytes = append(d.Bytes, p...)
	return int64(len(d.Bytes) - len(p)), nil
}

func (d *Disk) Read(p []byte, off int64) error {
	d.Lock()
	defer d.Unlock()
	copy(p, d.Bytes[off:])
	return nil
}
