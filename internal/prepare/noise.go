package prepare

import (
	"context"
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/pca"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// flatSide is the side of the box along the principal axes, of columns with a standard deviation of 1, below which the rows do not vary there: the
// volume would be rounding.
const flatSide = 1e-6

// A model file holds the axes of the noise's box, as many numbers as the square of the columns.
const (
	turnedColumns = 500  // up to which principal axes are looked at
	noiseColumns  = 2000 // of a fit with noise at most
)

// findNoise finds where the noise of the plan lies, and its volume: the smaller of the box of the columns and that along the principal axes of
// the standardised columns, so that the units of columns do not matter (mclust's hypvol takes the axes of the columns as they are). Where cells
// are missing it is the box of the columns, whose density of the cells that are there is constant too. The noise has no weight yet.
func (f *Rows) findNoise(ctx context.Context) error {
	if f.Plan.Noise == nil {
		return nil
	}
	if d := len(f.Survey.Mean); d > noiseColumns {
		return plan.Wrong("Noise", "is for at most %d columns, but %s; use --pca", noiseColumns, text.There(d, "column"))
	}
	f.Noise = boxOf(f.Survey)
	if f.Survey.Gaps == nil && len(f.Survey.Mean) > 1 && len(f.Survey.Mean) <= turnedColumns {
		turned, err := f.turnedBox(ctx)
		if err != nil {
			return err
		}
		if turned != nil && turned.LogVolume < f.Noise.LogVolume {
			f.Noise = turned
		}
	}
	if v := f.Plan.Noise.LogVolume; v != nil {
		f.Noise.LogVolume = *v - f.logUnit()
	}
	var err error
	f.NoiseWidths, err = f.Noise.LogWidths()
	return err
}

// logUnit returns the logarithm of the volume that is 1 in the units of Source, in the user's: those of the columns, or of principal components.
func (f *Rows) logUnit() float64 {
	if model.Principal(f.Transform) != nil && !f.Plan.Scaled() {
		return float64(len(f.Survey.Mean)) * math.Log(math.Ldexp(1, f.Units.ScalePower))
	}
	return model.LogVolume(f.Transform, len(f.Names))
}

// boxOf returns the box of the columns.
func boxOf(look *sweep.Survey) *model.Noise {
	d := len(look.Mean)
	n := &model.Noise{Region: model.Region{Center: look.Mean, Axes: make([][]float64, d), Low: make([]float64, d), High: make([]float64, d)}}
	for j, m := range look.Mean {
		n.Axes[j] = make([]float64, d)
		n.Axes[j][j] = 1
		n.Low[j], n.High[j] = look.Min[j]-m, look.Max[j]-m
		n.LogVolume += math.Log(look.Max[j] - look.Min[j])
	}
	return n
}

// turnedBox returns the box along the principal axes of the standardised columns; nil where the rows do not vary along one.
func (f *Rows) turnedBox(ctx context.Context) (*model.Noise, error) {
	d := len(f.Survey.Mean)
	unit, sd := *f.Survey, make([]float64, d)
	unit.Mean, unit.Var = make([]float64, d), make([]float64, d)
	logVolume := 0.0
	for j, v := range f.Survey.Var {
		sd[j], unit.Var[j] = math.Sqrt(v), 1
		logVolume += math.Log(sd[j])
	}
	axes, err := pca.Axes(ctx, data.Scaled(f.Source, f.Survey.Mean, sd), &unit, f.Plan.Threads)
	if err != nil {
		return nil, err
	}
	for _, axis := range axes { // from rows as they are
		for j, s := range sd {
			axis[j] /= s
		}
	}
	look, err := sweep.Look(ctx, data.Projected(f.Source, f.Survey.Mean, axes), f.Plan.Threads)
	if err != nil {
		return nil, err
	}
	for a, lo := range look.Min {
		side := look.Max[a] - lo
		if !(side > flatSide) {
			return nil, nil
		}
		logVolume += math.Log(side)
	}
	return &model.Noise{LogVolume: logVolume, Region: model.Region{Center: f.Survey.Mean, Axes: axes, Low: look.Min, High: look.Max}}, nil
}
