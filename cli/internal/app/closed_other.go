//go:build !unix

package app

import "os"

// closed reports whether the process was started without a standard output.
func closed(stdout, _ *os.File) bool {
	_, err := stdout.Stat()
	return err != nil
}
