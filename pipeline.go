package tcbuild

import (
	"context"
	"errors"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/store"
)

// job carries the samples of one LMDB value through the pipeline.
type job struct {
	shard   *store.Shard
	samples *ingest.Samples
	value   []byte
	encoded chan struct{} // closed when value is set
}

// pipeline moves samples from the source through the workers to the shards. The writer takes jobs
// in the order they were cut, whichever worker finishes first. At most window jobs are in flight,
// so memory does not grow with the number of samples.
type pipeline struct {
	toEncode chan *job
	toWrite  chan *job   // the same jobs, in order
	values   chan []byte // memory of written values, for reuse
	yielded  time.Time   // when the writer last yielded
	busy     busy
}

// writeShards builds all incomplete shards, or the requested one.
func (b *builder) writeShards(ctx context.Context, cache *incidence.Cache) error {
	remover := incidence.NewRemover(b.graph, cache, b.rules)
	shards, err := b.unfinishedShards()
	if err != nil {
		return err
	}
	samples, done, err := b.tabulated()
	if err != nil {
		return err
	}
	defer done()
	left := 0
	for _, shard := range shards {
		left += shard.First + shard.Samples - shard.Next
	}
	progress := b.Progress(left)
	defer progress.Done()

	window := 2*b.Workers + 2
	p := pipeline{toEncode: make(chan *job, window), toWrite: make(chan *job, window), values: make(chan []byte, window+1)}
	group, ctx := errgroup.WithContext(ctx)
	run := func(step string, work func() error) {
		group.Go(func() error { return labelled(ctx, step, work) })
	}
	run(stepCut, func() error { return p.cut(ctx, samples, shards, b.manifest.SamplesPerValue) })
	for range b.Workers {
		run(stepEncode, func() error {
			return p.encode(ctx, b.manifest.Seed(), remover.Clone(), b.codec.NewEncoder(cache.Layout.Size))
		})
	}
	run(stepWrite, func() error { return p.write(ctx, shards, progress) })
	if err := group.Wait(); err != nil {
		return err
	}
	b.stage("build masks", "samples", left, "shards", len(shards))
	b.result.Stages[len(b.result.Stages)-1].Steps = p.busy.steps()
	return nil
}

// tabulated reads the sample table or, before there is one, the perturbation set.
func (b *builder) tabulated() (samples ingest.SampleRanges, done func(), err error) {
	if b.unread {
		return b.source.(ingest.SampleRanges), func() {}, nil
	}
	table, err := b.building.Samples()
	if err != nil {
		return nil, nil, err
	}
	reader := table.NewReader()
	return reader, reader.Close, nil
}

// unfinishedShards returns the shards that this process has to build, in order.
func (b *builder) unfinishedShards() ([]*store.Shard, error) {
	var shards []*store.Shard
	for i := range b.manifest.Shards {
		if b.shard != store.AllShards && b.shard != i {
			continue
		}
		shard, err := b.building.Shard(i)
		if err != nil {
			return nil, err
		}
		if !shard.Complete {
			shards = append(shards, shard)
		}
	}
	return shards, nil
}

// cut reads the samples that shards need, one job for each LMDB value. On an error it leaves
// toWrite open: the writer keeps waiting, and the group reports cut's error.
func (p *pipeline) cut(ctx context.Context, samples ingest.SampleRanges, shards []*store.Shard, size int) error {
	defer close(p.toEncode)
	start := time.Now()
	defer func() { p.busy.cut.Add(int64(time.Since(start))) }()
	for _, shard := range shards {
		err := samples.ScanRange(shard.Next, shard.First+shard.Samples, size, func(samples *ingest.Samples) error {
			return p.send(ctx, &job{shard: shard, samples: samples, encoded: make(chan struct{})})
		})
		if err != nil {
			return err
		}
	}
	close(p.toWrite)
	return nil
}

// send passes a job on. The time that it blocks does not count as work of cut.
func (p *pipeline) send(ctx context.Context, j *job) error {
	start := time.Now()
	defer func() { p.busy.cut.Add(-int64(time.Since(start))) }()
	for _, stage := range []chan *job{p.toWrite, p.toEncode} {
		select {
		case stage <- j:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// encode makes the masks of jobs and encodes them as values.
func (p *pipeline) encode(ctx context.Context, seed encode.Seed, remover *incidence.Remover, encoder encode.Encoder) error {
	for j := range p.toEncode {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		start, masks := time.Now(), time.Duration(0)
		var memory []byte
		select {
		case memory = <-p.values:
		default:
		}
		j.value = encode.AppendValue(memory[:0], seed, j.samples.First, j.samples.Len(), func(dst []byte, i int) []byte {
			start := time.Now()
			removed := remover.Removed(j.samples.Genes(i))
			masks += time.Since(start)
			return encoder.Append(dst, removed)
		})
		p.busy.masks.Add(int64(masks))
		p.busy.encode.Add(int64(time.Since(start) - masks))
		close(j.encoded)
	}
	return nil
}

// write puts values into their shards. Full shards are hashed and synced, two at a time, while the
// next one is written.
func (p *pipeline) write(ctx context.Context, shards []*store.Shard, progress Progress) (err error) {
	runtime.LockOSThread() // LMDB's write transactions belong to one thread
	defer runtime.UnlockOSThread()
	var seals errgroup.Group
	seals.SetLimit(2)
	defer func() { err = errors.Join(err, seals.Wait()) }()

	for _, shard := range shards {
		if err := p.writeShard(ctx, shard, progress); err != nil {
			return errors.Join(err, shard.Interrupt())
		}
		seals.Go(func() error {
			return labelled(ctx, stepSeal, func() error { return timed(&p.busy.seal, shard.Seal) })
		})
	}
	return nil
}

// yieldEvery is how long the writer runs before it yields. With all cores busy, Go would otherwise
// run the goroutine that waits for signals only after 60 jobs, half a second.
const yieldEvery = 50 * time.Millisecond

func (p *pipeline) writeShard(ctx context.Context, shard *store.Shard, progress Progress) error {
	for next := shard.Next; next < shard.First+shard.Samples; {
		var j *job
		var open bool
		select {
		case j, open = <-p.toWrite:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !open {
			return errors.New("the perturbation set is shorter than when it was surveyed")
		}
		select {
		case <-j.encoded:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := timed(&p.busy.write, func() error { return shard.Put(j.samples.First, j.value) }); err != nil {
			return err
		}
		progress.Add(j.samples.Len(), int64(len(j.value)))
		next += j.samples.Len()
		select {
		case p.values <- j.value:
		default:
		}
		if time.Since(p.yielded) > yieldEvery {
			runtime.Gosched()
			p.yielded = time.Now()
		}
	}
	return timed(&p.busy.write, shard.Commit)
}
