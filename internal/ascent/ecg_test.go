package ascent_test

import (
	"testing"

	"gonum.org/v1/gonum/optimize"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
)

func TestECGClimbsAsGonumDoes(t *testing.T) {
	compare(t, "ecg", func(c ascent.Chart) ascent.Driver { return ascent.ECG{Chart: c, MaxIter: 2000} },
		&optimize.CG{Variant: &optimize.PolakRibierePolyak{}}, 1.3)
}

// The paper's coordinates are not the parameters' own: the climbs differ, the optimum does not.
func TestCoordinatesDoNotChangeTheOptimum(t *testing.T) {
	rows, start := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	a := follow(t, "in factors", ascent.ECG{Chart: m.Chart(), MaxIter: 2000}, newObjective(t, m, rows), start)
	b := follow(t, "in parameters", ascent.ECG{MaxIter: 2000}, newObjective(t, m, rows), start)
	f, g := a[len(a)-1].Point.F, b[len(b)-1].Point.F
	if d := f - g; d > 1e-9 || d < -1e-9 || a[1].Point.F == b[1].Point.F {
		t.Errorf("ends at %v in factors, at %v in parameters, after first steps to %v and %v", f, g, a[1].Point.F, b[1].Point.F)
	}
}
