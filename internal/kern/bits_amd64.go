//go:build !purego

package kern

// The functions below run the assembly of a level and report whether there is one. Lengths are checked by their callers.

func fastPackColumns(words []uint32, x []float64, d int) (bits, ok bool) {
	switch {
	case d == 0 || level == Go:
		return false, false
	case level == AVX512:
		return packedAVX512(&words[0], &x[0], d), true
	}
	return packedAVX2(&words[0], &x[0], d), true
}

func (b *Bits) fastScore(dst []float64, words []uint32) bool {
	if b.level != AVX512 || b.d == 0 {
		return false
	}
	n := (b.d + 3) / 4
	for c := 0; c < b.k; c += 4 {
		permutedAVX512(&dst[c*Rows], &b.base[c], &words[0], &b.table[c*n*8], &b.last[c*n], n, min(4, b.k-c))
	}
	return true
}

func (b *Bits) fastSubsets(table, r []float64, stride, width int) bool {
	switch b.level {
	case AVX512:
		subsetsAVX512(&table[0], &r[0], stride, width)
	case AVX2:
		subsetsAVX2(&table[0], &r[0], stride, width)
	default:
		return false
	}
	return true
}

func (b *Bits) fastLookups(sum []float64, words []uint32, table []float64, stride, width int) bool {
	switch b.level {
	case AVX512:
		lookupsAVX512(&sum[0], &words[0], &table[0], len(words), stride, width)
	case AVX2:
		lookupsAVX2(&sum[0], &words[0], &table[0], len(words), stride, width)
	default:
		return false
	}
	return true
}
