package data

import (
	"errors"
	"testing"
	"time"
)

// A panic of a piece, such as of a function that a program brought, is one of the caller's, also where others wait for their
// turn.
func TestAPanicInTurnsIsTheCallers(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		for _, threads := range []int{1, 4} {
			ended := make(chan any)
			go func() {
				defer func() { ended <- recover() }()
				inTurns(100, threads, ordered, func(i int, turn func(func() error) error) error {
					if i == 2 {
						time.Sleep(10 * time.Millisecond) // the others come to their turns
						panic("broken")
					}
					return turn(func() error { return nil })
				})
			}()
			select {
			case v := <-ended:
				if v != "broken" {
					t.Errorf("ordered %v, %d threads: recovered %v", ordered, threads, v)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("ordered %v, %d threads: it never ends", ordered, threads)
			}
		}
	}
}

// Last parts pass in order, and the first error ends them.
func TestTurnsAreInOrder(t *testing.T) {
	for _, threads := range []int{1, 3, 8} {
		var order []int
		own := errors.New("own")
		err := inTurns(50, threads, true, func(i int, turn func(func() error) error) error {
			return turn(func() error {
				if order = append(order, i); i == 20 {
					return own
				}
				return nil
			})
		})
		if err != own || len(order) != 21 {
			t.Fatalf("%d threads: %v after %d turns", threads, err, len(order))
		}
		for i, at := range order {
			if at != i {
				t.Fatalf("%d threads: turn %d is number %d", threads, i, at)
			}
		}
	}
}
