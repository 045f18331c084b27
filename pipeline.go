package tcbuild

import (
	"context"
	"errors"
	"iter"
	"runtime"
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
}

// writeShards builds all shards that are not complete, or only those of the part.
func (b *builder) writeShards(ctx context.Context) error {
	shards, left := []int{}, 0
	for _, i := range b.building.Unfinished() {
		if b.inPart(i) {
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
	remover := incidence.NewRemover(b.graph, b.cache, b.rules)
	workers := make([]func(*job), b.Workers)
	for i := range workers {
		remover, encoder := remover.Clone(), b.codec.NewEncoder(b.cache.Layout.Size)
		workers[i] = func(j *job) { p.encode(j, b.manifest.Seed(), remover, encoder) }
	}
	jobs := inorder.Each(ctx, workers, func(send func(*job) error) error {
		for _, i := range shards {
			shard := b.manifest.Shards[i]
			err := table.ScanRange(shard.First, shard.First+shard.Samples,
				b.manifest.SamplesPerValue, func(samples *ingest.Samples) error {
					return send(&job{shard: i, samples: samples})
				})
			if err == nil {
				err = send(&job{shard: i})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err := p.write(b.building, jobs, progress); err != nil {
		return err
	}
	b.stage("build masks", "samples", left, "shards", len(shards))
	return nil
}

// encode makes the masks of a job and encodes them as a value.
func (p *pipeline) encode(j *job, seed encode.Seed, remover *incidence.Remover,
	encoder encode.Encoder) {
	if j.samples == nil {
		return
	}
	var memory []byte
	select {
	case memory = <-p.values:
	default:
	}
	j.value = encode.AppendValue(memory[:0], seed, j.samples.First, j.samples.Len(),
		func(dst []byte, i int) []byte {
			return encoder.Append(dst, remover.Removed(j.samples.Genes(i)))
		})
}

// write puts values into their shards. Full shards are hashed and synced, two at a time, while the
// next one is written.
func (p *pipeline) write(building *store.Building, jobs iter.Seq2[*job, error],
	progress Progress) (err error) {
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
			err = shard.Commit()
		}
		if err != nil {
			return err
		}
		if j.samples == nil {
			seals.Go(fault.Catch(shard.Seal))
			shard = nil
		}
	}
	return nil
}

// yieldEvery is how long the writer runs before it yields. With all cores busy, Go would otherwise
// run the goroutine that waits for signals only after 60 jobs, half a second.
const yieldEvery = 50 * time.Millisecond

// put puts the value of a job into its shard.
func (p *pipeline) put(shard *store.Shard, j *job, progress Progress) error {
	if err := shard.Put(j.samples.First, j.value); err != nil {
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

// StageTime is the wall time that a stage took.
type StageTime struct {
	Stage   string  `json:"stage"`
	Seconds float64 `json:"seconds"`
}
