package family_test

import (
	"math"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
	"github.com/latent-go/latent/internal/mixture"
)

// normalWishart makes priors of numbers that are anything but weak, with correlated columns where covariances are matrices.
func normalWishart(shape family.Shape) familytest.PriorMaker {
	return func(v []float64, _ int) *mixture.Prior {
		return &mixture.Prior{Weights: 1.5, Components: numbersPrior(shape, v)}
	}
}

func numbersPrior(shape family.Shape, v []float64) family.Prior {
	const dof = 6
	d := len(v)
	p := &family.NormalWishart{Shrinkage: 0.7, Each: 1, Scale: make([]float64, shape.Size(d))}
	for j := range d {
		p.Mean = append(p.Mean, 0.3*math.Sqrt(v[j]))
	}
	switch shape.Alone() {
	case family.Full:
		p.Count = dof + float64(d) + 1
		for j := range d {
			for l := range j + 1 {
				p.Scale[j*(j+1)/2+l] = 0.3 * math.Sqrt(v[j]*v[l])
			}
			p.Scale[j*(j+3)/2] = v[j]
		}
	case family.Diag:
		p.Count = dof + 2
		copy(p.Scale, v)
	default:
		p.Count, p.Scale[0] = (dof+2)/float64(d), v[0]
	}
	return p
}

// bitsPrior makes pseudo-rows with other shares in every column.
func bitsPrior(v []float64, k int) *mixture.Prior {
	p := family.LevelPrior{Rows: 3 / float64(k)}
	for j := range v {
		p.Shares = append(p.Shares, 0.2+0.6*float64(j%3)/2)
	}
	return &mixture.Prior{Weights: 0.5, Components: p}
}

// levelsPrior is bitsPrior of columns of some levels.
func levelsPrior(columns []int, k int) family.LevelPrior {
	p := family.LevelPrior{Rows: 2 / float64(k)}
	for _, j := range columns {
		n := some(j)
		for l := range n {
			p.Shares = append(p.Shares, 2*float64(l+1)/float64(n*(n+1)))
		}
	}
	return p
}

func gaussian(shape family.Shape) familytest.Maker {
	return func(v []float64) family.Family {
		if shape.Parsimonious() {
			return family.Parsimonious{Shape: shape, Var: v}
		}
		return family.Gaussian{Shape: shape, Var: v}
	}
}

func TestPriorLawsOfAllShapes(t *testing.T) {
	for _, shape := range family.Shapes() {
		t.Run(shape.String(), func(t *testing.T) {
			familytest.PriorLaws(t, gaussian(shape), normalWishart(shape), familytest.Blobs, !shape.Parsimonious())
		})
	}
}

func TestPriorLawsWithGaps(t *testing.T) {
	for _, shape := range []family.Shape{family.Full, family.Tied, family.Diag, family.Spherical, family.TiedDiag, family.TiedSpherical, family.TiedShapeDiag, family.TiedVolume} {
		t.Run(shape.String(), func(t *testing.T) {
			familytest.PriorLaws(t, familytest.Gapped(gaussian(shape)), normalWishart(shape), familytest.Holes(familytest.Blobs), false)
		})
	}
}

func TestPriorLawsOfBitsAndLevels(t *testing.T) {
	bits := func([]float64) family.Family { return family.Bernoulli{} }
	levels := func(v []float64) family.Family {
		f := family.Categorical{}
		for j := range v {
			f.Levels = append(f.Levels, some(j))
		}
		return f
	}
	all := func(v []float64, k int) *mixture.Prior {
		columns := make([]int, len(v))
		for j := range columns {
			columns[j] = j
		}
		return &mixture.Prior{Components: levelsPrior(columns, k)}
	}
	t.Run("bits", func(t *testing.T) { familytest.PriorLaws(t, bits, bitsPrior, draw(two), true) })
	t.Run("bits with gaps", func(t *testing.T) {
		familytest.PriorLaws(t, familytest.Gapped(bits), bitsPrior, familytest.Holes(draw(two)), true)
	})
	t.Run("levels", func(t *testing.T) { familytest.PriorLaws(t, levels, all, draw(some), true) })
	t.Run("levels with gaps", func(t *testing.T) { familytest.PriorLaws(t, levels, all, familytest.Holes(draw(some)), true) })
}

// A part without a prior, here of counts, goes on as it does alone.
func TestPriorLawsOfMixedColumns(t *testing.T) {
	for _, shape := range []family.Shape{family.Full, family.Diag, family.TiedVolumeShape} {
		prior := func(v []float64, k int) *mixture.Prior {
			var columns [3][]int
			var number []float64
			for j, x := range v {
				if columns[j%3] = append(columns[j%3], j); j%3 == 0 {
					number = append(number, x)
				}
			}
			parts := family.PartPriors{numbersPrior(shape, number)}
			if columns[1] != nil {
				parts = append(parts, levelsPrior(columns[1], k))
			}
			if columns[2] != nil {
				parts = append(parts, nil)
			}
			return &mixture.Prior{Weights: 1, Components: parts}
		}
		t.Run(shape.String(), func(t *testing.T) {
			familytest.PriorLaws(t, newMixed(shape), prior, mixedRows, false)
			t.Run("gaps", func(t *testing.T) {
				familytest.PriorLaws(t, familytest.Gapped(newMixed(shape)), prior, familytest.Holes(mixedRows), false)
			})
		})
	}
}
