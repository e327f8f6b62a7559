//go:build !purego

package kern

import "golang.org/x/sys/cpu"

// detect returns the levels that processor and operating system offer, the lowest first.
func detect() []Level {
	x, have := &cpu.X86, []Level{Go}
	if !x.HasAVX2 || !x.HasFMA {
		return have
	}
	have = append(have, AVX2)
	if x.HasAVXVNNI {
		have = append(have, AVX2VNNI)
	}
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
		have = append(have, AVX512)
	}
	return have
}
