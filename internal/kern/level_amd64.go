//go:build !purego

package kern

import "golang.org/x/sys/cpu"

// detect returns the highest level that processor and operating system offer.
func detect() Level {
	x := &cpu.X86
	switch {
	case x.HasAVX2 && x.HasFMA && x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL:
		return AVX512
	case x.HasAVX2 && x.HasFMA:
		return AVX2
	}
	return Go
}
