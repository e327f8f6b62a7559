//go:build !amd64 || purego

package kern

// HasPicked reports whether Picked is fast at the level in use.
func HasPicked() bool { return false }

func fastPicked(_ []uint8, _ []float32, _ []int8, _ []uint32, _ []float32, _, _ int) bool {
	return false
}

func fastUppers(_ *[Rows]float32, _, _, _ []float32, _ int) bool { return false }

func fastMargins(_ []float32, _ []uint16, _ []float32, _ *[Rows]float32, _, _ []float32, _ int) bool {
	return false
}

func fastCandidates(_ []uint32, _, _, _, _ []float32, _ *[5]float32, _ int) (n int, ok bool) {
	return 0, false
}
