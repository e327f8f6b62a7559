package kern

import "math"

// Bits are scored and summed by four: the sums of all 16 subsets of four numbers stand in a table, and four bits are a
// place in it. Measured on Zen 5 in multiply-adds, one for a bit and a component, at (d, k) = (784, 20) and (64, 32):
//
//   - rows in lanes, 16 sums in two registers, a permutation for a look-up (AVX-512): 2.4 times the peak of fused multiply-adds
//   - components in lanes, tables in the first-level cache: 1.9 times with AVX-512, 2.2 to 2.4 times the peak of AVX2 with AVX2
//   - Lost: a panel of 0 and 1 in float64 for the matrix products of mixtures of Gaussians, 0.6 to 0.97 of the peak. Masked
//     additions with rows in lanes cannot pass the peak either, two vectors a cycle and one column each.
//
// Scores take the first where it is there. Their tables are made once a sweep; those of the moments once a panel, which
// costs the first design, whose moments have columns in lanes, more than it gains: a tenth faster at 784 columns, half as
// fast at 64.

// groups is how many groups of four bits a word has.
const groups = Rows / 4

// BitWords is how many words PackBits makes of a panel of d bits a row.
func BitWords(d int) int { return rowWords(d) + d + 1 }

// rowWords is how many of them go by rows.
func rowWords(d int) int { return (d + Rows - 1) / Rows * Rows }

// BitColumns returns the part of words that goes by columns: bit i of word j is row i of column j.
func BitColumns(words []uint32, d int) []uint32 { return words[rowWords(d) : rowWords(d)+d] }

// PackBits sets words to a panel of d columns of 0 and 1 and reports whether it holds nothing else; if not, words may be
// anything. They go by rows, bit j of word b*Rows+i being column b*Rows+j of row i, then by columns (BitColumns); a column
// of ones is last.
func PackBits(words []uint32, x []float64, d int) bool {
	to := BitColumns(words, d)
	if !packColumns(to, x[:d*Rows], d) {
		return false
	}
	TransposeBits(words, d)
	return true
}

// TransposeBits sets all of words from the part that goes by columns.
func TransposeBits(words []uint32, d int) {
	words = words[:BitWords(d)]
	words[len(words)-1] = math.MaxUint32
	from := BitColumns(words, d)
	for b := 0; b < d; b += Rows {
		block := (*[Rows]uint32)(words[b:])
		clear(block[copy(block[:], from[b:]):])
		transpose(block)
	}
}

// transpose turns a square of bits over: ever smaller squares swap places (Warren, Hacker's Delight 2013, section 7-3).
func transpose(a *[Rows]uint32) {
	mask := uint32(0x0000ffff)
	for s := Rows / 2; s > 0; s, mask = s/2, mask^mask<<(s/2) {
		for i := 0; i < Rows; i = (i + s + 1) &^ s {
			t := (a[i]>>s ^ a[i+s]) & mask
			a[i+s] ^= t
			a[i] ^= t << s
		}
	}
}

// packColumns sets bit i of words[j] where x[j*Rows+i] is 1, and reports whether all else is 0.
func packColumns(words []uint32, x []float64, d int) bool {
	if bits, ok := fastPackColumns(words, x, d); ok {
		return bits
	}
	const one = 0x3ff << 52
	wrong := uint64(0)
	for j := range words {
		word := uint32(0)
		for i, v := range x[j*Rows : j*Rows+Rows] {
			b := math.Float64bits(v + 0) // -0 is 0
			last := b >> 52 & 1          // of the exponent: 1 for a 1, 0 for a 0
			word |= uint32(last) << i
			wrong |= b ^ one&-last
		}
		words[j] = word
	}
	return wrong == 0
}

// Bits are the weights of d bits in k components, ready for panels of PackBits. They are read-only, and belong to the
// level at which they were made.
type Bits struct {
	level Level
	k, d  int
	base  []float64 // Pad(k)
	table []float64 // of sums: see permuted and lookups
	last  []float64 // permuted: the last number of each group
}

// NewBits prepares weights t, k x d, and a base for each component.
func NewBits(t, base []float64, k, d int) *Bits {
	b := &Bits{level: level, k: k, d: d, base: make([]float64, Pad(k))}
	copy(b.base, base[:k])
	if level == AVX512 {
		b.halves(t)
		return b
	}
	kp, blocks := Pad(k), rowWords(d)/Rows
	turned := make([]float64, blocks*Rows*kp)
	for c := range k {
		for j, v := range t[c*d : c*d+d] {
			turned[j*kp+c] = v
		}
	}
	b.table = make([]float64, blocks*groups*16*kp)
	to := b.table
	for c, width := 0, 0; c < kp; c += width {
		width = tileWidth(kp - c)
		for at := c; at < len(turned); at += Rows * kp {
			b.subsets(to, turned[at:], kp, width)
			to = to[groups*16*width:]
		}
	}
	return b
}

// halves prepares tables for permuted: by four components, then by groups of columns, then by components, eight sums of
// the first three of the group, and its last number apart.
func (b *Bits) halves(t []float64) {
	n := (b.d + 3) / 4
	b.table, b.last = make([]float64, b.k*n*8), make([]float64, b.k*n)
	for c := range b.k {
		first := c &^ 3
		q := min(4, b.k-first)
		for j, v := range t[c*b.d : c*b.d+b.d] {
			at := first*n + j/4*q + c - first
			if j%4 == 3 {
				b.last[at] = v
				continue
			}
			sums := b.table[at*8 : at*8+8]
			for m := 1 << (j % 4); m < 2<<(j%4); m++ {
				sums[m] = sums[m-1<<(j%4)] + v
			}
		}
	}
}

// tileWidth is how many of the left components, a multiple of 8, one table serves.
func tileWidth(left int) int { return min(left, 16) }

// Scratch is how many numbers Score and Add need for themselves.
func (b *Bits) Scratch() int { return Rows*Pad(b.k) + groups*16*tileWidth(Pad(b.k)) }

// Score sets dst[c*Rows+i] to base[c] plus the sum of the weights t[c*d+j] of the bits j of row i. tmp has length Scratch.
func (b *Bits) Score(dst []float64, words []uint32, tmp []float64) {
	dst, words = dst[:b.k*Rows], words[:rowWords(b.d)]
	if b.fastScore(dst, words) {
		return
	}
	kp := Pad(b.k)
	sum, table := tmp[:Rows*kp], b.table
	clear(sum)
	for c, width := 0, 0; c < kp; c += width {
		width = tileWidth(kp - c)
		for at := 0; at < len(words); at += Rows {
			b.lookups(sum[c:], words[at:at+Rows], table, kp, width, b.k-c)
			table = table[groups*16*width:]
		}
	}
	for c := range b.k {
		out := (*[Rows]float64)(dst[c*Rows:])
		for i := range out {
			out[i] = b.base[c] + sum[i*kp+c]
		}
	}
}

// Size is the length of the sums of Add.
func (b *Bits) Size() int { return (b.d + 1) * Pad(b.k) }

// Add adds q[c*Rows+i] f[i] of the rows i with bit j to sum[j*Pad(k)+c], and of all rows to sum[d*Pad(k)+c]. q has Pad(k)
// rows; what those from k on hold does not matter. tmp has length Scratch.
func (b *Bits) Add(sum []float64, words []uint32, q, f, tmp []float64) {
	kp := Pad(b.k)
	words = words[rowWords(b.d):BitWords(b.d)]
	sum, r, table := sum[:b.Size()], tmp[:Rows*kp], tmp[Rows*kp:b.Scratch()]
	Share(r, q[:kp*Rows], f, b.k)
	for c, width := 0, 0; c < kp; c += width {
		width = tileWidth(kp - c)
		b.subsets(table, r[c:], kp, width)
		for j := 0; j < len(words); j += callWords {
			b.lookups(sum[j*kp+c:], words[j:min(j+callWords, len(words))], table, kp, width, b.k-c)
		}
	}
}

// callWords is how many words go to one call of assembly, which cannot be interrupted: 50 us.
const callWords = 1 << 13

// Flush adds what Add has gathered in sum to n, of length k, and s, k x d, and empties sum.
func (b *Bits) Flush(n, s, sum []float64) {
	kp := Pad(b.k)
	for j := range b.d {
		for c, v := range sum[j*kp : j*kp+b.k] {
			s[c*b.d+j] += v
		}
	}
	for c, v := range sum[b.d*kp : b.d*kp+b.k] {
		n[c] += v
	}
	clear(sum[:b.Size()])
}

// subsets sets table to the sums of all subsets of every four of Rows rows of r, stride apart: those of subset m of group
// g are the width numbers from (g*16+m)*width on. width is 8 or 16.
func (b *Bits) subsets(table, r []float64, stride, width int) {
	table, r = table[:groups*16*width], r[:(Rows-1)*stride+width]
	if b.fastSubsets(table, r, stride, width) {
		return
	}
	for g := range groups {
		t := table[g*16*width : (g+1)*16*width]
		clear(t[:width])
		for bit := range 4 {
			from := r[(g*4+bit)*stride:]
			half := width << bit
			for m := 0; m < half; m += width {
				for c, v := range from[:width] {
					t[half+m+c] = t[m+c] + v
				}
			}
		}
	}
}

// lookups adds to the row of sum of every word, stride apart and width wide, the lines of table that its eight groups of
// bits tell. width is 8 or 16; of the components of a line only the first used need be right.
func (b *Bits) lookups(sum []float64, words []uint32, table []float64, stride, width, used int) {
	sum, table = sum[:(len(words)-1)*stride+width], table[:groups*16*width]
	if b.fastLookups(sum, words, table, stride, width) {
		return
	}
	for i, word := range words {
		for c := 0; c < min(width, used); c += 4 {
			out := (*[4]float64)(sum[i*stride+c:])
			a0, a1, a2, a3 := out[0], out[1], out[2], out[3]
			for w, at := word, c; w != 0; w, at = w>>4, at+16*width {
				p := (*[4]float64)(table[at+int(w&15)*width:])
				a0 += p[0]
				a1 += p[1]
				a2 += p[2]
				a3 += p[3]
			}
			out[0], out[1], out[2], out[3] = a0, a1, a2, a3
		}
	}
}
