//go:build !linux

package app

import "servescope/formats"

// adviseHeap does nothing where it is not known to help.
func adviseHeap(*formats.Inputs) {}
