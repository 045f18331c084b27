package inorder

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"tcbuild/fault"
)

// squares are workers, of which the first is far slower than the others.
func squares(workers int) []func(*int) {
	all := make([]func(*int), workers)
	for i := range all {
		all[i] = func(n *int) {
			if i == 0 {
				time.Sleep(time.Millisecond)
			}
			*n *= *n
		}
	}
	return all
}

// numbers sends 0 to n-1, then fails with err.
func numbers(n int, err error) func(send func(*int) error) error {
	return func(send func(*int) error) error {
		for i := range n {
			if err := send(&i); err != nil {
				return err
			}
		}
		return err
	}
}

// Values come in the order in which they were read, and read's error behind all of them.
func TestOrder(t *testing.T) {
	broken := errors.New("broken")
	for _, workers := range []int{1, 2, 7} {
		for _, want := range []error{nil, broken} {
			var got, expected []int
			var last error
			for n, err := range Each(t.Context(), squares(workers), numbers(100, want)) {
				if last = err; err == nil {
					got = append(got, *n)
				}
			}
			for i := range 100 {
				expected = append(expected, i*i)
			}
			if !slices.Equal(got, expected) || last != want {
				t.Errorf("%d workers: got %d and %v, want %v", workers, got, last, want)
			}
		}
	}
}

// A loop that ends early ends read, and nothing runs behind it.
func TestEndsEarly(t *testing.T) {
	var failed error
	read := func(send func(*int) error) error {
		failed = numbers(1_000_000, nil)(send)
		return failed
	}
	for n := range Each(t.Context(), squares(3), read) {
		if *n == 25 {
			break
		}
	}
	if !errors.Is(failed, context.Canceled) {
		t.Errorf("read ended with %v, want %v", failed, context.Canceled)
	}
}

// Once the context is done, the loop ends with its cause, even while read waits.
func TestCause(t *testing.T) {
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var last error
	for n, err := range Each(ctx, squares(2), numbers(1_000_000, nil)) {
		if last = err; err == nil && *n == 25 {
			cancel(interrupted)
		}
	}
	if last != interrupted {
		t.Errorf("got %v, want %v", last, interrupted)
	}
}

// Everything is done, and of several errors the first in order counts, not the first in time.
func TestAll(t *testing.T) {
	var done atomic.Int64
	err := All(100, func(i int) error {
		defer done.Add(1)
		switch i {
		case 7:
			time.Sleep(10 * time.Millisecond)
			return errors.New("7")
		case 60:
			return errors.New("60")
		}
		return nil
	})
	if done.Load() != 100 || err == nil || err.Error() != "7" {
		t.Errorf("%d of 100 done, error %v, want 7", done.Load(), err)
	}
	if err := All(3, func(int) error { return nil }); err != nil {
		t.Error(err)
	}
}

// A panic, of read or of a worker, is the last error, and nothing runs behind it.
func TestPanics(t *testing.T) {
	broken := func(*int) { panic("broken") }
	for name, all := range map[string]func() error{
		"worker": func() (last error) {
			for _, last = range Each(t.Context(), []func(*int){broken, broken}, numbers(100, nil)) {
			}
			return last
		},
		"read": func() (last error) {
			for _, last = range Each(t.Context(), squares(2), func(func(*int) error) error { panic("broken") }) {
			}
			return last
		},
		"all": func() error { return All(100, func(int) error { panic("broken") }) },
	} {
		if bug, ok := errors.AsType[*fault.Bug](all()); !ok || bug.Cause != "broken" || len(bug.Stack) == 0 {
			t.Errorf("%s: got %v", name, bug)
		}
	}
}
