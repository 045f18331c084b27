// Package inorder has several goroutines work on values, and passes results and errors on in the
// order of the values, whichever is ready first.
package inorder

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"tcbuild/fault"
)

// item is a value on its way.
type item[T any] struct {
	value T
	done  chan struct{} // closed when a worker has finished with it
}

// Each returns the values that read sends, each after one of the workers has seen it. read and the
// workers have goroutines of their own, which end before the loop over the values does; a worker is
// called by one of them. About two values per worker are in memory, as send waits for room.
//
// The last pair has the error of read, a worker's panic as a fault.Bug, or the cause of ctx once
// that is done. If the loop ends before, send returns an error, which read must return.
func Each[T any](ctx context.Context, workers []func(T), read func(send func(T) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		window := 2*len(workers) + 2
		waiting, inOrder := make(chan item[T], window), make(chan item[T], window)
		var group sync.WaitGroup
		defer group.Wait()
		defer cancel(nil)
		var failed error // of read; set before inOrder is closed
		group.Go(func() {
			defer close(inOrder)
			defer close(waiting)
			send := func(value T) error {
				next := item[T]{value, make(chan struct{})}
				for _, to := range []chan item[T]{waiting, inOrder} {
					select {
					case to <- next:
					case <-ctx.Done():
						return context.Cause(ctx)
					}
				}
				return nil
			}
			failed = fault.Catch(func() error { return read(send) })()
		})
		for _, work := range workers {
			group.Go(func() {
				for next := range waiting {
					if ctx.Err() == nil {
						if bug := fault.Catch(func() error { work(next.value); return nil })(); bug != nil {
							cancel(bug)
						}
					}
					close(next.done)
				}
			})
		}
		for next := range inOrder {
			<-next.done
			if ctx.Err() != nil {
				yield(next.value, context.Cause(ctx))
				return
			}
			if !yield(next.value, nil) {
				return
			}
		}
		if failed != nil {
			yield(*new(T), failed)
		}
	}
}

// All calls do for 0 to n-1 on all cores and returns the error of the lowest number.
func All(n int, do func(i int) error) error {
	errs := make([]error, n)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error { errs[i] = fault.Catch(func() error { return do(i) })(); return nil })
	}
	group.Wait()
	return cmp.Or(errs...)
}
