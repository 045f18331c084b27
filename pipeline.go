package tcbuild

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/inorder"
	"tcbuild/store"
)

// job carries the samples of one LMDB value from the sample table through a worker to its shard.
type job struct {
	shard   int             // number
	samples *ingest.Samples // nil: the shard has all its values
	value   []byte
}

// pipeline is what the goroutines that read, encode and write share.
type pipeline struct {
	values  chan []byte // memory of written values, for reuse
	yielded time.Time   // when the writer last yielded
	busy    busy
}

// writeShards builds all shards that are not complete, or the requested one.
func (b *builder) writeShards(ctx context.Context, cache *incidence.Cache) error {
	shards, left := []int{}, 0
	for _, i := range b.building.Unfinished() {
		if b.shard == store.AllShards || b.shard == i {
			shards = append(shards, i)
			left += b.manifest.Shards[i].Samples
		}
	}
	table, err := b.building.Samples()
	if err != nil {
		return err
	}
	progress := b.Progress(left)
	defer progress.Done()

	p := pipeline{values: make(chan []byte, 2*b.Workers+3)}
	remover := incidence.NewRemover(b.graph, cache, b.rules)
	workers := make([]func(*job), b.Workers)
	for i := range workers {
		remover, encoder := remover.Clone(), b.codec.NewEncoder(cache.Layout.Size)
		workers[i] = func(j *job) { p.encode(j, b.manifest.Seed(), remover, encoder) }
	}
	jobs := inorder.Each(ctx, workers, func(send func(*job) error) error {
		return p.cut(table.ScanRange, b.manifest, shards, send)
	})
	if err := p.write(b.building, jobs, progress); err != nil {
		return err
	}
	b.stage("build masks", "samples", left, "shards", len(shards))
	b.result.Stages[len(b.result.Stages)-1].Steps = p.busy.steps()
	return nil
}

// sampleRange passes samples first to end-1 to yield, in batches of size; the last has the rest.
type sampleRange = func(first, end, size int, yield func(*ingest.Samples) error) error

// cut reads the samples that shards need, one job for each LMDB value, and one after them.
func (p *pipeline) cut(samples sampleRange, m *store.Manifest, shards []int, send func(*job) error) error {
	start := time.Now()
	defer func() { p.busy.cut.Add(int64(time.Since(start))) }()
	waiting := func(j *job) error { // does not count as work
		start := time.Now()
		defer func() { p.busy.cut.Add(-int64(time.Since(start))) }()
		return send(j)
	}
	for _, i := range shards {
		shard := m.Shards[i]
		err := samples(shard.First, shard.First+shard.Samples, m.SamplesPerValue, func(samples *ingest.Samples) error {
			return waiting(&job{shard: i, samples: samples})
		})
		if err == nil {
			err = waiting(&job{shard: i})
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
func (p *pipeline) write(building *store.Building, jobs iter.Seq2[*job, error], progress Progress) (err error) {
	runtime.LockOSThread() // LMDB's write transactions belong to one thread
	defer runtime.UnlockOSThread()
	var seals errgroup.Group
	seals.SetLimit(2)
	defer func() { err = errors.Join(err, seals.Wait()) }()
	var shard *store.Shard // that is being written
	defer func() {
		if shard != nil {
			err = errors.Join(err, shard.Discard())
		}
	}()

	for j, err := range jobs {
		if err == nil && shard == nil {
			shard, err = building.Shard(j.shard)
		}
		if err == nil && j.samples != nil {
			err = p.put(shard, j, progress)
		}
		if err == nil && j.samples == nil {
			err = timed(&p.busy.write, shard.Commit)
		}
		if err != nil {
			return err
		}
		if j.samples == nil {
			full := shard
			shard = nil
			seals.Go(fault.Catch(func() error { return timed(&p.busy.seal, full.Seal) }))
		}
	}
	return nil
}

// yieldEvery is how long the writer runs before it yields. With all cores busy, Go would otherwise
// run the goroutine that waits for signals only after 60 jobs, half a second.
const yieldEvery = 50 * time.Millisecond

// put puts the value of a job into its shard.
func (p *pipeline) put(shard *store.Shard, j *job, progress Progress) error {
	if err := timed(&p.busy.write, func() error { return shard.Put(j.samples.First, j.value) }); err != nil {
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

// StageTime is the time that a stage took. The steps of the pipeline run concurrently, some of them
// in several goroutines. Their Busy is the time spent working, without waiting, summed over
// goroutines.
type StageTime struct {
	Stage   string  `json:"stage"`
	Seconds float64 `json:"seconds"`         // wall time
	Steps   []Step  `json:"steps,omitempty"` // of the pipeline
}

// Step is a step of the pipeline.
type Step struct {
	Step string  `json:"step"`
	Busy float64 `json:"busy_seconds"`
}

// The steps of the pipeline.
const (
	stepCut    = "read and cut samples"
	stepMasks  = "make masks"
	stepEncode = "encode"
	stepWrite  = "write values"
	stepSeal   = "sync and hash"
)

// busy is the time that each step spent working, in nanoseconds.
type busy struct{ cut, masks, encode, write, seal atomic.Int64 }

func (b *busy) steps() []Step {
	seconds := func(n *atomic.Int64) float64 { return time.Duration(n.Load()).Seconds() }
	return []Step{{stepCut, seconds(&b.cut)}, {stepMasks, seconds(&b.masks)}, {stepEncode, seconds(&b.encode)},
		{stepWrite, seconds(&b.write)}, {stepSeal, seconds(&b.seal)}}
}

// timed runs work and adds its duration to count.
func timed(count *atomic.Int64, work func() error) error {
	start := time.Now()
	err := work()
	count.Add(int64(time.Since(start)))
	return err
}
