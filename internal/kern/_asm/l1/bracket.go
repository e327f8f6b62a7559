package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

const bracketSignature = "func(hit, weight *float64, slot *int32, table, x, w *float64, label *int32, rows, d int) (n int)"

// planes addresses the five planes of a cluster in the table.
type planes struct {
	tp, one, three reg.GPVirtual // where the columns in hand are; bytes of one plane and of three
}

func (p planes) lo() Mem    { return At(p.tp, 0) }
func (p planes) hi() Mem    { return Mem{Base: p.tp, Index: p.one, Scale: 1} }
func (p planes) below() Mem { return Mem{Base: p.tp, Index: p.one, Scale: 2} }
func (p planes) upLo() Mem  { return Mem{Base: p.tp, Index: p.three, Scale: 1} }
func (p planes) upHi() Mem  { return Mem{Base: p.tp, Index: p.one, Scale: 4} }

// bracketRows runs all columns of every row in vectors of lanes columns. start gets the slot of the first column, cells
// loads a vector of a row of which only left columns are there.
func bracketRows(lanes int, x reg.GPVirtual, start func(first reg.GPVirtual), cells func(left reg.GPVirtual) reg.VecVirtual,
	whole func() reg.VecVirtual, vector func(p planes, v reg.VecVirtual)) {
	label, rows := Arg("label"), Arg("rows")
	p := planes{GP64(), GP64(), GP64()}
	Load(Param("d"), p.one)
	ADDQ(Imm(7), p.one)
	ANDQ(I32(-8), p.one)
	SHLQ(Imm(3), p.one)
	LEAQ(Mem{Base: p.one, Index: p.one, Scale: 2}, p.three)
	Loop("row", rows, func() {
		first := GP64()
		MOVLQSX(At(label, 0), first)
		LEAQ(Mem{Base: first, Index: first, Scale: 4}, p.tp)
		IMULQ(p.one, p.tp)
		table := Arg("table")
		ADDQ(table, p.tp)
		j := Arg("d")
		IMULQ(j, first)
		start(first)
		Whole("", j, Imm(uint64(lanes)), func() {
			vector(p, whole())
			ADDQ(Imm(uint64(8*lanes)), x)
			ADDQ(Imm(uint64(8*lanes)), p.tp)
		})
		JZ(LabelRef("next"))
		vector(p, cells(j))
		LEAQ(Mem{Base: x, Index: j, Scale: 8}, x)
		Label("next")
		ADDQ(Imm(4), label)
	})
}

// bracketAVX512: lanes are columns. What a vector holds beyond the last is counted where the table is padded.
func bracketAVX512() {
	Begin("bracketAVX512", bracketSignature, "is Bracket; rows, d > 0.")
	hit, weight, slot, x, wp := Arg("hit"), Arg("weight"), Arg("slot"), Arg("x"), Arg("w")
	n := number(0)
	iota, eight, id, w := YMM(), YMM(), YMM(), ZMM()
	VMOVDQU(lanesTable(), iota)
	VPBROADCASTD(lanesTable().Offset(32), eight)
	bracketRows(8, x, func(first reg.GPVirtual) {
		VPBROADCASTD(first.As32(), id)
		VPADDD(iota, id, id)
		VBROADCASTSD(At(wp, 0), w)
		ADDQ(Imm(8), wp)
	}, func(left reg.GPVirtual) reg.VecVirtual {
		v := ZMM()
		VMOVUPD_Z(At(x, 0), ones(left), v)
		return v
	}, func() reg.VecVirtual {
		v := ZMM()
		VMOVUPD(At(x, 0), v)
		return v
	}, func(p planes, v reg.VecVirtual) {
		lo, hi := ZMM(), ZMM()
		VMOVUPD(p.lo(), lo)
		VMOVUPD(p.hi(), hi)
		compare := func(predicate uint64, than reg.VecVirtual) reg.OpmaskVirtual {
			k := K()
			VCMPPD(Imm(predicate), than, v, k)
			return k
		}
		count := func(m Mem, k reg.OpmaskVirtual) {
			sum := ZMM()
			VMOVUPD(m, sum)
			VADDPD(w, sum, k, sum)
			VMOVUPD(sum, m)
		}
		upLo, in := compare(0x12, lo), K()
		KANDNW(compare(0x11, hi), upLo, in)
		count(p.below(), compare(0x11, lo))
		count(p.upLo(), upLo)
		count(p.upHi(), compare(0x12, hi))
		packed, ids, hits := ZMM(), YMM(), GP32()
		VCOMPRESSPD_Z(v, in, packed)
		VPCOMPRESSD_Z(id, in, ids)
		VMOVUPD(packed, Mem{Base: hit, Index: n, Scale: 8})
		VMOVUPD(w, Mem{Base: weight, Index: n, Scale: 8})
		VMOVDQU(ids, Mem{Base: slot, Index: n, Scale: 4})
		KMOVW(in, hits)
		POPCNTL(hits, hits)
		ADDQ(hits.As64(), n)
		VPADDD(eight, id, id)
	})
	Store(n, ReturnIndex(0))
	End()
}

var lanesMem Mem

// lanesTable returns the numbers 0 to 8, 32 bits each.
func lanesTable() Mem {
	if lanesMem.Symbol.Name == "" {
		lanesMem = GLOBL("l1_numbers", RODATA|NOPTR)
		for i := range 16 {
			DATA(4*i, U32(uint32(i)))
		}
	}
	return lanesMem
}

// compressTable returns 16 entries of 32 bytes, one a mask of four lanes: the places of the lanes that are set, in order, as
// pairs of 32 bit words (wide) or as words.
func compressTable(wide bool) Mem {
	name, size := "l1_compress32", 1
	if wide {
		name, size = "l1_compress64", 2
	}
	m := GLOBL(name, RODATA|NOPTR)
	for mask := range 16 {
		to := 0
		for lane := range 4 {
			if mask>>lane&1 == 0 {
				continue
			}
			for half := range size {
				DATA(mask*16*size+4*to, U32(uint32(lane*size+half)))
				to++
			}
		}
		for ; to < 4*size; to++ {
			DATA(mask*16*size+4*to, U32(0))
		}
	}
	return m
}

// bracketAVX2: lanes are columns; tables of permutations stand in for the compression of AVX-512.
func bracketAVX2() {
	Begin("bracketAVX2", bracketSignature, "is Bracket; rows, d > 0.")
	hit, weight, slot, x, wp := Arg("hit"), Arg("weight"), Arg("slot"), Arg("x"), Arg("w")
	n := number(0)
	iota, four, id, w := XMM(), XMM(), XMM(), YMM()
	VMOVDQU(lanesTable(), iota)
	VPBROADCASTD(lanesTable().Offset(16), four)
	long, short := compressTable(true), compressTable(false)
	bracketRows(4, x, func(first reg.GPVirtual) {
		MOVD(first.As32(), id)
		VPBROADCASTD(id, id)
		VPADDD(iota, id, id)
		VBROADCASTSD(At(wp, 0), w)
		ADDQ(Imm(8), wp)
	}, func(left reg.GPVirtual) reg.VecVirtual {
		v := YMM()
		VMASKMOVPD(At(x, 0), partial(left, 0), v)
		return v
	}, func() reg.VecVirtual {
		v := YMM()
		VMOVUPD(At(x, 0), v)
		return v
	}, func(p planes, v reg.VecVirtual) {
		lo, hi := YMM(), YMM()
		VMOVUPD(p.lo(), lo)
		VMOVUPD(p.hi(), hi)
		compare := func(predicate uint64, than reg.VecVirtual) reg.VecVirtual {
			k := YMM()
			VCMPPD(Imm(predicate), than, v, k)
			return k
		}
		count := func(m Mem, k reg.VecVirtual) {
			t := YMM()
			VANDPD(w, k, t)
			VADDPD(m, t, t)
			VMOVUPD(t, m)
		}
		upLo, in := compare(0x12, lo), compare(0x11, hi)
		VANDNPD(in, upLo, in)
		count(p.below(), compare(0x11, lo))
		count(p.upLo(), upLo)
		count(p.upHi(), compare(0x12, hi))
		hits, entry := GP32(), GP64()
		VMOVMSKPD(in, hits)
		MOVL(hits, entry.As32())
		SHLQ(Imm(4), entry)
		order, packed, ids, from := YMM(), YMM(), XMM(), GP64()
		LEAQ(short, from)
		VMOVDQU(Mem{Base: from, Index: entry, Scale: 1}, order.AsX())
		VPERMILPS(order.AsX(), id, ids)
		VMOVDQU(ids, Mem{Base: slot, Index: n, Scale: 4})
		LEAQ(long, from)
		VMOVDQU(Mem{Base: from, Index: entry, Scale: 2}, order)
		VPERMD(v, order, packed)
		VMOVUPD(packed, Mem{Base: hit, Index: n, Scale: 8})
		VMOVUPD(w, Mem{Base: weight, Index: n, Scale: 8})
		POPCNTL(hits, hits)
		ADDQ(hits.As64(), n)
		VPADDD(four, id, id)
	})
	Store(n, ReturnIndex(0))
	End()
}
