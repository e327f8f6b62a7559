package sweep

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/latent-go/latent/data"
)

// Jobs hold every row once, whole sequences but for those that are cut, whose blocks come last first; and the jobs of a beginning of the rows are a
// beginning of the jobs, so that a stream has the same.
func TestJobsHoldEveryRowOnce(t *testing.T) {
	t.Parallel()
	lengths := []int{3, 90, 1, 256, 700, 2, 513, 40, 255, 1, 1, 512, 100}
	all := &data.Table{}
	for s, n := range lengths {
		all.Sequence = append(all.Sequence, slices.Repeat([]int32{int32(s)}, n)...)
		all.N += n
	}
	whole, rest := layOut(all, 256, false)
	if rest != all.N {
		t.Fatalf("%d of %d rows have a job", rest, all.N)
	}
	seen := make([]int, all.N)
	for i, j := range whole.back {
		for row := j.lo; row < j.hi; row++ {
			seen[row]++
		}
		if j.of != nil {
			if next := i + 1; j.at > 0 && (whole.back[next].of != j.of || whole.back[next].at != j.at-1) {
				t.Errorf("block %d is not followed by the one before it", j.at)
			}
			continue
		}
		for _, cut := range []int{j.lo, j.hi} {
			if cut > 0 && cut < all.N && all.Sequence[cut-1] == all.Sequence[cut] {
				t.Errorf("a sequence is cut at row %d", cut)
			}
		}
	}
	if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
		t.Errorf("rows have these numbers of jobs: %v", seen)
	}
	if len(whole.long) != 2 { // of more than two chunks
		t.Errorf("%d sequences are cut, want 2", len(whole.long))
	}
	for n := 1; n < all.N; n += 7 {
		part, rest := layOut(&data.Table{N: n, Sequence: all.Sequence[:n]}, 256, true)
		for i, j := range part.back {
			if w := whole.back[i]; j.lo != w.lo || j.hi != w.hi || j.at != w.at {
				t.Fatalf("of %d rows job %d is of rows %d to %d, of all %d to %d", n, i, j.lo, j.hi, w.lo, w.hi)
			}
		}
		if last := len(part.back); last > 0 && rest < part.back[last-1].hi && part.back[last-1].of == nil {
			t.Fatalf("of %d rows those from %d on are left, but have a job", n, rest)
		}
	}
}

// Blocks pass in their order, whoever comes first, and none waits for one that has failed.
func TestBlocksTakeTurns(t *testing.T) {
	t.Parallel()
	var passed []int
	var wg sync.WaitGroup
	of := new(turn)
	for at := 19; at >= 0; at-- {
		wg.Go(func() { of.in(at, func() { passed = append(passed, at) }) })
	}
	wg.Wait()
	if len(passed) != 20 || !slices.IsSorted(passed) {
		t.Errorf("blocks passed as %v", passed)
	}
	cs, broken := make(courses, 1), errors.New("broken")
	wg.Go(func() { cs[0].turn.in(1, func() { t.Error("a block passed after one that failed") }) })
	if err := cs.guarded(func() error { return broken }); err != broken {
		t.Errorf("the error is %v", err)
	}
	wg.Wait()
}
