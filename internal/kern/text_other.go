//go:build !amd64 || purego

package kern

func fastDecimals(_ []float64, _ []byte, _ int, _, _ byte, _ *powers) (n, end int, ok bool) {
	return 0, 0, false
}

func fastMarks(_ []uint64, _ []byte, _ byte) bool { return false }

func fastLines(_ []byte, _ int) (feeds, done int, plain bool) { return 0, 0, true }
