package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// Starts returns the parameter vectors that the climbs begin at, as many as the plan says: given, computed, or drawn from a sample of the
// rows. Drawn ones may have climbed some steps already, where several are tried for each.
func (f *Fit) Starts(ctx context.Context) ([][]float64, error) {
	if f.Plan.Init == plan.FromModel {
		theta, err := f.fromModel(f.Plan.Given)
		return [][]float64{theta}, err
	}
	if f.Plan.Chain {
		return f.chainStarts(ctx)
	}
	switch f.Plan.Init {
	case plan.FromCenters:
		theta, err := f.fromCenters(ctx, f.Plan.Centers)
		return [][]float64{theta}, err
	case plan.FromLabels:
		theta, err := f.fromLabels(ctx, f.Plan.Labels)
		return [][]float64{theta}, err
	}
	switch f.Plan.Driver(f.Mix.D) {
	case plan.Exact:
		theta, err := f.exact(ctx)
		return [][]float64{theta}, err
	case plan.DPMeans:
		if err := f.checkPenalty(ctx); err != nil {
			return nil, err
		}
		mean := slices.Clone(f.Survey.Mean)
		for j := range mean {
			mean[j] -= f.Origin[j]
		}
		return [][]float64{mean}, nil
	}
	points, err := f.drawable(ctx)
	if err != nil {
		return nil, err
	}
	if numbers, ok := f.Mix.Numbers(); ok && f.Mix.Bayes == nil {
		f.grid = grids(points.Of(numbers.Columns))
	}
	method, starts := f.Plan.Start(f.Mix.D), f.starts()
	near, each := f.near(points, method), f.Plan.Tries(method, f.Survey.Used)
	some, someNear := f.central(points, near)
	var thetas [][]float64
	for i := range starts {
		rng := rng.Starts.At(f.Plan.Seed, i)
		for j := range each {
			p, by, how := some, someNear, drawnBy(method, i, j)
			if how == plan.Random {
				p, by = points, near
			}
			theta, err := f.drawn(ctx, p, by, how, startConfidence(method, i*each+j), rng)
			if err != nil {
				return nil, err
			}
			theta, _ = f.sortedSticks(theta)
			thetas = append(thetas, theta)
		}
	}
	if thetas, err = f.inSpan(ctx, points, thetas); err != nil {
		return nil, err
	}
	switch {
	case f.drawsCells():
		return f.withCells(ctx, points, near, thetas, each, method)
	case each > 1:
		return f.bestTries(ctx, thetas, each, method)
	}
	return thetas, nil
}

// cellRows is the number of rows up to which starts from random cells are drawn. Beside more a prior weighs little.
const cellRows = 10_000

// drawsCells reports whether starts from random cells are drawn beside the others. Under a prior a component that loses its rows stays where the
// prior is largest, which is a local maximum, and what is best after a few steps often leads there: the best maximum known of faithful in
// five diagonal components was reached by 12 of 24 starts from random cells, and by one of 24 that were as wide as all rows.
func (f *Fit) drawsCells() bool {
	_, numbers := f.Mix.Numbers()
	return f.Plan.Thorough() && f.Plan.K > 1 && f.Mix.Prior != nil && numbers && f.Survey.Used <= cellRows
}

// withCells returns the best of the tries, and as many starts from random cells: the rows nearest to each of k rows drawn at random.
func (f *Fit) withCells(ctx context.Context, points, near *seed.Points, tries [][]float64, each int, method plan.Start) (thetas [][]float64, err error) {
	if thetas = tries; each > 1 {
		if thetas, err = f.bestTries(ctx, tries, each, method); err != nil {
			return nil, err
		}
	}
	n := len(thetas)
	for i := range n {
		rows := filledUp(seed.Random(points, f.Plan.K, rng.Starts.At(f.Plan.Seed, n+i)), f.Plan.K, points.N)
		thetas = append(thetas, f.labelled(points, nearest(near, rows, f.Plan.Threads), DrawnConfidence, nil))
	}
	return thetas, nil
}

// drawnBy returns the method by which a try of a start is drawn. "mixed" begins with k-means and goes on with other methods, which
// lead to other local maxima. Of 264 fits of six tables, over 14 shapes and several k, the highest known maximum was reached in 195 by ten
// starts from k-means, in 220 by ten from k-means++, and in 235 by five mixed ones, each the best of ten tries, with splits and merges
// after them.
func drawnBy(method plan.Start, start, try int) plan.Start {
	switch {
	case method == plan.SmallEM:
		return plan.Random
	case method != plan.Mixed:
		return method
	case try == 0 && start%2 == 0:
		return plan.KMeans
	case try%3 == 1 || try == 0:
		return plan.PlusPlus
	}
	return plan.Random
}

// How many steps tries climb.
const (
	smallSteps    = 10 // EM steps
	discreteSteps = 60 // of kinds with kind.Kind.Soft: almost to the maximum, since early steps say little about which is higher
)

// bestTries returns the best of each group of so many tries after a short climb: ten EM steps (small-EM: Biernacki, Celeux, Govaert
// 2003), and up to discreteSteps of EM-L-BFGS for mixed starts of kinds with kind.Kind.Soft. All tries of all starts share the passes.
func (f *Fit) bestTries(ctx context.Context, tries [][]float64, each int, method plan.Start) ([][]float64, error) {
	l := &lockstep{sweeper: f.sweeper(), threads: f.Plan.Threads, mix: f.Mix}
	var driver ascent.Driver = ascent.EM{Beta: 1, MaxIter: smallSteps}
	if method == plan.Mixed && f.Plan.Kind.Soft {
		l.smooth, driver = true, until{ascent.EMLBFGS{Warm: 10, Memory: 15, MaxIter: discreteSteps}, moveNear, ascent.EstimateAfter}
	}
	runs := l.climb(ctx, func(int) ascent.Driver { return driver }, tries, nil)
	thetas := make([][]float64, len(tries)/each)
	for i := range thetas {
		group := runs[i*each : (i+1)*each]
		for _, r := range group {
			if r.Err != nil {
				return nil, r.Err
			}
			f.StartSweeps += r.Sweeps
		}
		at, _ := f.Best(group)
		thetas[i] = group[at].Last.Point.Theta
	}
	return thetas, nil
}

// sample returns the rows that starts are drawn from: all, or a uniform sample.
func (f *Fit) sample(ctx context.Context) (*seed.Points, error) {
	most := f.sampleRows()
	f.drawnFrom = min(f.Survey.Used, int64(most))
	return f.shared.sample(most, func() (*seed.Points, error) {
		return seed.Sample(ctx, f.Source, f.Survey.Used, f.Origin, most, rng.StartSample.New(f.Plan.Seed))
	})
}

// sampleRows returns how many rows a sample for starts has at most.
func (f *Fit) sampleRows() int { return max(seed.SampleRows, f.Plan.K) }

// breathed returns the rows that breathing k-means looks for moves among, those of sample. Where they are some of a table of float32 they are
// narrow: they take half the memory, and their sums half the work.
func (f *Fit) breathed(ctx context.Context) (*seed.Points, error) {
	t, ok := f.Source.(*data.Table)
	most := f.sampleRows()
	if !ok || t.F32 == nil || f.Survey.Used <= int64(most) || f.Survey.Missing > 0 {
		return f.sample(ctx)
	}
	return once(f.shared, &f.shared.narrow, most, func() (*seed.Points, error) {
		return seed.NarrowSample(ctx, t, f.Survey.Used, f.Origin, most, f.Plan.Threads, rng.StartSample.New(f.Plan.Seed))
	})
}

// Rows that k-means++ draws the starts of breathing k-means from: enough for seedRows a centre, and for seedCells. The moves make good what a
// start lacks, so that more are not worth the time.
const (
	seedRows  = 1000
	seedCells = 1 << 23
)

// seeded returns how many rows are enough to draw a start of breathing k-means from.
func (f *Fit) seeded() int { return max(seedRows*f.Plan.K, seedCells/f.Mix.D, 1) }

// drawable returns the rows that starts are drawn from.
func (f *Fit) drawable(ctx context.Context) (*seed.Points, error) {
	if f.Plan.Driver(f.Mix.D) != plan.Breathing {
		return f.sample(ctx)
	}
	p, err := f.breathed(ctx)
	if err != nil {
		return nil, err
	}
	p = p.Every(max(p.N/f.seeded(), 1))
	f.drawnFrom = int64(p.N)
	return p, nil
}

// near returns the points in the space where a method of plan.Start measures distances between them. For a Gaussian mixture that is in
// units of each column's standard deviation, so that the units of columns do not matter; "whitened" measures by the covariance of all
// rows, so that no linear map of the columns matters. For levels the distance is the number of columns that differ. Other kinds say
// themselves (kind.Cells.Near), or take the points as they are. A missing number is taken for the mean of its column.
func (f *Fit) near(p *seed.Points, method plan.Start) *seed.Points {
	switch k := f.Plan.Kind; {
	case k.Parted:
		return f.embedded(p)
	case k.Shaped:
		factor := make([]float64, p.D)
		for j, v := range f.Survey.Var {
			factor[j] = 1 / math.Sqrt(v)
		}
		if p = p.Filled().Scaled(factor); method == plan.Whitened {
			return p.Whitened()
		}
		return p
	case k.Cells.Levels:
		return p.OfLevels(kind.Counts(f.Plan.Levels))
	case k.Cells.Near != nil:
		return p.Mapped(k.Cells.Near).Filled()
	}
	return p.Filled()
}

// drawn returns one start drawn from the points p by a method of plan.Start; near is the same points where the method measures
// distances. "whitened" is "kmeans" but for those. confidence is the share of a row that its labelled component gets; Gaussian
// components and centres take labels whole.
func (f *Fit) drawn(ctx context.Context, p, near *seed.Points, method plan.Start, confidence float64, rng *rand.Rand) ([]float64, error) {
	k := f.Plan.K
	if f.Mix.Bayes != nil { // as many components as there may be groups: the others start empty
		k = 1 + rng.IntN(k)
	}
	candidates := seed.Greedy(k)
	if method == plan.PlusPlus {
		candidates = 1
	}
	var rows []int
	if method == plan.Random {
		rows = seed.Random(p, k, rng)
	} else {
		rows = seed.PlusPlus(near, k, candidates, f.Plan.Threads, rng.Float64)
	}
	rows = filledUp(rows, k, p.N)
	centres := make([]float64, 0, k*p.D)
	for _, i := range rows {
		for j, x := range p.At(i) {
			if x != x { // the mean of the column
				x = f.Survey.Mean[j] - f.Origin[j]
			}
			centres = append(centres, x)
		}
	}
	if !f.Plan.Mixture() {
		return centres, nil
	}
	mix, g, gaussian := f.Mix.Start()
	switch {
	case f.Mix.Bayes != nil && method != plan.KMeans && method != plan.Whitened:
		return f.labelled(p, nearest(near, rows, f.Plan.Threads), confidence, nil), nil
	case gaussian && method == plan.Random:
		return f.restrict(seed.Around(mix, g, centres, slices.Repeat([]float64{1}, k), f.startVariances(g, rng))), nil
	case gaussian && method == plan.PlusPlus:
		return f.restrict(seed.Around(mix, g, centres, weights(p, nearest(near, rows, f.Plan.Threads), k), f.startVariances(g, rng))), nil
	case method == plan.Random || method == plan.PlusPlus:
		return f.labelled(p, nearest(near, rows, f.Plan.Threads), confidence, centres), nil
	}
	labels, err := f.shared.lloyd(ctx, near, rows, f.Plan.Threads)
	if err != nil {
		return nil, err
	}
	return f.labelled(p, labels, confidence, nil), nil
}

// filledUp returns k of n rows: those drawn and, since a sample may hold fewer distinct rows than the data, the first of the others.
func filledUp(rows []int, k, n int) []int {
	for i := 0; len(rows) < k; i++ {
		if i = i % n; !slices.Contains(rows, i) {
			rows = append(rows, i)
		}
	}
	return rows
}

// labelled returns the parameters that one M-step makes of labels. labels[i] belongs to row i of p. Gaussian components take labels whole;
// confidence is the share of a row that its labelled component gets elsewhere. Of columns of several kinds the components of the numbers
// are rather wide and stand about centres, k rows, where those are not nil.
func (f *Fit) labelled(p *seed.Points, labels []int32, confidence float64, centres []float64) []float64 {
	if f.Mix.Bayes != nil {
		return seed.FromLabelsWithConfidence(f.Mix, p, labels, 1)
	}
	if mix, g, gaussian := f.Mix.Start(); gaussian {
		p, labels = f.centralIn(p, labels)
		return f.withFactors(f.restrict(seed.FromLabels(mix, g, p, labels)), p, labels)
	}
	if !f.Plan.Kind.Parted {
		return seed.FromLabelsWithConfidence(f.Mix, p, labels, confidence)
	}
	k := f.Mix.K
	weight := weights(p, labels, k)
	total := 0.0
	for _, w := range weight {
		total += w
	}
	var of [][]float64
	for _, part := range f.Mix.Parts() {
		own := p.Of(part.Columns)
		switch mix, g, gaussian := part.Start(); {
		case !gaussian:
			of = append(of, seed.FromLabelsWithConfidence(part.Mixture, own, labels, confidence))
		case centres != nil:
			around := (&seed.Points{N: k, D: p.D, X: centres}).Of(part.Columns).X
			of = append(of, part.Restrict(seed.Around(mix, g, around, weight, g.Var), f.Survey.W))
		default:
			of = append(of, part.Restrict(seed.FromLabels(mix, g, own, labels), f.Survey.W))
		}
	}
	for c := range weight {
		weight[c] = confidence*weight[c] + (1-confidence)*total/float64(k)
	}
	return f.Mix.Join(weight, of)
}

// embedded returns points of columns of several kinds in a space in which squared distances add up over columns: numbers in units of their
// standard deviations, counts on a scale on which they vary by about 1, and for a category one axis a level, so that two levels are 1
// apart. What is missing is the mean of its axis.
func (f *Fit) embedded(p *seed.Points) *seed.Points {
	types, levels := f.Plan.Types, kind.Counts(f.Plan.Levels)
	width := p.D
	for j, t := range types {
		if t == data.Category {
			width += levels[j] - 1
		}
	}
	q := &seed.Points{N: p.N, D: width, X: make([]float64, 0, p.N*width), W: p.W, Row: p.Row}
	for i := range p.N {
		for j, x := range p.At(i) {
			switch cells := f.Plan.Kind.CellsOf(types, j); {
			case cells.Levels:
				q.X = appendLevel(q.X, x, levels[j])
			case cells.Near != nil:
				q.X = append(q.X, cells.Near(x))
			default:
				q.X = append(q.X, x/math.Sqrt(f.Survey.Var[j]))
			}
		}
	}
	return q.Filled()
}

// appendLevel appends an axis for each of so many levels, of which x is the number.
func appendLevel(to []float64, x float64, levels int) []float64 {
	for l := range levels {
		v := 0.0
		switch {
		case x != x:
			v = x
		case int(x) == l:
			v = math.Sqrt2 / 2
		}
		to = append(to, v)
	}
	return to
}

// Label confidence: the share of a row that its labelled component gets in a start of a kind without covariances, such as bits. All
// components share the rest, since EM cannot leave a probability of 0.
const (
	// DrawnConfidence is the label confidence of starts that are drawn.
	DrawnConfidence = 0.7
	givenConfidence = 0.99
	// softConfidence begins where all components are much alike; they part as the climb goes on. On nine problems with many local maxima
	// the best tenth of 60 such starts ended some 30 % nearer the highest maximum known than that of others. Where components are
	// well apart, all such starts may miss one that the others find. So mixed starts take turns.
	softConfidence = 0.15
)

// startConfidence returns the label confidence of a try of a start.
func startConfidence(method plan.Start, try int) float64 {
	if method == plan.Mixed && try%2 == 1 {
		return softConfidence
	}
	return DrawnConfidence
}

// nearest returns for each point which of the given rows is nearest.
func nearest(p *seed.Points, rows []int, threads int) []int32 {
	var centres []float64
	for _, i := range rows {
		centres = append(centres, p.At(i)...)
	}
	return seed.Nearest(p, centres, threads)
}

// weights returns the weight of the points with each label.
func weights(p *seed.Points, labels []int32, k int) []float64 {
	w := make([]float64, k)
	for i, c := range labels {
		w[c] += p.W[i]
	}
	return w
}
