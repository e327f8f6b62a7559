//go:build !amd64 || purego

package kern

func fastChainForward(alpha, c, b, past, forward []float64, k, kp int) bool      { return false }
func fastChainBackward(gamma, beta, alpha, c, b, back []float64, k, kp int) bool { return false }
func fastChainMoves(moves, alpha, u []float64, n, k, kp int) bool                { return false }
