package tell_test

import (
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/model"
)

// mixture returns a result with k groups in 150 rows, chosen by BIC from candidates of shape VVV with k = 1, 2 and so on.
func mixture(k int, verdict string, doubts []string, bic ...float64) *latent.Result {
	r := &latent.Result{Kind: "gmm", K: k, Rows: 150, Columns: []string{"x"}}
	margin := 1.0
	r.Choice = &model.Choice{Criterion: "bic", Margin: &margin, Verdict: verdict, Doubts: doubts}
	for i := range bic {
		r.Candidates = append(r.Candidates, model.Candidate{K: i + 1, Mclust: "VVV", BIC: &bic[i]})
	}
	return r
}

func TestTheFindingSaysHowManyGroupsAndHowClearly(t *testing.T) {
	shapes := mixture(2, "flat", nil, 200, 100)
	other, third := 101.0, 101.5
	shapes.Candidates = append(shapes.Candidates, model.Candidate{K: 2, Mclust: "VEV", BIC: &other})
	both := mixture(2, "flat", nil, 200, 100)
	both.Candidates = append(both.Candidates, model.Candidate{K: 2, Mclust: "VEV", BIC: &other}, model.Candidate{K: 4, Mclust: "VEV", BIC: &third})
	left := &latent.Result{Kind: "kmeans", K: 2, Rows: 1, LeftOut: []model.LeftOut{{Column: "key"}, {Column: "note"}}}
	many := &latent.Result{Kind: "kmeans", K: 1, Rows: 14500, LeftOut: make([]model.LeftOut, 3)}
	gap := mixture(1, "", nil, 3, 2)
	gap.Choice.Criterion = "gap"
	silhouette := mixture(2, "", nil, 3, 2, 1)
	silhouette.Choice.Criterion, silhouette.Choice.Highest = "silhouette", true
	for i, v := range []float64{0.1, 0.6, 0.5} {
		silhouette.Candidates[i].Silhouette = &v
	}
	alone := mixture(1, "", nil, 3)
	alone.Choice.Margin = nil
	price, objective := 4.5, 20.0
	priced := &latent.Result{Kind: "kmeans", K: 7, Rows: 200}
	priced.Penalty, priced.Objective = &price, &objective
	for want, r := range map[string]*latent.Result{
		"3 groups in 150 rows, chosen among 3 fits by BIC: a close call between 2 and 3.":                                                      mixture(3, "flat", nil, 200, 101, 100),
		"2 groups in 150 rows, chosen among 3 fits by BIC: a close call between the covariances VVV and VEV, not between numbers of groups.":   shapes,
		"2 groups in 150 rows, chosen among 4 fits by BIC: a close call between 2 and 4.":                                                      both,
		"2 groups in 150 rows, chosen among 3 fits by BIC: a fair choice, with 3 groups next.":                                                 mixture(2, "fair", nil, 200, 100, 105),
		"1 group in 150 rows, chosen among 2 fits by BIC: a clear choice.":                                                                     mixture(1, "clear", nil, 100, 200),
		"1 group in 150 rows, chosen among 2 fits by BIC: not a clear choice, with 2 groups next.":                                             mixture(1, "fair", []string{"1 group is the fewest"}, 100, 200),
		"1 group in 150 rows, chosen among 1 fit by BIC: the only candidate.":                                                                  alone,
		"1 group in 150 rows, chosen among 2 fits by the gap statistic: the smallest number whose gap is within a standard error of the next.": gap,
		"2 groups in 150 rows, chosen among 3 fits by the mean silhouette: the highest, with 3 groups next.":                                   silhouette,
		"2 groups in 1 row (without columns key and note).":                                                                                    left,
		"1 group in 14,500 rows (without 3 columns).":                                                                                          many,
		"7 groups in 200 rows, found by DP-means at a price of 4.500 a group.":                                                                 priced,
		"2 groups, in a model that does not say how many rows it was fitted to.":                                                               {Kind: "gmm", K: 2},
	} {
		if got := tell.Finding(r); got != want {
			t.Errorf("%s\nnot %s", got, want)
		}
	}
	if got := tell.Doubts(mixture(1, "fair", []string{"only one start reached this"}, 100, 200)); len(got) != 1 || got[0] != "Only one start reached this." {
		t.Errorf("doubts %q", got)
	}
}

func TestTrustSaysWhetherItFinishedAndWhatFoundIt(t *testing.T) {
	near, away, method := 1e-5, 0.4, "information"
	make := func(change func(*latent.Result)) *latent.Result {
		r := &latent.Result{Kind: "gmm", K: 3, Rows: 150}
		r.Converged, r.Iterations = true, 12
		r.Starts = model.Starts{N: 5, AgreeWithBest: 5}
		r.Certificate = model.Certificate{DistanceSE: &near, Remaining: &near, Method: &method}
		change(r)
		return r
	}
	for want, r := range map[string]*latent.Result{
		"The computation finished; 5 of 5 starts found this.": make(func(*latent.Result) {}),
		"The computation finished.":                           make(func(r *latent.Result) { r.Starts = model.Starts{N: 1, AgreeWithBest: 1} }),
		"The computation finished; two groups of the start were merged and another was split.": make(func(r *latent.Result) {
			r.Starts = model.Starts{N: 1, AgreeWithBest: 1, Moves: &model.Moves{Tried: 9, Kept: 1}}
		}),
		"The computation finished; none of the 5 starts found this, splitting and merging groups did.": make(func(r *latent.Result) {
			r.Starts.AgreeWithBest, r.Starts.Moves = 0, &model.Moves{Tried: 3, Kept: 1, Gain: 2}
		}),
		"The computation finished; none of the 5 starts found this, continuing from the 4-group VII fit did.": make(func(r *latent.Result) {
			r.Starts.AgreeWithBest, r.Choice = 0, &model.Choice{From: "the 4-group VII fit"}
		}),
		"The computation has not finished after 12 iterations: raise --max-iter; 1 of 5 starts found this.": make(func(r *latent.Result) { r.Converged, r.Starts.AgreeWithBest = false, 1 }),
		"The computation was interrupted after 1 iteration, not finished: this is the best so far.": make(func(r *latent.Result) {
			r.Interrupted, r.Iterations, r.Starts = true, 1, model.Starts{N: 1, AgreeWithBest: 1}
		}),
		"The computation finished by --tol-loglik: how far the maximum is, is not known; 5 of 5 starts found this.": make(func(r *latent.Result) { r.Reason = ascent.LogLik }),
		"The computation finished, about 0.4 standard errors from the maximum; 5 of 5 starts found this.":           make(func(r *latent.Result) { r.Certificate.DistanceSE = &away }),
		"Nothing was fitted: the model was written by hand.":                                                        make(func(r *latent.Result) { r.ByHand = true }),
		"The model file does not say whether the computation had finished.":                                         make(func(r *latent.Result) { r.Starts = model.Starts{} }),
	} {
		if got := tell.Trust(r); got != want {
			t.Errorf("%s\nnot %s", got, want)
		}
	}
}
