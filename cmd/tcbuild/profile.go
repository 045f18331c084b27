package main

import (
	"errors"
	"io"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spf13/pflag"

	"tcbuild/internal/disk"
)

// profiles are the files for a run's profiles, "" for none.
type profiles struct{ cpu, memory, trace string }

func (p *profiles) flags(flags *pflag.FlagSet) {
	flags.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to `FILE`, for go tool pprof")
	flags.StringVar(&p.memory, "memprofile", "", "write a memory profile to `FILE`, for go tool pprof")
	flags.StringVar(&p.trace, "trace", "", "write an execution trace to `FILE`, for go tool trace")
}

// start starts profiling; the returned function stops it and writes the files.
func (p *profiles) start() (stop func() error, err error) {
	var stops []func() error
	stop = func() error {
		var errs []error
		for _, s := range stops {
			errs = append(errs, s())
		}
		return errors.Join(errs...)
	}
	record := func(path string, begin, end func(io.Writer) error) {
		if path == "" || err != nil {
			return
		}
		var file *disk.File
		if file, err = disk.Create(path); err != nil {
			return
		}
		if err = begin(file); err != nil {
			err = errors.Join(err, file.Discard())
			return
		}
		stops = append(stops, func() error {
			if err := end(file); err != nil {
				return errors.Join(err, file.Discard())
			}
			return file.Publish()
		})
	}
	nothing := func(io.Writer) error { return nil }
	record(p.cpu, pprof.StartCPUProfile, func(io.Writer) error { pprof.StopCPUProfile(); return nil })
	record(p.trace, trace.Start, func(io.Writer) error { trace.Stop(); return nil })
	record(p.memory, nothing, func(w io.Writer) error { runtime.GC(); return pprof.WriteHeapProfile(w) })
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}
