// Package sets reads perturbation sets in tests.
package sets

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"tcbuild/ingest"
)

// Read passes the batches of a set to see. It stops at the first error.
func Read(set ingest.SampleSource, see func(*ingest.Samples) error) (ingest.Account, error) {
	var account ingest.Account
	var failed error
	for batch, err := range set.Batches(context.Background(), &account) {
		if failed = err; failed == nil {
			failed = see(batch)
		}
		if failed != nil {
			break
		}
	}
	return account, failed
}

// ReadAll reads a set and looks at nothing.
func ReadAll(set ingest.SampleSource) (ingest.Account, error) {
	return Read(set, func(*ingest.Samples) error { return nil })
}

// Counts lists what an account counts, such as "3 kept, 1 self_pair".
func Counts(account ingest.Account) string {
	texts := []string{fmt.Sprintf("%d kept", account.Kept)}
	for _, c := range slices.Concat(account.Dropped, account.Noted) {
		texts = append(texts, fmt.Sprintf("%d %s", c.Rows, c.Reason))
	}
	return strings.Join(texts, ", ")
}

// Changing is a set that changes after each reading.
type Changing struct {
	ingest.SampleSource
	Change func() error
}

// Batches yields the set's batches, then changes the set.
func (c *Changing) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		for batch, err := range c.SampleSource.Batches(ctx, account) {
			if !yield(batch, err) {
				return
			}
		}
		if err := c.Change(); err != nil {
			yield(nil, err)
		}
	}
}
