package kern

import (
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// powers holds 10^e for the exponents that occur in practice, as 128-bit mantissas cut off after the last bit and
// with the highest bit set. Beyond them strconv does the work.
type powers struct {
	hi, lo [2*maxPower + 1]uint64
	down   [32]quotient // of the fractions that Decimals reads
}

// quotient is what a number of n decimals is divided by, 10^n.
type quotient struct {
	mantissa uint64  // hi of 10^-n
	exponent uint64  // of a float64 of 2^63 times 10^-n, biased, or one more
	power    float64 // 10^n, exact up to 22
	_        uint64
}

const maxPower = 64

// powersOfTen makes the table on first use: 129 divisions of big numbers, some 50 microseconds.
var powersOfTen = sync.OnceValue(func() *powers {
	p, ten := new(powers), big.NewInt(10)
	for e := -maxPower; e <= maxPower; e++ {
		m := new(big.Int).Exp(ten, big.NewInt(int64(max(e, -e))), nil)
		if e < 0 {
			m.Quo(new(big.Int).Lsh(big.NewInt(1), 512), m)
		}
		if shift := m.BitLen() - 128; shift > 0 {
			m.Rsh(m, uint(shift))
		} else {
			m.Lsh(m, uint(-shift))
		}
		p.lo[e+maxPower] = new(big.Int).And(m, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		p.hi[e+maxPower] = m.Rsh(m, 64).Uint64()
	}
	for n := range p.down {
		p.down[n] = quotient{mantissa: p.hi[maxPower-n], exponent: exponentOf(-n), power: math.Pow10(n)}
	}
	return p
})

// exponentOf returns the biased exponent of a float64 of 2^63 times 10^exp, or one more: 217706/2^16 = log2(10).
func exponentOf(exp int) uint64 { return uint64(217706*exp>>16 + 64 + 1023) }

// float returns man * 10^exp, with minus 1 less than 0, correctly rounded; not ok where that needs more than 128 bits or is not a normal
// number. Small cases take one exact operation (Clinger 1990), the rest Eisel and Lemire's method (Lemire 2021,
// "Number parsing at a gigabyte per second", section 5).
func (p *powers) float(man uint64, exp int, minus uint64) (float64, bool) {
	if man < 1<<53 && -22 <= exp && exp <= 22 {
		v := float64(man)
		if exp < 0 {
			v /= p.down[-exp].power
		} else {
			v *= p.down[exp].power
		}
		return math.Float64frombits(math.Float64bits(v) | minus<<63), true
	}
	if exp < -maxPower || exp > maxPower || man == 0 {
		return 0, false
	}
	lead := bits.LeadingZeros64(man)
	man <<= uint(lead)
	hi, lo := bits.Mul64(man, p.hi[exp+maxPower])
	if hi&0x1FF == 0x1FF && lo+man < man { // the cut-off bits could matter: take the lower half in
		yHi, yLo := bits.Mul64(man, p.lo[exp+maxPower])
		mid, carry := bits.Add64(lo, yHi, 0)
		top := hi + carry
		if top&0x1FF == 0x1FF && mid+1 == 0 && yLo+man < man {
			return 0, false
		}
		hi, lo = top, mid
	}
	if lo == 0 && hi&0x1FF == 0 && hi>>(hi>>63+9)&3 == 1 { // perhaps exactly half-way
		return 0, false
	}
	v := rounded(hi, exponentOf(exp)-uint64(lead))
	if v-1<<52 >= (0x7FF-1)<<52 { // zero, subnormal or infinite
		return 0, false
	}
	return math.Float64frombits(minus<<63 | v), true
}

// below is float for man / 10^fraction below 2^53 in size, by one product at most; not ok otherwise, and where bits that are cut off
// could matter or the number may lie half-way.
func (p *powers) below(man uint64, fraction int, minus uint64) (float64, bool) {
	if man < 1<<50 { // numbers of 16 digits and of 17 go the same way
		v := float64(man) / p.down[fraction].power
		return math.Float64frombits(math.Float64bits(v) | minus<<63), fraction <= 22
	}
	lead := bits.LeadingZeros64(man)
	hi, _ := bits.Mul64(man<<uint(lead), p.down[fraction].mantissa)
	v := rounded(hi, p.down[fraction].exponent-uint64(lead))
	return math.Float64frombits(minus<<63 | v), (hi+1)&0x1FF > 1 && v < (1023+53)<<52
}

// rounded returns the bits of a float64 of the biased exponent exp, or one less, whose digits are the highest of hi.
func rounded(hi, exp uint64) uint64 {
	msb := hi >> 63
	m := hi >> (msb + 9) // 54 bits
	m = (m + m&1) >> 1
	return (exp+msb-2)<<52 + m // the highest bit of m, or a carry, is one more of the exponent
}
