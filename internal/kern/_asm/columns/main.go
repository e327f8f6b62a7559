// Command columns writes the kernels that sum up columns of rows, and those that make them float32. Vectors have four float64 whatever the level:
// memory is what binds.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

func main() {
	ConstraintExpr("!purego")
	for _, wide := range []bool{false, true} {
		for _, vectors := range []int{1, 2} {
			sums(vectors, wide)
			squares(vectors, wide)
		}
	}
	narrow()
	Generate()
}

// cells are how cells of a type are loaded.
type cells struct {
	name, kind string
	size       int
}

func cellsOf(wide bool) cells {
	if wide {
		return cells{"f64", "*float64", 8}
	}
	return cells{"f32", "*float32", 4}
}

// load returns vector i of the cells at x as float64.
func (c cells) load(x reg.Register, i int) reg.VecVirtual {
	v := YMM()
	if c.size == 8 {
		VMOVUPD(At(x, 32*i), v)
	} else {
		VCVTPS2PD(At(x, 16*i), v)
	}
	return v
}

// vectors returns n vectors of a 64-bit number.
func vectors(n int, bits uint64) []reg.VecVirtual {
	all := make([]reg.VecVirtual, n)
	r, lo := GP64(), XMM()
	MOVQ(U64(bits), r)
	MOVQ(r, lo)
	for i := range all {
		all[i] = YMM()
		VPBROADCASTQ(lo, all[i])
	}
	return all
}

// begin opens a function of n rows, stride cells apart, and returns what moves from row to row.
func (c cells) begin(name string, count int, results, doc string) (x, n, stride reg.GPVirtual) {
	Begin(name+[]string{"One", "Two"}[count-1]+"256"+c.name, fmt.Sprintf("func(%s, x %s, n, stride int)", results, c.kind), fmt.Sprintf("is %s of %d columns.", doc, 4*count))
	x, n, stride = Arg("x"), Arg("n"), Arg("stride")
	SHLQ(Imm(uint64(c.size/4+1)), stride)
	return x, n, stride
}

func sums(count int, wide bool) {
	c := cellsOf(wide)
	x, n, stride := c.begin("columnSums", count, "sum, least, largest *float64, at, broken *int64, from *float64", "ColumnSums")
	from, inf, minus := Arg("from"), math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1))
	sum, least, largest, at, broken := vectors(count, 0), vectors(count, inf), vectors(count, minus), vectors(count, 0), vectors(count, 0)
	one, row := vectors(1, 1)[0], vectors(1, 0)[0]
	Loop("row", n, func() {
		for i := range count {
			v, less := c.load(x, i), YMM()
			VCMPPD(Imm(0x11), least[i], v, less)
			VBLENDVPD(less, row, at[i], at[i])
			VMINPD(least[i], v, least[i]) // the old one of equals
			VMAXPD(largest[i], v, largest[i])
			VROUNDPD(Imm(9), v, less) // down
			VCMPPD(Imm(4), less, v, less)
			VORPD(less, broken[i], broken[i])
			VSUBPD(At(from, 32*i), v, v)
			VADDPD(v, sum[i], sum[i])
		}
		VPADDQ(one, row, row)
		ADDQ(stride, x)
	})
	store("sum", sum)
	store("least", least)
	store("largest", largest)
	store("at", at)
	store("broken", broken)
	End()
}

func squares(count int, wide bool) {
	c := cellsOf(wide)
	x, n, stride := c.begin("columnSquares", count, "square, mean *float64", "ColumnSquares")
	mean, square := Arg("mean"), vectors(count, 0)
	Loop("row", n, func() {
		for i := range count {
			v := c.load(x, i)
			VSUBPD(At(mean, 32*i), v, v)
			VMULPD(v, v, v)
			VADDPD(v, square[i], square[i])
		}
		ADDQ(stride, x)
	})
	store("square", square)
	End()
}

// store writes vectors to an argument.
func store(arg string, v []reg.VecVirtual) {
	to := Arg(arg)
	for i := range v {
		VMOVUPD(v[i], At(to, 32*i))
	}
}
