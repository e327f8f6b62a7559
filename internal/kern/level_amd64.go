//go:build !purego

package kern

import "golang.org/x/sys/cpu"

// detect returns the levels that processor and operating system offer, the lowest first.
func detect() []Level {
	x := &cpu.X86
	switch {
	case x.HasAVX2 && x.HasFMA && x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL:
		return []Level{Go, AVX2, AVX512}
	case x.HasAVX2 && x.HasFMA:
		return []Level{Go, AVX2}
	}
	return []Level{Go}
}
