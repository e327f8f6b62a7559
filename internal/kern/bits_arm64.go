//go:build !purego

package kern

// The functions below run the assembly of a level and report whether there is one. Lengths are checked by their callers.

func fastPackColumns(words []uint32, x []float64, d int) (bits, ok bool) {
	if d == 0 || level == Go {
		return false, false
	}
	return packedNEON(&words[0], &x[0], d), true
}

// fastScore reports false: registers do not hold the tables that they hold elsewhere.
func (b *Bits) fastScore(dst []float64, words []uint32) bool { return false }

func (b *Bits) fastSubsets(table, r []float64, stride, width int) bool {
	if b.level == Go {
		return false
	}
	subsetsNEON(&table[0], &r[0], stride, width)
	return true
}

func (b *Bits) fastLookups(sum []float64, words []uint32, table []float64, stride, width int) bool {
	if b.level == Go {
		return false
	}
	lookupsNEON(&sum[0], &words[0], &table[0], len(words), stride, width)
	return true
}
