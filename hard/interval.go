package hard

import "github.com/latent-go/latent/internal/median"

// weighted is a value and its weight.
type weighted struct{ x, w float64 }

// interval returns the bounds of the values m that minimise sum w |x - m|: the lower is the least value with half the
// weight up to it, the upper the largest with half the weight from it on. Between them the sum is flat.
//
// It is quickselect (Hoare 1961) on weights: linear time, the order of v is lost. v must hold a value, and weights must
// be positive.
func interval(v []weighted) (lower, upper float64) {
	total := 0.0
	for _, e := range v {
		total += e.w
	}
	half, slack := total/2, median.Slack*total
	below := 0.0                  // weight of the values dropped at the low end
	left, right := v[0].x, v[0].x // the largest value dropped at the low end, the least dropped at the high end
	state := uint64(len(v))       // of the generator of pivots: the answer does not depend on them
	for len(v) > 0 {
		pivot := pickPivot(v, &state)
		lt, gt, less, equal := split(v, pivot)
		upto := below + less + equal
		switch {
		case below+less > half+slack: // the median is below the pivot
			v, right = v[:lt], pivot
		case below+less >= half-slack: // half is below the pivot
			return largest(v[:lt], left), pivot
		case upto > half+slack:
			return pivot, pivot
		case upto >= half-slack:
			return pivot, least(v[gt:], right)
		default:
			v, left, below = v[gt:], pivot, upto
		}
	}
	return left, left // only where rounding of very many weights exceeds the slack
}

// split reorders v into values below, equal to and above the pivot: v[:lt], v[lt:gt], v[gt:]. less and equal are the
// weights of the first two.
func split(v []weighted, pivot float64) (lt, gt int, less, equal float64) {
	gt = len(v)
	for i := 0; i < gt; {
		switch e := v[i]; {
		case e.x < pivot:
			less += e.w
			v[lt], v[i] = e, v[lt]
			lt++
			i++
		case e.x > pivot:
			gt--
			v[gt], v[i] = e, v[gt]
		default:
			equal += e.w
			i++
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
