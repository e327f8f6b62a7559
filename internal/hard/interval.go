package hard

import "github.com/latent-go/latent/internal/median"

// weighted is a value and its weight.
type weighted struct{ x, w float64 }

// interval returns the bounds of the values m that minimise sum w |x - m|: the lower is the least value with half the
// weight up to it, the upper the largest with half the weight from it on. Between them the sum is flat. The order of v is
// lost. v must hold a value, and weights must be positive.
func interval(v []weighted) (lower, upper float64) {
	total := 0.0
	for _, e := range v {
		total += e.w
	}
	lower, upper, _ = rank{total / 2, median.Slack * total}.find(v, 0, v[0].x, v[0].x)
	return lower, upper // nothing found only where rounding of very many weights exceeds the slack
}

// rank is a place in the order of values: where the weight of the values so far is at, give or take slack.
type rank struct{ at, slack float64 }

// reached reports whether the place is at or before values that weigh so much together; passed, whether it is before.
func (r rank) reached(weight float64) bool { return weight >= r.at-r.slack }
func (r rank) passed(weight float64) bool  { return weight > r.at+r.slack }

// find returns the value at the rank, lower, and upper: the same, or the value after it where the rank is between the two.
// Values that weigh below come before v, left the largest of them, and right is the least that comes after. Not ok means
// that the rank is after all of v, and lower is then the largest of v, or left.
//
// It is quickselect (Hoare 1961) on weights: linear time, the order of v is lost.
func (r rank) find(v []weighted, below, left, right float64) (lower, upper float64, ok bool) {
	state := uint64(len(v)) // of the generator of pivots: the answer does not depend on them
	for len(v) > 0 {
		pivot := pickPivot(v, &state)
		lt, gt, less, equal := split(v, pivot)
		upto := below + less + equal
		switch {
		case r.passed(below + less): // it is below the pivot
			v, right = v[:lt], pivot
		case r.reached(below + less): // it is between the pivot and what is below
			return largest(v[:lt], left), pivot, true
		case r.passed(upto):
			return pivot, pivot, true
		case r.reached(upto):
			return pivot, least(v[gt:], right), true
		default:
			v, left, below = v[gt:], pivot, upto
		}
	}
	return left, left, false
}

// split reorders v into values below, equal to and above the pivot: v[:lt], v[lt:gt], v[gt:]. less and equal are the
// weights of the first two.
//
// Whether a value is below the pivot is a coin toss, so the first loop does not branch on it (Lomuto's partition);
// values equal to the pivot are few or many, and a branch foretells them.
func split(v []weighted, pivot float64) (lt, gt int, less, equal float64) {
	for i, e := range v {
		v[i] = v[lt]
		v[lt] = e
		below := 0
		if e.x < pivot {
			below = 1
		}
		lt += below
	}
	for _, e := range v[:lt] {
		less += e.w
	}
	gt = lt
	for i := lt; i < len(v); i++ {
		if e := v[i]; e.x == pivot {
			v[i], v[gt] = v[gt], e
			gt++
			equal += e.w
		}
	}
	return lt, gt, less, equal
}

// pickPivot returns the median of three values at pseudo-random places, so that no order of rows is slow.
func pickPivot(v []weighted, state *uint64) float64 {
	at := func() float64 {
		*state = *state*6364136223846793005 + 1442695040888963407 // Knuth's MMIX generator
		return v[(*state>>33)%uint64(len(v))].x
	}
	a, b, c := at(), at(), at()
	return max(min(a, b), min(max(a, b), c))
}

// largest returns the largest value of v, or otherwise where v is empty.
func largest(v []weighted, otherwise float64) float64 {
	for i, e := range v {
		if i == 0 || e.x > otherwise {
			otherwise = e.x
		}
	}
	return otherwise
}

// least returns the smallest value of v, or otherwise where v is empty.
func least(v []weighted, otherwise float64) float64 {
	for i, e := range v {
		if i == 0 || e.x < otherwise {
			otherwise = e.x
		}
	}
	return otherwise
}
