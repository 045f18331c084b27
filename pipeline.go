package tcbuild

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"runtime/pprof"
	"time"

	"golang.org/x/sync/errgroup"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/inorder"
	"tcbuild/store"
)

// job carries the samples of one LMDB value from the source through a worker to its shard.
type job struct {
	shard   *store.Shard
	samples *ingest.Samples // nil: the shard has all its values
	value   []byte
}

// pipeline is what the goroutines that read, encode and write share.
type pipeline struct {
	values  chan []byte // memory of written values, for reuse
	yielded time.Time   // when the writer last yielded
	busy    busy
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

	p := pipeline{values: make(chan []byte, 2*b.Workers+3)}
	workers := make([]func(*job), b.Workers)
	for i := range workers {
		remover, encoder := remover.Clone(), b.codec.NewEncoder(cache.Layout.Size)
		workers[i] = func(j *job) {
			pprof.Do(ctx, pprof.Labels("step", stepEncode), func(context.Context) {
				p.encode(j, b.manifest.Seed(), remover, encoder)
			})
		}
	}
	jobs := inorder.Each(ctx, workers, func(send func(*job) error) error {
		return labelled(ctx, stepCut, func() error { return p.cut(samples, shards, b.manifest.SamplesPerValue, send) })
	})
	if err := labelled(ctx, stepWrite, func() error { return p.write(ctx, shards, jobs, progress) }); err != nil {
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

// cut reads the samples that shards need, one job for each LMDB value, and one behind them.
func (p *pipeline) cut(samples ingest.SampleRanges, shards []*store.Shard, size int, send func(*job) error) error {
	start := time.Now()
	defer func() { p.busy.cut.Add(int64(time.Since(start))) }()
	waiting := func(j *job) error { // does not count as work
		start := time.Now()
		defer func() { p.busy.cut.Add(-int64(time.Since(start))) }()
		return send(j)
	}
	for _, shard := range shards {
		next, end := shard.Next, shard.First+shard.Samples
		err := samples.ScanRange(next, end, size, func(samples *ingest.Samples) error {
			next += samples.Len()
			return waiting(&job{shard: shard, samples: samples})
		})
		if err == nil && next < end {
			err = errors.New("the perturbation set is shorter than when it was surveyed")
		}
		if err == nil {
			err = waiting(&job{shard: shard})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// encode makes the masks of a job and encodes them as a value.
func (p *pipeline) encode(j *job, seed encode.Seed, remover *incidence.Remover, encoder encode.Encoder) {
	if j.samples == nil {
		return
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
}

// write puts values into their shards. Full shards are hashed and synced, two at a time, while the
// next one is written.
func (p *pipeline) write(ctx context.Context, shards []*store.Shard, jobs iter.Seq2[*job, error], progress Progress) (err error) {
	runtime.LockOSThread() // LMDB's write transactions belong to one thread
	defer runtime.UnlockOSThread()
	var seals errgroup.Group
	seals.SetLimit(2)
	defer func() { err = errors.Join(err, seals.Wait()) }()

	for j, err := range jobs {
		switch {
		case err != nil:
		case j.samples != nil:
			err = p.put(j, progress)
		default:
			err = timed(&p.busy.write, j.shard.Commit)
		}
		if err != nil {
			return errors.Join(err, shards[0].Interrupt())
		}
		if j.samples == nil {
			shards = shards[1:]
			seals.Go(fault.Catch(func() error {
				return labelled(ctx, stepSeal, func() error { return timed(&p.busy.seal, j.shard.Seal) })
			}))
		}
	}
	return nil
}

// yieldEvery is how long the writer runs before it yields. With all cores busy, Go would otherwise
// run the goroutine that waits for signals only after 60 jobs, half a second.
const yieldEvery = 50 * time.Millisecond

// put puts the value of a job into its shard.
func (p *pipeline) put(j *job, progress Progress) error {
	if err := timed(&p.busy.write, func() error { return j.shard.Put(j.samples.First, j.value) }); err != nil {
		return err
	}
	progress.Add(j.samples.Len(), int64(len(j.value)))
	select {
	case p.values <- j.value:
	default:
	}
	if time.Since(p.yielded) > yieldEvery {
		runtime.Gosched()
		p.yielded = time.Now()
	}
	return nil
}
