//go:build (!amd64 && !arm64) || purego

package kern

func fastLaneDeviations(y, x, mean *float64, d, kp int) bool            { return false }
func fastLaneProduct(dst, m, y *float64, rows []int32, d, kp int) bool  { return false }
func fastLaneNorms(dst, y, w []float64, n, d, kp int) bool              { return false }
func fastLaneMoments(sum, y, q []float64, n, d, kp int) bool            { return false }
func fastLaneScatter(sum, v, q *float64, at []int32, kp int) bool       { return false }
func fastLaneInverse(v, pivot []float64, n, kp int, least float64) bool { return false }
