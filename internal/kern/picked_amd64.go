//go:build !purego

package kern

// HasPicked reports whether Picked is fast at the level in use.
func HasPicked() bool { return HasIntegers(false) }

func fastPicked(x []uint8, row []float32, c []int8, list []uint32, scores []float32, groups, n int) bool {
	if !HasPicked() || groups == 0 {
		return false
	}
	f, block := picked512, 6
	switch current {
	case AVX2:
		f, block = picked256, 3
	case AVX2VNNI:
		f = picked256VNNI
	}
	for i := n; i%block != 0; i++ {
		list[i] = list[n-1]
	}
	blocks, stride := (n+block-1)/block, PickedHead+4*groups
	f(&x[0], &row[0], &c[0], &list[0], &scores[0], stride, groups, blocks)
	if level == AVX2 { // the other half of the panel
		f(&x[2*Rows], &row[Rows/2], &c[0], &list[0], &scores[Rows/2], stride, groups, blocks)
	}
	return true
}

func fastUppers(upper *[Rows]float32, row, meta, scores []float32, n int) bool {
	switch level {
	case AVX512:
		uppers512(&row[0], &meta[0], &scores[0], &upper[0], n)
	case AVX2:
		uppers256(&row[0], &meta[0], &scores[0], &upper[0], n)
	default:
		return false
	}
	return true
}

func fastMargins(t []float32, near []uint16, scores []float32, upper *[Rows]float32, lift, radius []float32, n int) bool {
	switch level {
	case AVX512:
		margins512(&t[0], &near[0], &scores[0], &upper[0], &lift[0], &radius[0], (n+15)/16)
	case AVX2:
		margins256(&t[0], &near[0], &scores[0], &upper[0], &lift[0], &radius[0], 2*((n+15)/16))
	default:
		return false
	}
	return true
}

func fastCandidates(list []uint32, lift, radius, t, c []float32, coef *[5]float32, blocks int) (n int, ok bool) {
	switch level {
	case AVX512:
		return candidates512(&list[0], &lift[0], &radius[0], &t[0], &c[0], &coef[0], &frontOrder[0], blocks), true
	case AVX2:
		return candidates256(&list[0], &lift[0], &radius[0], &t[0], &c[0], &coef[0], &frontOrder[0], blocks), true
	}
	return 0, false
}

// frontOrder holds for each 8 bits the lanes that bring those of the bits to the front, a byte each.
var frontOrder = func() (order [256]uint64) {
	for mask := range order {
		n := 0
		for lane := range 8 {
			if mask>>lane&1 != 0 {
				order[mask] |= uint64(lane) << (8 * n)
				n++
			}
		}
	}
	return order
}()
