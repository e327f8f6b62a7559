package search

import (
	"fmt"
	"math"
	"time"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/text"
)

// What a fit may take by its estimate is bounded: see plan.AffordedBytes and plan.AffordedSeconds. A fit that would take more is refused
// before anything is climbed, and told what would take less: see Fit.affordable.

// Rates of the estimate, nanoseconds of one core with AVX2 of 2024. They are within a factor of three of what was measured
// (d = 20 to 800, k = 2 to 5000).
const (
	perSquare    = 0.2 // a row, a component and a cell of a whole matrix: scores and second moments
	perCell      = 0.6 // a row, a component and a column, without a matrix
	perCentre    = 0.15
	perPair      = 6.0 // a row and a component: exponentials
	perWhitened  = 4.0 // a row and a pair of columns
	perMove      = 1.0 // a row and a pair of states of a chain
	perSeeded    = 0.4 // a row, a centre that is drawn or tried, and a column
	perParameter = 60  // a parameter and an evaluation: the memory of L-BFGS, sums, copies
)

// perCube returns the nanoseconds that an evaluation takes per covariance and d^3: factors, inverses, eigenvalues and what the M-step
// iterates. few tells that components have fewer rows than columns: then eigenvalues lie at the floor and must be found.
func perCube(s family.Shape, few bool) float64 {
	plain, clipped := 2.0, 4.0
	switch s {
	case family.TiedShapeAxes:
		plain, clipped = 15, 20
	case family.TiedVolume:
		plain, clipped = 6, 80
	case family.TiedVolumeShape, family.TiedShape:
		plain, clipped = 20, 30
	case family.TiedVolumeAxes, family.TiedAxes:
		plain, clipped = 1500, 27_000
	default:
		if s.Factors() > 0 {
			plain, clipped = 100, 100
		}
	}
	if few {
		return clipped
	}
	return plain
}

// How many evaluations the estimate gives a climb where more are allowed.
const (
	plausibleSteps = 60
	stepsOfOne     = 3 // of one component, whose first step is the end
)

// Estimate is what a fit is expected to take, by its size alone.
type Estimate struct {
	Parameters float64 // length of one parameter vector
	Cells      float64 // of the table
	bytes      float64 // of parameters and sums that are alive at the same time
	Seconds    float64 // of one core
}

// Estimate returns what the fit is expected to take. It depends on sizes and on the number of threads alone, never on a clock.
func (f *Fit) Estimate() Estimate {
	s, n := &f.Plan, float64(f.Survey.Used)
	e := Estimate{Parameters: float64(f.Mix.Params()), Cells: f.Cells()}
	starts, each := float64(f.starts()), float64(s.Tries(s.Start(f.Mix.D), f.Survey.Used))
	if f.drawsCells() {
		starts *= 2
	}
	if s.Chain {
		ends, drawn := s.ChainStarts(f.Survey.Used)
		starts, each = float64(ends+drawn), 1
	}
	steps := float64(min(s.MaxIter, plausibleSteps) + 1)
	if s.K == 1 { // a step is the end
		steps = math.Min(steps, stepsOfOne)
	}
	seen := n // rows that starts climb on
	if s.Thorough() && n >= rungStep*seed.SampleRows {
		seen = seed.SampleRows
	}
	e.Seconds = starts * (steps*f.climbed()*f.evaluation(seen) + f.seeding())
	if each > 1 {
		short := float64(smallSteps)
		if s.Kind.Soft {
			short = discreteSteps
		}
		e.Seconds += starts * each * (min(steps, short) + 1) * f.evaluation(n)
	}
	if s.Start(f.Mix.D) == plan.Whitened {
		e.Seconds += perWhitened * math.Min(n, seed.SampleRows) * float64(f.Mix.D) * float64(f.Mix.D) / 1e9
	}
	if s.Thorough() && s.K > 1 {
		rows := min(n, moveRows)
		if rules := f.rules(int(rows)); rows >= float64(rules.rows) { // else no component can be split
			moves := math.Min(moveTries, math.Min(moveWork/rows, float64(rules.pairs*s.K)))
			e.Seconds += float64(1+rules.fails) * (moves*moveSteps + moveClimbs*steps) * f.evaluation(rows)
		}
	}
	// Vectors alive for each climb: what a point holds, what its evaluation needs, and twice the moves that are remembered.
	vectors, climbs := 10.0, starts
	if s.Mixture() && !s.Hard() {
		vectors += 30
	}
	sums := 8 * float64(f.Mix.Family.Sums(f.Mix.K, f.Mix.D)) * f.accumulators()
	e.bytes = climbs * (8*vectors*e.Parameters + sums)
	if each > 1 {
		e.bytes = math.Max(e.bytes, climbs*each*(8*6*e.Parameters+sums))
	}
	e.bytes *= float64(max(f.Concurrent, 1))
	return e
}

// seeding estimates the seconds of one core that drawing one start by k-means++ takes: every centre is the best of several candidates,
// each of which is compared with the rows that starts are drawn from.
func (f *Fit) seeding() float64 {
	s := &f.Plan
	if s.HasStart() || s.Start(f.Mix.D) == plan.Random || s.K == 1 {
		return 0
	}
	k, rows := float64(s.K), math.Min(float64(f.Survey.Used), float64(f.sampleRows()))
	if s.Driver(f.Mix.D) == plan.Breathing {
		rows = math.Min(rows, 2*float64(f.seeded())) // not all of them, where they are at least twice as many
	}
	return perSeeded * float64(seed.Greedy(s.K)) * rows * k * float64(f.Mix.D) / 1e9
}

// climbed returns how many times as long as its steps alone a climb takes: after them the moves of breathing k-means take as long as two
// more starts at most.
func (f *Fit) climbed() float64 {
	if f.Plan.Driver(f.Mix.D) != plan.Breathing {
		return 1
	}
	share := math.Min(1, float64(f.sampleRows())/float64(f.Survey.Used))
	return 1 + share + 2
}

// accumulators returns how many sets of sums a pass holds at the same time, at least.
func (f *Fit) accumulators() float64 {
	const leastChunk = 256
	return math.Min(math.Ceil(float64(f.Survey.Used)/leastChunk), float64(2*f.Plan.Threads))
}

const (
	// slowFactors is how many seconds the factors of whole matrices may take for the result of an interrupted fit to be waited for
	// without a limit: it then takes little more than a pass.
	slowFactors = 0.5
	// ResultWait is how long the result of an interrupted fit is waited for elsewhere.
	ResultWait = 5 * time.Second
)

// WaitAfterInterrupt returns how long the result of an interrupted fit is waited for; below 0 there is no limit.
func (f *Fit) WaitAfterInterrupt() time.Duration {
	if f.evaluation(0) > slowFactors {
		return ResultWait
	}
	return -1
}

// evaluation estimates the seconds of one core that one evaluation on n rows takes.
func (f *Fit) evaluation(n float64) float64 {
	k, d, numbers := float64(f.Mix.K), float64(f.Mix.D), 0.0
	ns := perParameter * float64(f.Mix.Params())
	shape := f.Plan.Shape
	if part, ok := f.Mix.Numbers(); ok && shape.Matrix() {
		numbers = float64(part.D)
	}
	switch {
	case !f.Plan.Mixture():
		ns = perCentre*n*k*d + perParameter/4*k*d
	case shape.Factors() > 0 && numbers > family.NarrowColumns:
		ns += n*k*(numbers*float64(shape.Factors()+2)*perCell+perPair) + k*numbers*float64(shape.Factors()*shape.Factors())*perCell
	case numbers > 0:
		covariances := float64(shape.Count(f.Mix.K))
		ns += n*k*numbers*numbers*perSquare + n*k*perPair + covariances*numbers*numbers*numbers*perCube(shape, n/covariances < numbers)
		ns += n * k * (d - numbers) * perCell
	default:
		ns += n * k * (d*perCell + perPair)
	}
	if f.Mix.Chain {
		ns += n * k * k * perMove
	}
	return ns / 1e9
}

// affordable refuses a fit whose parameters and sums would not fit into memory, and one that would take long and has many parameters for
// the cells of its table.
func (f *Fit) affordable() error {
	e := f.Estimate()
	field, size := "K", plan.Flags(fmt.Sprintf("is %d", f.Mix.K))
	if f.Plan.Shaped() {
		field, size = "Covariance", plan.Flags(fmt.Sprintf("%s with -k %d on %s columns", f.Plan.Shape, f.Mix.K, text.Whole(float64(f.Mix.D))))
	} else {
		size += plan.Flags(fmt.Sprintf(" on %s columns", text.Whole(float64(f.Mix.D))))
	}
	numbers := fmt.Sprintf("has %s parameters for %s cells", text.Whole(float64(f.Mix.Free())), text.Whole(e.Cells))
	if field == "K" {
		numbers = "which has " + numbers[len("has "):]
		size += ","
	}
	switch {
	case e.bytes > plan.AffordedBytes:
		return plan.Wrong(field, "%s %s, and would take about %s of memory, more than the %s allowed: use %s", size, numbers, text.Gigabytes(e.bytes), text.Gigabytes(plan.AffordedBytes), f.less())
	case e.Seconds > plan.AffordedSeconds && e.Cells < plan.PlentyOfCells*e.Parameters && !f.Plan.AllowLong:
		return plan.Wrong(field, "%s %s, and would take about %s on one core: use %s, or --allow-long to fit it all the same", size, numbers, text.Duration(e.Seconds), f.less())
	}
	return nil
}

// less says what would take less.
func (f *Fit) less() plan.Flags {
	fewer := plan.Flags("fewer " + f.Plan.Part() + "s")
	if f.Mix.K == 1 {
		fewer = "fewer columns"
	}
	switch {
	case !f.Plan.Kind.Turns():
		if f.Mix.K == 1 {
			return "fewer columns (--columns)"
		}
		return fewer + " or fewer columns (--columns)"
	case !f.Plan.Mixture():
		return fewer + " or --pca N"
	case f.Plan.Shape.Matrix():
		return "--pca N, --covariance diag or " + fewer
	}
	return "--pca N, --model kmeans or " + fewer
}
