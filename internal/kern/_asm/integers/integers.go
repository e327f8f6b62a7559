package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// integers is a prefilter: the instructions that multiply, and of how many centres the registers hold the sums.
type integers struct {
	isa
	words, vnni bool
	block       int
}

// AVX-512 VNNI and AVX-VNNI multiply and add up 64 or 32 bytes at once, and half as many words. Without them bytes take three
// instructions beside additions for every two groups, and words one.
var prefilters = []integers{
	{avx512, false, true, 12}, {avx512, true, true, 12},
	{avx2, false, true, 6}, {avx2, true, true, 6},
	{avx2, false, false, 3}, {avx2, true, false, 6},
}

func (p integers) name() string {
	kind := "bytes"
	if p.words {
		kind = "words"
	}
	kind += p.Name
	if p.vnni && !p.Wide() {
		kind += "VNNI"
	}
	return kind
}

// ahead returns how many bytes before their use rows are fetched. Rows in words have many columns, and come from memory: with 784 of them and 10
// centres a sweep took 7.2 ms with 8 kB ahead and 9.3 with 2.
func (p integers) ahead() int {
	if p.words {
		return 8192
	}
	return Ahead
}

// blocks returns the widths of the blocks that a tile of w centres is cut into.
func (p integers) blocks(w int) []int {
	n := (w + p.block - 1) / p.block
	var b []int
	for i := range n {
		b = append(b, (w+i)/n)
	}
	return b
}

// write writes the prefilter for tiles of w centres. Two vectors of rows are in hand at a time: a whole panel of AVX-512, half a
// panel of AVX2.
func (p integers) write(w int) {
	Begin(name("%sx%d", p.name(), w), "func(x *uint8, row *float32, c *int8, meta, a, upper *float32, groups, tiles int)",
		"is Integers for tiles of this width.")
	x, row, c, meta, a := Arg("x"), Arg("row"), Arg("c"), Arg("meta"), Arg("a")
	groups, t, upper := Arg("groups"), Arg("tiles"), Arg("upper")
	least := AllocLocal(2 * p.Bytes)
	cp := GP64()
	Loop("tile", t, func() {
		p.halves(func() {
			q := 0
			blocks := p.blocks(w)
			for b, n := range blocks {
				tag := name("%d", b)
				acc := p.products(tag, x, c, cp, groups, q, n, w, b == 0)
				for v := range 2 {
					low := p.scores(acc, v, q, n, row, cp, meta, a)
					at := least.Offset(v * p.Bytes)
					if b > 0 {
						VMINPS(at, low, low)
					}
					if b < len(blocks)-1 {
						VMOVUPS(low, at)
						continue
					}
					VADDPS(p.radius(row, meta, v), low, low)
					VMINPS(At(upper, v*p.Bytes), low, low)
					VMOVUPS(low, At(upper, v*p.Bytes))
				}
				q += n
			}
		}, x, row, a, upper)
		LEAQ(At(cp, 4*p.blocks(w)[len(p.blocks(w))-1]), c)
		Add(16, meta)
		Add(128*w, a)
	})
	End()
}

// halves runs body for every two vectors of the panel, with the pointers at them.
func (s isa) halves(body func(), pointers ...reg.Register) {
	if s.Wide() {
		body()
		return
	}
	n := GP64()
	MOVQ(U32(2), n)
	Loop("half", n, func() {
		body()
		for _, p := range pointers {
			Add(64, p)
		}
	})
	for _, p := range pointers {
		SUBQ(I32(128), p)
	}
}

// products returns the sums of n centres from q on, and leaves cp at the norm of the first.
func (p integers) products(tag string, x, c, cp, groups reg.Register, q, n, w int, fetch bool) []reg.VecVirtual {
	acc := p.Vecs(2 * n)
	for i := range n {
		VPBROADCASTD(At(c, 4*(q+i)), acc[2*i])
		if p.Wide() {
			VMOVDQA32(acc[2*i], acc[2*i+1])
		} else {
			VMOVDQA(acc[2*i], acc[2*i+1])
		}
	}
	LEAQ(At(c, 4*(q+w)), cp)
	xp, j := Copy(x), Copy(groups)
	factor := func(g, q int) Mem { return At(cp, 4*w*g+4*q) }
	step := func(groups int, group func()) {
		if fetch {
			for at := 0; at < 128*groups; at += 64 * 128 / (2 * p.Bytes) { // wide rows come at the speed of memory
				PREFETCHT0(At(xp, p.ahead()+at))
			}
		}
		group()
		Add(128*groups, xp)
		Add(4*w*groups, cp)
	}
	if p.words || p.vnni {
		Loop("group"+tag, j, func() { step(1, func() { p.group(acc, xp, factor) }) })
		return acc
	}
	ones := p.Vec()
	VPCMPEQW(ones, ones, ones)
	VPSRLW(Imm(15), ones, ones)
	SHRQ(Imm(1), j)
	JZ(LabelRef("single" + tag))
	Loop("groups"+tag, j, func() { step(2, func() { p.groups(acc, ones, xp, factor, 2) }) })
	Label("single" + tag)
	TESTQ(U32(1), groups)
	JZ(LabelRef("summed" + tag))
	step(1, func() { p.groups(acc, ones, xp, factor, 1) })
	Label("summed" + tag)
	return acc
}

// group adds the products of one group. factor is where group g, from here, of a centre is.
func (p integers) group(acc []reg.VecVirtual, xp reg.Register, factor func(g, q int) Mem) {
	x, f := p.Vecs(2), p.Vec()
	VMOVUPS(At(xp, 0), x[0])
	VMOVUPS(At(xp, p.Bytes), x[1])
	for i, sum := range acc {
		if i%2 == 0 {
			VPBROADCASTD(factor(0, i/2), f)
		}
		switch {
		case p.vnni && p.words:
			VPDPWSSD(f, x[i%2], sum)
		case p.vnni:
			VPDPBUSD(f, x[i%2], sum)
		default:
			product := f // no longer wanted
			if i%2 == 0 {
				product = p.Vec()
			}
			VPMADDWD(f, x[i%2], product)
			VPADDD(product, sum, sum)
		}
	}
}

// groups adds the products of n groups of bytes, one or two: their sums fit 16 bits.
func (p integers) groups(acc []reg.VecVirtual, ones reg.VecVirtual, xp reg.Register, factor func(g, q int) Mem, n int) {
	x, f := p.Vecs(2*n), p.Vecs(n)
	for i := range x {
		VMOVUPS(At(xp, i/2*128+i%2*p.Bytes), x[i])
	}
	for i, sum := range acc {
		product := f // no longer wanted
		if i%2 == 0 {
			product = p.Vecs(n)
			for g := range f {
				VPBROADCASTD(factor(g, i/2), f[g])
			}
		}
		for g := range f {
			VPMADDUBSW(f[g], x[2*g+i%2], product[g])
		}
		if n == 2 {
			VPADDW(product[1], product[0], product[0])
		}
		VPMADDWD(ones, product[0], product[0])
		VPADDD(product[0], sum, sum)
	}
}

// scores stores the scores of vector v of rows and n centres from q on, and returns the least.
func (p integers) scores(acc []reg.VecVirtual, v, q, n int, row, cp, meta, a reg.Register) reg.VecVirtual {
	scale, least := p.Vec(), p.Vec()
	VBROADCASTSS(At(meta, 0), scale)
	VMULPS(At(row, v*p.Bytes), scale, scale)
	for i := range n {
		s := acc[2*i+v]
		VCVTDQ2PS(s, s)
		if p.Wide() {
			VFNMADD213PS_BCST(At(cp, 4*i), scale, s) // norm - scale * s
		} else {
			norm := p.Float32s(At(cp, 4*i))
			VFNMADD213PS(norm, scale, s)
		}
		VMOVUPS(s, At(a, 128*(q+i)+v*p.Bytes))
		if i == 0 {
			VMOVUPS(s, least)
		} else {
			VMINPS(s, least, least)
		}
	}
	return least
}

// radius returns what the score of a row of vector v and a centre of the tile may be wrong by.
func (s isa) radius(row, meta reg.Register, v int) reg.VecVirtual {
	r := s.Vec()
	VBROADCASTSS(At(meta, 12), r)
	VADDPS(At(row, 128+s.Bytes*v), r, r)
	for i := range 2 {
		f := s.Float32s(At(meta, 4+4*i))
		VFMADD231PS(At(row, 256+128*i+s.Bytes*v), f, r)
	}
	return r
}

// survivors lists the centres that may be the nearest of some row, each with a bit for every such row.
func (s isa) survivors() {
	Begin("survivors"+s.Name, "func(row, meta, a, upper *float32, list, out *uint32, w, tiles int)", "is Survivors.")
	row, meta, a, list := Arg("row"), Arg("meta"), Arg("a"), Arg("list")
	w, t, up, out := Arg("w"), Arg("tiles"), Arg("upper"), Arg("out")
	seen, multi, slot := GP32(), GP32(), GP32()
	XORL(seen, seen)
	XORL(multi, multi)
	XORL(slot, slot)
	var order reg.VecVirtual
	if !s.Wide() {
		order = s.laneOrder()
	}
	Loop("scan", t, func() {
		limit := make([]reg.VecVirtual, s.Float32Vectors())
		for v := range limit {
			limit[v] = s.radius(row, meta, v)
			VADDPS(At(up, s.Bytes*v), limit[v], limit[v])
		}
		q := Copy(w)
		Loop("centre", q, func() {
			mask, both, next := GP32(), GP32(), GP64()
			s.within(limit, order, a, mask)
			MOVL(slot, At(list, 0))
			MOVL(mask, At(list, 4))
			MOVL(seen, both)
			ANDL(mask, both)
			ORL(both, multi)
			ORL(mask, seen)
			LEAQ(At(list, 8), next)
			TESTL(mask, mask)
			CMOVQNE(next, list)
			INCL(slot)
			Add(128, a)
		})
		Add(16, meta)
	})
	first := Arg("list")
	SUBQ(first, list)
	SHRQ(Imm(3), list)
	MOVL(list.As32(), At(out, 0))
	MOVL(multi, At(out, 4))
	End()
}

// within sets the bits of mask of the rows whose score is at most their limit.
func (s isa) within(limit []reg.VecVirtual, order reg.VecVirtual, a, mask reg.Register) {
	const notLess = 0x1d
	if s.Wide() {
		k0, k1 := K(), K()
		VCMPPS(Imm(notLess), At(a, 0), limit[0], k0)
		VCMPPS(Imm(notLess), At(a, 64), limit[1], k1)
		KUNPCKWD(k0, k1, k0)
		KMOVD(k0, mask)
		return
	}
	in := s.Vecs(len(limit))
	for v, l := range limit {
		VCMPPS(Imm(notLess), At(a, s.Bytes*v), l, in[v])
	}
	// Of 32 bits, of 16 and of 8: packing works within halves of vectors, so that every four rows are out of place.
	VPACKSSDW(in[1], in[0], in[0])
	VPACKSSDW(in[3], in[2], in[2])
	VPACKSSWB(in[2], in[0], in[0])
	VPERMD(in[0], order, in[0])
	VPMOVMSKB(in[0], mask)
}

// laneOrder returns the order of fours of rows that undoes what packing does to them.
func (s isa) laneOrder() reg.VecVirtual {
	order, bytes := s.Vec(), GP64()
	MOVQ(U64(0x07_03_06_02_05_01_04_00), bytes)
	low := XMM()
	MOVQ(bytes, low)
	VPMOVZXBD(low, order)
	return order
}

// runnerUp: the second smallest of score less radius.
func (s isa) runnerUp() {
	Begin("runnerUp"+s.Name, "func(row, meta, a, second *float32, w, tiles int)", "is RunnerUp.")
	row, meta, a, second := Arg("row"), Arg("meta"), Arg("a"), Arg("second")
	w, t := Arg("w"), Arg("tiles")
	least, next := s.Vecs(s.Float32Vectors()), s.Vecs(s.Float32Vectors())
	for v := range least {
		s.Huge(least[v])
		VMOVUPS(least[v], next[v])
	}
	Loop("scan", t, func() {
		r := make([]reg.VecVirtual, len(least))
		for v := range r {
			r[v] = s.radius(row, meta, v)
		}
		Loop("centre", Copy(w), func() {
			for v := range r {
				low, worse := s.Vec(), s.Vec()
				VMOVUPS(At(a, s.Bytes*v), low)
				VSUBPS(r[v], low, low)
				VMAXPS(least[v], low, worse)
				VMINPS(least[v], low, least[v])
				VMINPS(worse, next[v], next[v])
			}
			Add(128, a)
		})
		Add(16, meta)
	})
	for v, n := range next {
		VMOVUPS(n, At(second, s.Bytes*v))
	}
	End()
}
