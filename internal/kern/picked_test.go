package kern

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPickedKernelsAtEveryLength(t *testing.T) {
	r := &draws{t: t, rng: rand.New(rand.NewPCG(3, 4))}
	for n := range 70 {
		fuzzPicked(r, 1+n%9, 1+n%34, n, 184)
	}
}

func FuzzPicked(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, gb, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		for _, most := range []int{184, 255} {
			fuzzPicked(r, 1+int(gb)%20, 1+int(kb)%50, r.rng.IntN(60), most)
		}
	})
}

// fuzzPicked draws integers below 2^24 and multiples of a quarter, so that float32 is exact, for levels whose MostByte is at least most: n of k
// centres are listed.
func fuzzPicked(r *draws, groups, k, n, most int) {
	x, c := make([]uint8, groups*4*Rows), make([]int8, 0, k*(PickedHead+4*groups))
	for i := range x {
		x[i] = uint8(min(r.rng.IntN(300), most))
	}
	quarters := func(n, span int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.rng.IntN(span)-span/4) / 4
		}
		return v
	}
	for range k {
		for _, v := range []uint32{uint32(r.rng.IntN(2000) - 1000), math.Float32bits(float32(1 + r.rng.IntN(2))), math.Float32bits(float32(r.rng.IntN(1000) - 500)), r.rng.Uint32()} {
			c = append(c, int8(v), int8(v>>8), int8(v>>16), int8(v>>24))
		}
		for _, b := range centreBytes(r.rng, groups, most) {
			c = append(c, b[:]...)
		}
	}
	row, meta, lift, radius := quarters(4*Rows, 8), quarters(4*n, 8), quarters(n+PickedRoom, 4000), quarters(n+PickedRoom, 400_000)
	list := make([]uint32, n+PickedRoom)
	for i := range n {
		list[i] = uint32(r.rng.IntN(k))
	}
	kp := (k + CandidateBlock - 1) / CandidateBlock * CandidateBlock
	bounds, table, coef := quarters(kp, 100), quarters(5*kp, 40), [5]float32(quarters(5, 40))
	if r.rng.IntN(3) == 0 {
		bounds[r.rng.IntN(kp)] = float32(math.NaN())
	}
	type results struct {
		scores, t, lift, radius []float32
		upper                   [Rows]float32
		near                    []uint16
		list                    []uint32
		skip                    bool
	}
	against(r, func() (o results) {
		o.skip = MostByte() < most
		scores := make([]float32, (n+PickedRoom)*Rows)
		Picked(x, row, c, slices.Clone(list), scores, groups, n)
		for i := range o.upper {
			o.upper[i] = float32(1000 * i)
		}
		Uppers(&o.upper, row, meta, scores, n)
		o.t, o.near = make([]float32, n+PickedRoom), make([]uint16, (n+15)/16)
		Margins(o.t, o.near, scores, &o.upper, lift, radius, n)
		o.scores, o.t = scores[:n*Rows], o.t[:n]
		if n%16 != 0 {
			o.near[n/16] &= 1<<(n%16) - 1
		}
		o.list, o.lift, o.radius = make([]uint32, kp+PickedRoom), make([]float32, kp+PickedRoom), make([]float32, kp+PickedRoom)
		m := Candidates(o.list, o.lift, o.radius, bounds, table, &coef)
		o.list, o.lift, o.radius = o.list[:m], o.lift[:m], o.radius[:m]
		return o
	}, func(l Level, got, want results) {
		switch {
		case got.skip:
		case !slices.Equal(got.scores, want.scores):
			for i := range got.scores {
				if got.scores[i] != want.scores[i] {
					r.t.Fatalf("%v: Picked: %d centres, %d groups: score %d of row %d is %v, want %v", l, n, groups, i/Rows, i%Rows, got.scores[i], want.scores[i])
				}
			}
		case got.upper != want.upper:
			r.t.Fatalf("%v: Uppers: %v, want %v", l, got.upper, want.upper)
		case !slices.Equal(got.t, want.t) || !slices.Equal(got.near, want.near):
			r.t.Fatalf("%v: Margins: %v (%x), want %v (%x)", l, got.t, got.near, want.t, want.near)
		}
		if !slices.Equal(got.list, want.list) || !slices.Equal(got.lift, want.lift) || !slices.Equal(got.radius, want.radius) {
			r.t.Fatalf("%v: Candidates: %v %v %v, want %v %v %v", l, got.list, got.lift, got.radius, want.list, want.lift, want.radius)
		}
	})
}
