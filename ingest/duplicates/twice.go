package duplicates

import (
	"errors"

	"tcbuild/ingest"
)

// scanTwice reads the source into a spool, and passes on what is left in a second pass over the
// spool.
func (s *stage) scanTwice(groups *grouper, out *ingest.Batcher) (counts ingest.Counts, err error) {
	spool, err := newSpool(s.beside, s.SampleSource.Columns())
	if err != nil {
		return counts, err
	}
	defer func() {
		if err != nil {
			err = spool.Naming(err)
		}
		err = errors.Join(err, spool.Discard())
	}()
	see := lastOf
	if s.Duplicates == Mean {
		see = countOf
	}
	if counts, err = s.scan(groups, see, spool.add); err != nil {
		return counts, err
	}
	if s.Duplicates == Mean {
		return counts, s.passMeans(groups, spool, out)
	}
	return counts, s.passLast(groups, spool, out)
}

// lastOf makes a group's number that of its last sample.
func lastOf(samples *ingest.Samples, i int, group number, _ bool) error {
	group.set(samples.First + i)
	return nil
}

// passLast passes on the last sample of each group, in the order of samples.
func (s *stage) passLast(groups *grouper, spool *spool, out *ingest.Batcher) error {
	table, err := spool.table()
	if err != nil {
		return err
	}
	last := make([]uint64, spool.samples/64+1) // a bit for each sample
	groups.groups().each(func(group number) { last[group.get()/64] |= 1 << (group.get() % 64) })
	return spool.scan(s.ctx, table, func(samples *ingest.Samples, i int) error {
		if n := samples.First + i; last[n/64]>>(n%64)&1 == 0 {
			return nil
		}
		return out.Add(samples.ID(i), samples.Genes(i), samples.Phenotypes(i), samples.Attributes(i))
	})
}

// countOf makes a group's number that of its samples.
func countOf(_ *ingest.Samples, _ int, group number, _ bool) error {
	group.set(group.get() + 1)
	return nil
}

// passMeans passes on one sample per group, in the order in which groups appear. The values of
// groups of several samples are first brought together in a file: there the groups are in the same
// order. Meanwhile a group's number, flagged, is where its next sample goes.
func (s *stage) passMeans(groups *grouper, spool *spool, out *ingest.Batcher) error {
	table, err := spool.table()
	if err != nil {
		return err
	}
	records, err := newRecords(spool.Path, s.plan)
	if err != nil {
		return err
	}
	defer records.Close()
	groups.groups().each(func(group number) { group.setFlag(false) })
	placed := 0
	place := func(samples *ingest.Samples, i int) error {
		group, err := groups.of(samples, i)
		if err != nil || !group.flag() && group.get() == 1 {
			return err
		}
		if !group.flag() {
			start := placed
			placed += group.get()
			group.set(start)
			group.setFlag(true)
		}
		at := group.get()
		group.set(at + 1)
		return records.put(at, samples, i)
	}
	if groups.repeats.RepeatedGenotypes > 0 {
		if err := spool.scan(s.ctx, table, place); err != nil {
			return err
		}
	}
	passed := 0
	phenotypes := make([]float64, len(s.columns.Phenotypes))
	return spool.scan(s.ctx, table, func(samples *ingest.Samples, i int) error {
		group, err := groups.of(samples, i)
		switch {
		case err != nil:
			return err
		case group.flag():
			records.open(passed, group.get())
			passed = group.get()
			err = s.pool(records, table, phenotypes)
		case group.get() == 1:
			s.plan.single(samples.Phenotypes(i), phenotypes)
		default: // of a group that was passed on
			return nil
		}
		if err != nil {
			return err
		}
		group.set(0)
		group.setFlag(false)
		return out.Add(samples.ID(i), samples.Genes(i), phenotypes, samples.Attributes(i))
	})
}
