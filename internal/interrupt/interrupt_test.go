package interrupt

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Work that ends is waited for, and its value and error come back, whether or not the context has ended meanwhile.
func TestRunReturnsWhatTheWorkReturns(t *testing.T) {
	own := errors.New("own")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if v, err := Run(ctx, Grace, func() (int, error) { return 7, own }); v != 7 || err != own {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := Run(ctx, time.Minute, func() (int, error) { cancel(); return 8, nil }); v != 8 || err != nil {
		t.Errorf("ended within the grace: %v, %v", v, err)
	}
}

// Work that does not look at its context is left soon after that ends; with a negative grace it is waited for.
func TestRunLeavesWorkThatGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	stop := make(chan struct{})
	defer close(stop)
	time.AfterFunc(20*time.Millisecond, cancel)
	began := time.Now()
	_, err := Run(ctx, 30*time.Millisecond, func() (int, error) { <-stop; return 0, nil })
	if took := time.Since(began); !errors.Is(err, context.Canceled) || took < 50*time.Millisecond || took > 20*time.Second {
		t.Errorf("%v after %v", err, took)
	}
	if v, err := Run(ctx, -1, func() (int, error) { time.Sleep(50 * time.Millisecond); return 9, nil }); v != 9 || err != nil {
		t.Errorf("waited for: %v, %v", v, err)
	}
}

// A panic of the work can be recovered where Run was called.
func TestPanicsComeBackToTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer func() {
		if v := recover(); v != "broken" {
			t.Errorf("recovered %v", v)
		}
	}()
	Run(ctx, Grace, func() (int, error) { panic("broken") })
	t.Error("no panic")
}
