package latent

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/pca"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/text"
)

// What a fit may take by its estimate. Where it would be more it is refused before anything is climbed, with what would be
// less: see affordable.
const (
	// affordedBytes is the memory that parameters and sums of one fit may take, beside the rows.
	affordedBytes = 4 << 30
	// affordedSeconds is the time that a fit may take on one core, unless Spec.AllowLong is set. It holds where parameters are
	// many for the table: rows in plenty may take as long as they like.
	affordedSeconds = 900
	// plentyOfCells is how many cells of the table a parameter must have for the time not to matter.
	plentyOfCells = 50
)

// Rates of the estimate, nanoseconds of one core with AVX2 of 2024. They are within a factor of three of what was measured
// (d = 20 to 800, k = 2 to 5000).
const (
	perSquare    = 0.2 // a row, a component and a cell of a whole matrix: scores and second moments
	perCell      = 0.6 // a row, a component and a column, without a matrix
	perCentre    = 0.15
	perPair      = 6.0 // a row and a component: exponentials
	perWhitened  = 4.0 // a row and a pair of columns
	perSeeded    = 0.4 // a row, a centre that is drawn or tried, and a column
	perParameter = 60  // a parameter and an evaluation: the memory of L-BFGS, sums, copies
)

// perCube returns the nanoseconds that an evaluation takes for each of d^3 and covariance: factors, inverses, eigenvalues and
// whatever the M-step iterates. Components with fewer rows than columns have eigenvalues at the floor, which must be found.
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

// estimate is what a fit is expected to take, from its size alone.
type estimate struct {
	parameters float64 // numbers of one parameter vector
	cells      float64 // of the table
	bytes      float64 // of parameters and sums that are alive at the same time
	seconds    float64 // of one core
}

// estimate returns what the fit will take.
func (f *fit) estimate() estimate {
	s, n := &f.plan, float64(f.look.Used)
	e := estimate{parameters: float64(f.mix.Params()), cells: f.cells()}
	starts, each := float64(s.Starts(f.look.Used)), float64(s.Tries(s.Start(f.mix.D), f.look.Used))
	steps := float64(min(s.MaxIter, plausibleSteps) + 1)
	if s.K == 1 { // a step is the end
		steps = math.Min(steps, stepsOfOne)
	}
	seen := n // rows that starts climb on
	if s.Thorough() && n >= refineFrom*seed.SampleRows {
		seen = seed.SampleRows
	}
	e.seconds = starts * (steps*f.climbed()*f.evaluation(seen) + f.seeding())
	if each > 1 {
		short := float64(smallSteps)
		if s.Kind.Soft {
			short = discreteSteps
		}
		e.seconds += starts * each * (min(steps, short) + 1) * f.evaluation(n)
	}
	if s.Start(f.mix.D) == plan.Whitened {
		e.seconds += perWhitened * math.Min(n, seed.SampleRows) * float64(f.mix.D) * float64(f.mix.D) / 1e9
	}
	if s.Thorough() && s.K > 1 {
		rows := min(n, moveRows)
		if rules := f.rules(int(rows)); rows >= float64(rules.rows) { // else no component can be split
			moves := math.Min(moveTries, math.Min(moveWork/rows, float64(rules.pairs*s.K)))
			e.seconds += float64(1+rules.fails) * (moves*moveSteps + moveClimbs*steps) * f.evaluation(rows)
		}
	}
	// Vectors alive for each climb: what a point holds, what its evaluation needs, and twice the moves that are remembered.
	vectors, climbs := 10.0, starts
	if s.Mixture() && !s.Hard() {
		vectors += 30
	}
	sums := 8 * float64(f.mix.Family.Sums(f.mix.K, f.mix.D)) * f.accumulators()
	e.bytes = climbs * (8*vectors*e.parameters + sums)
	if each > 1 {
		e.bytes = math.Max(e.bytes, climbs*each*(8*6*e.parameters+sums))
	}
	e.bytes *= float64(max(f.beside, 1))
	return e
}

// seeding estimates the seconds of one core that drawing one start by k-means++ takes: every centre is the best of several that are
// held against the rows that starts are drawn from.
func (f *fit) seeding() float64 {
	s := &f.plan
	if s.HasStart() || s.Start(f.mix.D) == plan.Random || s.K == 1 {
		return 0
	}
	k, rows := float64(s.K), math.Min(float64(f.look.Used), math.Max(seed.SampleRows, float64(s.K)))
	return perSeeded * float64(seed.Greedy(s.K)) * rows * k * float64(f.mix.D) / 1e9
}

// climbed is how many times as long as its steps alone a climb takes: the moves of breathing k-means end when they have compared
// as many rows as two more starts, on the rows that starts are drawn from.
func (f *fit) climbed() float64 {
	if f.plan.Driver(f.mix.D) != plan.Breathing {
		return 1
	}
	share := math.Min(1, math.Max(seed.SampleRows, float64(f.plan.K))/float64(f.look.Used))
	return 1 + share + 2
}

// accumulators is how many sets of sums a pass holds at the same time, at least.
func (f *fit) accumulators() float64 {
	const leastChunk = 256
	return math.Min(math.Ceil(float64(f.look.Used)/leastChunk), float64(2*f.plan.Threads))
}

// How long the best so far may take to become a result when a fit was interrupted, where factors of whole matrices alone
// take more than slowFactors seconds; elsewhere it is waited for, since it takes no more than a pass.
const (
	slowFactors = 0.5
	resultWait  = 5 * time.Second
)

// patience returns how long the end of an interrupted fit is waited for; below 0 there is no limit.
func (f *fit) patience() time.Duration {
	if f.evaluation(0) > slowFactors {
		return resultWait
	}
	return -1
}

// evaluation estimates the seconds of one core that one evaluation on n rows takes.
func (f *fit) evaluation(n float64) float64 {
	k, d := float64(f.mix.K), float64(f.mix.D)
	ns := perParameter * float64(f.mix.Params())
	shape, shaped := family.Diag, f.plan.Kind.Shaped
	if shaped {
		shape = f.plan.Shape
	}
	switch {
	case !f.plan.Mixture():
		ns = perCentre*n*k*d + perParameter/4*k*d
	case shaped && shape.Matrix():
		covariances := float64(shape.Count(f.mix.K))
		ns += n*k*d*d*perSquare + n*k*perPair + covariances*d*d*d*perCube(shape, n/covariances < d)
	default:
		ns += n * k * (d*perCell + perPair)
	}
	return ns / 1e9
}

// affordable refuses a fit whose parameters and sums would not fit into memory, and one that would take long with more
// parameters than the table can tell.
func (f *fit) affordable() error {
	e := f.estimate()
	field, size := "K", plan.Flags(fmt.Sprintf("is %d", f.mix.K))
	if f.plan.Kind.Shaped {
		field, size = "Covariance", plan.Flags(fmt.Sprintf("%s with -k %d on %s columns", f.plan.Shape, f.mix.K, grouped(float64(f.mix.D))))
	} else {
		size += plan.Flags(fmt.Sprintf(" on %s columns", grouped(float64(f.mix.D))))
	}
	numbers := fmt.Sprintf("has %s parameters for %s cells", grouped(float64(f.mix.Free())), grouped(e.cells))
	if field == "K" {
		numbers = "which has " + numbers[len("has "):]
		size += ","
	}
	switch {
	case e.bytes > affordedBytes:
		return plan.Wrong(field, "%s %s, and would take about %s of memory, more than the %s allowed: use %s", size, numbers, gigabytes(e.bytes), gigabytes(affordedBytes), f.less())
	case e.seconds > affordedSeconds && e.cells < plentyOfCells*e.parameters && !f.plan.AllowLong:
		return plan.Wrong(field, "%s %s, and would take about %s on one core: use %s, or --allow-long to fit it all the same", size, numbers, duration(e.seconds), f.less())
	}
	return nil
}

// What principal components of more than pca.ExactColumns columns take by the estimate: passes, each with two products of the
// rows and all vectors, and eigenvalues of a basis of three blocks of vectors now and then.
const (
	passesOfPCA  = 20
	perProduct   = 0.3  // nanoseconds of a row, a vector and a column
	perBasisCube = 10.0 // nanoseconds
	basisBlocks  = 3
	solvesOfPCA  = 5
)

// affordableComponents refuses more principal components than memory or time allow.
func (f *fit) affordableComponents(n int) error {
	d, m := float64(len(f.look.Mean)), float64(n+8)
	if len(f.look.Mean) <= pca.ExactColumns {
		return nil
	}
	bytes := 8 * 2 * basisBlocks * m * d
	seconds := (passesOfPCA*2*perProduct*float64(f.look.Used)*m*d + solvesOfPCA*perBasisCube*math.Pow(basisBlocks*m, 3)) / 1e9
	switch {
	case bytes > affordedBytes:
		return plan.Wrong("PCA", "is %d: of %s columns that would take about %s of memory, more than the %s allowed; use fewer", n, grouped(d), gigabytes(bytes), gigabytes(affordedBytes))
	case seconds > affordedSeconds && f.cells() < plentyOfCells*m*d && !f.plan.AllowLong:
		return plan.Wrong("PCA", "is %d: of %s columns that would take about %s on one core; use fewer, or --allow-long to find them all the same", n, grouped(d), duration(seconds))
	}
	return nil
}

// cells is the number of cells of the table that is fitted.
func (f *fit) cells() float64 { return float64(f.look.Used) * float64(len(f.look.Mean)) }

// less says what would take less.
func (f *fit) less() plan.Flags {
	fewer := plan.Flags("fewer groups")
	if f.mix.K == 1 {
		fewer = "fewer columns"
	}
	switch {
	case !f.plan.Kind.Cells.Units:
		if f.mix.K == 1 {
			return "fewer columns (--columns)"
		}
		return "fewer groups or fewer columns (--columns)"
	case !f.plan.Mixture():
		return fewer + " or --pca N"
	case f.plan.Shape.Matrix():
		return "--pca N, --covariance diag or " + fewer
	}
	return "--pca N, --model kmeans or " + fewer
}

// grouped writes a whole number with commas between its thousands.
func grouped(v float64) string { return text.Group(strconv.FormatFloat(math.Round(v), 'f', 0, 64)) }

// gigabytes writes a number of bytes.
func gigabytes(v float64) string { return grouped(math.Max(v/(1<<30), 1)) + " GB" }

// duration writes a number of seconds in the unit that suits it.
func duration(s float64) string {
	switch {
	case s < 5400:
		return grouped(s/60) + " minutes"
	case s < 2*86400:
		return grouped(s/3600) + " hours"
	}
	return grouped(s/86400) + " days"
}
