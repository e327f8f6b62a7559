//go:build !linux && !windows && !darwin && !freebsd

package data

// systemMemory returns nothing: the memory of the machine is not known here.
func systemMemory() []int64 { return nil }
