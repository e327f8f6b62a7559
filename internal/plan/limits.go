package plan

// The most that a Spec may ask for. Each bound is far beyond what anybody has a use for, and far below what would exhaust
// memory before any work is done.
const (
	MaxStarts     = 10_000    // of NInit
	MaxReplicates = 1_000_000 // of Bootstrap and of LRT
	MaxThreads    = 1024      // of Threads
	MaxCandidates = 10_000    // numbers of groups times covariance shapes of one choice
)

// What a fit may take by an estimate that is made before anything is climbed.
const (
	// AffordedBytes is the memory that parameters and sums of one fit may take, beside the rows.
	AffordedBytes = 4 << 30
	// AffordedSeconds is the time that a fit may take on one core, unless Spec.AllowLong is set. It bounds fits with many parameters for
	// their table: a fit of a large table may take longer.
	AffordedSeconds = 900
	// PlentyOfCells is the number of cells per parameter from which on a fit may take longer than AffordedSeconds.
	PlentyOfCells = 50
)

// validateLimits refuses numbers beyond those bounds. MaxIter and BetaSteps may be as large as they like: nothing is held
// for them. BatchSize is bounded by the number of rows, and K and PCA are checked when rows and columns are known.
func (p *Plan) validateLimits() error {
	for _, v := range []struct {
		field       string
		value, most int
		instead     string
	}{
		{"NInit", p.NInit, MaxStarts, ""},
		{"Bootstrap", p.Bootstrap, MaxReplicates, "; 100 is customary"},
		{"LRT", p.LRT, MaxReplicates, "; 999 is customary"},
		{"Threads", p.Spec.Threads, MaxThreads, "; leave it out for all cores"},
	} {
		if v.value > v.most {
			return Wrong(v.field, "is %d; it can be at most %d%s", v.value, v.most, v.instead)
		}
	}
	return nil
}

// shortRange is how many numbers of groups a range may hold that goes beyond the number of rows: candidates beyond are marked as such, and
// the rest are fitted.
const shortRange = 100

// CheckRange refuses a long range of numbers of groups that goes beyond the rows, and one that is too long to try.
func (p *Plan) CheckRange(rows int64, shapes int) error {
	lo, hi := p.Sizes()
	switch {
	case !p.ranged(): // a range that nobody asked for is kept within the rows elsewhere
		return nil
	case int64(hi) > rows && hi-lo >= shortRange:
		return Wrong("K", "goes up to %d, but the number of rows is %d", hi, rows)
	case (hi-lo)+1 > MaxCandidates/max(shapes, 1):
		return Wrong("K", "%d:%d with %d covariance shapes makes more than the %d candidates that a choice can be from; use a shorter range", lo, hi, max(shapes, 1), MaxCandidates)
	}
	return nil
}
