package bench

import "tcbuild/store"

func (s *subject) readResult(l Limits, setup Setup) Read {
	limit := func(cold bool) float64 { return readLimit(s.Case, s.size, l, setup.MaskPositions, cold) }
	r := Read{
		OpenSeconds: statOf(s.readings, func(r reads) float64 { return r.open }),
		Sequential:  passResult(s.readings, func(r reads) pass { return r.sequential }, limit(false)),
		Random:      passResult(s.readings, func(r reads) pass { return r.random }, limit(false)),
		BatchBytes:  batchBytes(s.Variant, setup),
	}
	r.BatchMilliseconds = 1000 * ratio(r.BatchBytes, l.Copy.Max)
	for _, reading := range s.readings {
		if reading.notCold != "" {
			r.NotCold = reading.notCold
			return r
		}
	}
	open := statOf(s.readings, func(r reads) float64 { return r.coldOpen })
	sequential := passResult(s.readings, func(r reads) pass { return r.coldSequential }, limit(true))
	random := passResult(s.readings, func(r reads) pass { return r.coldRandom }, limit(true))
	r.ColdOpenSeconds, r.ColdSequential, r.ColdRandom = &open, &sequential, &random
	return r
}

func passResult(rounds []reads, of func(reads) pass, limit float64) Pass {
	p := Pass{
		Samples:           int(statOf(rounds, func(r reads) float64 { return float64(of(r).samples) }).Min),
		Milliseconds:      statOf(rounds, func(r reads) float64 { return of(r).milliseconds() }),
		LimitMilliseconds: limit,
	}
	p.LimitFraction = ratio(limit, p.Milliseconds.Median)
	return p
}

// readLimit is the shortest possible time, in milliseconds, to have a sample's masks in memory: the
// time to fill them or, if they are stored uncompressed, to copy them; for a cold read, the time to
// read the sample's bytes from disk if that is longer. The incidence variant has its samples in
// memory after the first read.
func readLimit(c Case, size Size, l Limits, positions int, cold bool) float64 {
	limit := ratio(float64(positions), l.Fill.Max)
	if storedWhole(c) {
		limit = ratio(float64(positions), l.Copy.Max)
	}
	if cold && c.Variant != store.Incidence {
		limit = max(limit, ratio(size.BytesPerSample, l.DiskRead.Max))
	}
	return 1000 * limit
}

// batchBytes is the size of a batch moved to a device to make masks there: perturbation indices,
// removed positions, or masks. Indices and positions take 4 bytes each, and so do their offsets,
// one more than samples.
func batchBytes(v store.Variant, setup Setup) float64 {
	const offsets = 4 * (BatchSamples + 1)
	switch v {
	case store.Incidence:
		return BatchSamples*4*setup.GenesRemoved + offsets
	case store.Indices:
		return BatchSamples*4*setup.Removed + offsets
	default:
		return BatchSamples * float64(setup.MaskPositions)
	}
}
