package main

import "github.com/latent-go/latent/internal/kern/_asm/arm64"

// bits writes the kernels of bits.go.
func bits(a *asm) {
	a.packed()
	a.subsets()
	a.lookups()
}

// packed turns a panel into words by columns.
func (a *asm) packed() {
	a.Begin("packedNEON", "words *uint32, x *float64, d int", "bits bool", "is packColumns; d > 0.")
	p := a.Args("words", "x", "d")
	all, one, zero := a.Word(^uint64(0)), a.Number(1), a.Vec()
	a.Zero(zero)
	place := a.Table("places", 1, 2)[:1]
	for v := 1; v < 16; v++ { // what rows 2v and 2v+1 are in a word
		place = append(place, a.Vec())
		a.Do("shl %v.2d, %v.2d, #2", place[v], place[v-1])
	}
	a.Loop(p[2], func() {
		x, word, none := a.Vecs(4), a.Vec(), a.Vec()
		a.Zero(word)
		for v := 0; v < 16; v += len(x) {
			a.Load(p[1], 16*v, x...)
			each(x, func(i int) {
				a.Do("fcmeq %v.2d, %v.2d, %v.2d", none, x[i], zero)
				a.Do("fcmeq %v.2d, %v.2d, %v.2d", x[i], x[i], one)
				a.Do("orr %v.16b, %v.16b, %v.16b", none, none, x[i])
				a.Do("and %v.16b, %v.16b, %v.16b", all, all, none)
				a.Do("and %v.16b, %v.16b, %v.16b", x[i], x[i], place[v+i])
				a.Do("orr %v.16b, %v.16b, %v.16b", word, word, x[i])
			})
		}
		lo, hi := a.halvesOf(word)
		a.Go("ORR %v, %v, %v", hi, lo, lo)
		a.Go("MOVW.P %v, 4(%v)", lo, p[0])
		a.Add(arm64.Line, p[1])
	})
	lo, hi := a.halvesOf(all)
	a.Go("AND %v, %v, %v", hi, lo, lo)
	a.Go("AND $1, %v, %v", lo, lo)
	a.Go("MOVB %v, %s", lo, a.Param("bits"))
	a.End()
}

// halvesOf takes two registers for the halves of a vector.
func (a *asm) halvesOf(v vec) (lo, hi reg) {
	lo, hi = a.Reg(), a.Reg()
	a.Go("VMOV V%d.D[0], %v", int(v), lo)
	a.Go("VMOV V%d.D[1], %v", int(v), hi)
	return lo, hi
}

// subsets makes a table from four numbers for each component and group, two components at a time.
func (a *asm) subsets() {
	a.Begin("subsetsNEON", "table, r *float64, stride, width int", "",
		"sets table to the sums of all subsets of every four of 32 rows of r, stride apart and width components wide; width is 8 or 16.")
	p := a.Args("table", "r", "stride", "width")
	table, r, stride := p[0], p[1], p[2]
	a.Go("LSL $3, %v, %v", stride, stride)
	a.Choose(p[3], []int{16, 8}, func(width int) {
		a.Times(8, func() {
			row := []reg{r, a.Reg(), a.Reg(), a.Reg()}
			for i := 1; i < 4; i++ {
				a.Go("ADD %v, %v, %v", stride, row[i-1], row[i])
			}
			for off := 0; off < 8*width; off += 16 {
				restore := a.Scope()
				sum := a.Vecs(16)
				a.Zero(sum[0])
				for m := 1; m < 16; m++ {
					top := 3
					for m>>top == 0 {
						top--
					}
					if rest := m &^ (1 << top); rest == 0 {
						a.Load(row[top], off, sum[m])
					} else {
						a.Do("fadd %v.2d, %v.2d, %v.2d", sum[m], sum[1<<top], sum[rest])
					}
				}
				for m, v := range sum {
					a.Store(table, m*8*width+off, v)
				}
				restore()
			}
			a.Add(16*8*width, table)
			a.Go("ADD %v, %v, %v", stride, row[3], r)
		})
	})
	a.End()
}

// lookups adds eight lines for every word. Components are in lanes: the sums of a subset of a group of four, for 8 or 16 components,
// are a line of a table, and four bits of a word are its number.
func (a *asm) lookups() {
	a.Begin("lookupsNEON", "sum *float64, words *uint32, table *float64, n, stride, width int", "",
		"adds to n rows of sum, stride apart and width components wide, the eight lines of table that each of n words tells; n > 0, width is 8 or 16.")
	p := a.Args("sum", "words", "table", "n", "stride", "width")
	sum, words, table, n, stride := p[0], p[1], p[2], p[3], p[4]
	a.Go("LSL $3, %v, %v", stride, stride)
	a.Choose(p[5], []int{16, 8}, func(width int) {
		group := []reg{table}
		for g := 1; g < 8; g++ {
			group = append(group, a.Copy(group[g-1]))
			a.Add(16*8*width, group[g])
		}
		a.Loop(n, func() {
			acc, t, word, line := a.Vecs(width/2), a.Vecs(width/2), a.Reg(), a.Reg()
			a.Go("MOVWU.P 4(%v), %v", words, word)
			a.Load(sum, 0, acc...)
			for g, at := range group {
				a.Go("UBFX $%d, %v, $4, %v", 4*g, word, line)
				a.Go("ADD %v<<%d, %v, %v", line, map[int]int{16: 7, 8: 6}[width], at, line)
				a.Load(line, 0, t...)
				each(t, func(v int) { a.Do("fadd %v.2d, %v.2d, %v.2d", acc[v], acc[v], t[v]) })
			}
			a.Store(sum, 0, acc...)
			a.Go("ADD %v, %v", stride, sum)
		})
	})
	a.End()
}
