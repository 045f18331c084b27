package main

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spf13/pflag"
)

// profiles are the files that a run's profiles go to, "" for none.
type profiles struct{ cpu, memory, trace string }

func (p *profiles) flags(flags *pflag.FlagSet) {
	flags.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to `FILE`, for go tool pprof")
	flags.StringVar(&p.memory, "memprofile", "", "write a memory profile to `FILE`, for go tool pprof")
	flags.StringVar(&p.trace, "trace", "", "write an execution trace to `FILE`, for go tool trace")
}

// start begins profiling; the returned function ends it and writes the files.
func (p *profiles) start() (stop func() error, err error) {
	var stops []func() error
	stop = func() error {
		var errs []error
		for _, s := range stops {
			errs = append(errs, s())
		}
		return errors.Join(errs...)
	}
	record := func(path string, begin func(*os.File) error, end func(*os.File) error) {
		if path == "" || err != nil {
			return
		}
		var file *os.File
		if file, err = os.Create(path); err != nil {
			return
		}
		if err = begin(file); err == nil {
			stops = append(stops, func() error { return errors.Join(end(file), file.Close()) })
		}
	}
	nothing := func(*os.File) error { return nil }
	record(p.cpu, func(f *os.File) error { return pprof.StartCPUProfile(f) }, func(*os.File) error { pprof.StopCPUProfile(); return nil })
	record(p.trace, func(f *os.File) error { return trace.Start(f) }, func(*os.File) error { trace.Stop(); return nil })
	record(p.memory, nothing, func(f *os.File) error { runtime.GC(); return pprof.WriteHeapProfile(f) })
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}
