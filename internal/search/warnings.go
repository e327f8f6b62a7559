package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/columns"
	"github.com/latent-go/latent/internal/inference"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// muchNoise is the weight of the noise above which it has taken groups: an ellipse does not fit into round components, and rows between them lie
// anywhere.
const muchNoise = 0.5

// warnings adds to r what the reader of the result should know.
func (f *Fit) warnings(r *Result, t *Tally, e *Outcome) {
	f.warnUnfinished(r)
	if f.Plan.RegCovar > 0 {
		r.warn(model.Warn(model.NoCertificate, "%s, so the distance from the maximum is not known", r.Certificate.Why))
	}
	apart := f.warnApart(r)
	if c := r.Certificate.Curvature; r.Model.Provenance.Converged && c != nil && *c < inference.FlatBelow {
		cure := "; fewer " + f.Plan.Part() + "s may be enough"
		if apart {
			cure = ""
		}
		r.warn(model.Warn(model.Undetermined, "%s%s", inference.Undetermined, cure))
	}
	if n := r.Model.Noise; n != nil && n.Weight > muchNoise {
		r.warn(model.Warn(model.MuchNoise, "%s of the weight is noise: these groups do not fit most of the rows; another --covariance, or more groups, may", text.Percent(n.Weight)))
	}
	if f.Plan.Mixture() {
		f.warnFew(r, e.Winner().Last.Point)
	}
	if f.Units.WeightPower != 0 && f.Plan.Mixture() && f.Plan.Algorithm != plan.HardEM {
		r.warn(model.Warn(model.WeightsOff, "the row weights average %s, far from 1: --tol counts them as if they averaged 1; BIC and standard errors count them as they are", text.Significant(f.Weight()/float64(f.Survey.Used), 3)))
	}
	if f.Discrete != nil {
		r.warn(f.DiscreteWarning())
	}
	if f.given != nil && f.given.raised {
		r.warn(model.Warn(model.Raised, "a covariance of the model that --init names is below the variance floor and was raised to it"))
	}
	switch n := f.Absent(); {
	case n == 1:
		r.warn(model.Warn(model.Absent, "1 %s of the model that --init names has weight 0 and takes no part: the fit does not change it, and its parameters are not counted", f.Plan.Part()))
	case n > 1:
		r.warn(model.Warn(model.Absent, "%d %ss of the model that --init names have weight 0 and take no part: the fit does not change them, and their parameters are not counted", n, f.Plan.Part()))
	}
	var noRows, noWeight []int // labels
	for c := range t.rows {
		switch {
		case t.sizes[c] > 0 || f.Absent() > 0 && r.Model.Weights[c] == 0:
		case t.rows[c] > 0:
			noWeight = append(noWeight, c+1)
		default:
			noRows = append(noRows, c+1)
		}
	}
	f.warnEmpty(r, noRows, "no row has")
	f.warnEmpty(r, noWeight, "only rows of weight 0 have")
}

// warnUnfinished says that the fit has not finished, and why.
func (f *Fit) warnUnfinished(r *Result) {
	c, p := &r.Certificate, r.Model.Provenance
	after := text.Count(p.Iterations, "iteration")
	switch {
	case p.Interrupted:
		r.warn(model.Warn(model.Interrupted, " after %s: this is the best so far, not finished", after))
	case r.Reason == ascent.Flat:
		r.warn(model.Warn(model.Unfinished, ": after %s rounding hides what a further step would gain, but --tol %s is not reached", after, text.Significant(f.Plan.Tol, 0)))
	case !p.Converged && c.DistanceSE != nil && *c.DistanceSE <= f.Plan.Tol && *c.Method == string(ascent.Information):
		r.warn(model.Warn(model.Unfinished, " after %s: the end is within --tol, but the log-likelihood is nearly flat here, and only more steps would make it sure; raise --max-iter", after))
	case !p.Converged:
		r.warn(model.Warn(model.Unfinished, " after %s: raise --max-iter", after))
	}
}

// warnFew says that a component has so few rows that its likelihood is accidental.
func (f *Fit) warnFew(r *Result, at *ascent.Point) {
	if c, j := f.narrow(at); c >= 0 {
		r.warn(model.Warn(model.Narrow, "a %[2]s of few rows is %[1]s: rounding alone makes its likelihood high; fewer %[2]ss may be enough", f.narrower(j), f.Plan.Part()))
	}
	if c, need := f.scant(at); c >= 0 {
		r.warn(model.Warn(model.FewRows, "the smallest %[4]s has %[1]s rows, fewer than the %[2]d that its %[3]s needs: its shape is left to chance; fewer %[4]ss may be enough", below(at.Weights[c], need, text.Decimals, 1), need, f.shapeOf(), f.Plan.Part()))
	}
}

// warnEmpty names the components of these labels as empty: carries says which rows carry their label.
func (f *Fit) warnEmpty(r *Result, labels []int, carries string) {
	name := "label"
	if f.Plan.Merge != nil { // labels will be those of clusters
		name = "number"
	}
	switch n := len(labels); {
	case n == 1:
		w := model.Warn(model.Empty, "%s %d is empty: %s its %s", f.Plan.Part(), labels[0], carries, name)
		w.Component = labels[0]
		r.warn(w)
	case n > 1:
		shown := strings.Trim(fmt.Sprint(labels[:min(n, 10)]), "[]")
		if n > 10 {
			shown += " ..."
		}
		r.warn(model.Warn(model.Empty, "%s empty (%s): %s their %ss", text.Are(n, f.Plan.Part()), strings.ReplaceAll(shown, " ", ", "), carries, name))
	}
}

// flatGroups warns of collinear columns where they put the groups of a result on the floor.
func (f *Fit) flatGroups(ctx context.Context, r *Result) error {
	if f.Plan.Replica || !f.Plan.Shaped() || !f.Plan.Shape.Matrix() || f.Plan.Shape.Factors() > 0 || !r.OnFloor() {
		return nil
	}
	said, err := f.Collinear(ctx, "every "+f.Plan.Part()+" is at the variance floor")
	if said != "" {
		r.WarnFirst(model.Warn(model.Collinear, "%s", said))
	}
	return err
}

// dominance warns where one column decides almost all distances and the user has not said anything about scales.
func (f *Fit) dominance(r *Result) {
	if f.Plan.Mixture() || f.Plan.Spec.Scale != "" || f.Plan.Replica {
		return
	}
	if name, share := columns.Dominant(f.Names, f.SD); name != "" {
		w := model.Warn(model.OneColumn, "column %q holds %s of the variance, so it decides the groups almost alone; --scale standard gives all columns the same scale (--scale none keeps it as it is, without this warning)", name, text.Percent(share))
		w.Column = name
		r.warn(w)
	}
}
