//go:build unix

package app

import (
	"os"

	"golang.org/x/sys/unix"
)

// closed reports whether the process was started without a standard output, as
// shells do at >&-. Go's runtime then opens the null device in its place, for
// reading and writing (checkfds in runtime/fds_unix.go), where >/dev/null is for
// writing only. Who starts a process with such a device on purpose cannot be told
// from that, unless errors go there too: then no result is wanted.
func closed(stdout, stderr *os.File) bool {
	return null(stdout) && !null(stderr)
}

// null reports whether f is the null device, opened for reading and writing.
func null(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	device, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, device)
}
