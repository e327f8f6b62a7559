//go:build !purego

package kern

import "golang.org/x/sys/cpu"

// detect returns the levels that the processor offers, the lowest first.
func detect() []Level {
	if cpu.ARM64.HasASIMDDP {
		return []Level{Go, NEON, NEONDotProd}
	}
	return []Level{Go, NEON}
}
