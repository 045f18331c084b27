//go:build cuda

package gpuverify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/fakedriver"
	"tcbuild/internal/testing/oracle"
	"tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

func TestMain(m *testing.M) { os.Exit(fakedriver.Run(m)) }

func verifyOnDevices(t testing.TB, dataset *store.Dataset, method Method, devices Devices) (*Report, error) {
	t.Helper()
	return Verify(context.Background(), dataset, Options{Method: method, Workers: 2, Devices: &devices})
}

// agrees checks that the devices report what the CPU does, and returns their report.
func agrees(t *testing.T, dataset *store.Dataset, method Method) *Report {
	t.Helper()
	onCPU := verify(t, dataset, method, 1)
	onDevices, err := verifyOnDevices(t, dataset, method, Devices{})
	must(t, err)
	m := dataset.Manifest
	if onDevices.Samples != onCPU.Samples || onDevices.LogicalContent != onCPU.LogicalContent ||
		onDevices.Differences != onCPU.Differences ||
		onDevices.Damaged != onCPU.Damaged || !slices.Equal(onDevices.FirstDamaged, onCPU.FirstDamaged) ||
		!slices.Equal(onDevices.Masks, onCPU.Masks) {
		t.Errorf("%s %s, rule %s, by %s: on devices\n%+v\non the CPU\n%+v", m.Variant, m.Codec, m.Options.ReactionRule,
			method, onDevices, onCPU)
	}
	if onCPU.Differences <= listed && !slices.Equal(onDevices.FirstDifferences, onCPU.FirstDifferences) {
		t.Errorf("%s %s by %s: differences %v, want %v", m.Variant, m.Codec, method, onDevices.FirstDifferences, onCPU.FirstDifferences)
	}
	return onDevices
}

// Right datasets of all kinds pass on a device as on the CPU.
func TestDevicesPass(t *testing.T) {
	for _, rule := range reactionRules {
		for _, samples := range []int{1, 32, 33, 300} {
			list := plans(rule, samples)
			if samples != 300 || testing.Short() {
				list = list[:2]
			}
			for _, p := range list {
				dataset := p.build(t)
				for _, method := range methods {
					agrees(t, dataset, method)
				}
			}
		}
	}
}

// So do random graphs of every shape.
func TestDevicesOnRandomGraphs(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	for range testrun.Cases(8, 2) {
		graph := oracle.Graph(r)
		samples := ingest.NewSamples(0, tinyColumns, 0)
		for k := range 40 {
			samples.Append([]byte{byte('0' + k)}, oracle.Genotype(r, graph, k%17), []float64{1, 2}, nil)
		}
		for _, rule := range reactionRules {
			for _, p := range []plan{{variant: store.Incidence}, {variant: store.Indices, codec: "raw", shards: 1},
				{variant: store.FullMasks, codec: "bits", shards: 1}} {
				p.graph, p.source, p.samples, p.rule = graph, samples, samples.Len(), rule
				dataset := p.build(t)
				for _, method := range methods {
					agrees(t, dataset, method)
				}
			}
		}
	}
}

// So do genes with more edges, and masks with more positions, than the threads that share them.
func TestDevicesOnHubs(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	graph := synth.Graph(synth.Tiny, 1)
	for _, edges := range graph.Edges {
		if edges.Type.Target != ingest.Gene {
			continue
		}
		for range 30_000 {
			// half of them at the first gene
			edges.Src = append(edges.Src, uint32(r.IntN(60)*r.IntN(2)))
			edges.Dst = append(edges.Dst, uint32(r.IntN(60)))
		}
		edges.Columns = nil
	}
	samples := ingest.NewSamples(0, tinyColumns, 0)
	for k := range 70 {
		samples.Append([]byte{byte(k)}, oracle.Genotype(r, graph, 1+k%5), []float64{1, 2}, nil)
	}
	for _, rule := range reactionRules {
		for _, p := range []plan{{variant: store.Indices, codec: "zstd", shards: 1}, {variant: store.Incidence},
			{variant: store.FullMasks, codec: "raw", shards: 1}}[:testrun.Cases(3, 1)] {
			p.graph, p.source, p.samples, p.rule = graph, samples, samples.Len(), rule
			p.plantRemoved = func(sample int, removed []uint32) []uint32 {
				if sample%9 == 0 {
					removed = toggle(removed, uint32(1000*(sample+1)))
				}
				return removed
			}
			agrees(t, p.build(t), Both)
		}
	}
}

// Every position that is wrong in one sample alone is found, removed or kept by mistake: no kernel
// overlooks one of the positions that a thread takes at a time, or an end of a mask.
func TestDevicesFindPlanted(t *testing.T) {
	samples := incidence.NewLayout(tinyGraph()).Size
	for _, rule := range reactionRules {
		for _, p := range plans(rule, samples)[1:testrun.Cases(5, 2)] {
			p.plantRemoved = func(sample int, removed []uint32) []uint32 {
				return toggle(removed, uint32(sample))
			}
			dataset := p.build(t)
			for _, method := range methods {
				if report := agrees(t, dataset, method); report.Differences != int64(samples) {
					t.Errorf("%s %s by %s: %d differences in %d samples with one each", p.variant, p.codec, method, report.Differences, samples)
				}
			}
		}
	}
}

// Undecodable samples and invalid genes are reported as the CPU reports them.
func TestDevicesOnDamage(t *testing.T) {
	for _, p := range plans(incidence.RuleAll, 20)[1:] {
		p.plantPayload = func(sample int, payload []byte) []byte {
			if sample%5 == 3 {
				return payload[:len(payload)-1-sample]
			}
			return payload
		}
		agrees(t, p.build(t), Both)
	}
	for _, p := range plans(incidence.RuleAll, 20)[:2] {
		p.plantGenes = func(sample int, genes []uint32) []uint32 {
			if sample >= 5 {
				return []uint32{2, 60}
			}
			return genes
		}
		agrees(t, p.build(t), Both)
	}
	p := plan{variant: store.FullMasks, codec: "raw", rule: incidence.RuleAll, samples: 3, shards: 1}
	p.plantPayload = func(_ int, payload []byte) []byte { // neither 0 nor 1
		payload[7], payload[8] = 2, 255
		return payload
	}
	agrees(t, p.build(t), Both)
}

// A wrong position in the incidence cache differs from the edges in every sample that deletes its
// gene.
func TestDevicesFindPlantedInCache(t *testing.T) {
	p := plan{variant: store.Incidence, rule: incidence.RuleAll, samples: 70, plantCache: func(cache *incidence.Cache) {
		for gene := range uint32(60) {
			if row := cache.Row(gene); len(row) > 1 {
				row[len(row)-1]--
			}
		}
	}}
	dataset := p.build(t)
	onCPU := verify(t, dataset, Both, 1)
	onDevice, err := verifyOnDevices(t, dataset, Both, Devices{})
	must(t, err)
	if onDevice.Differences == 0 || onDevice.Differences != onCPU.Differences {
		t.Errorf("%d differences on the device, %d on the CPU", onDevice.Differences, onCPU.Differences)
	}
}

// The batch follows from the memory that a device has, or may use, down to one sample.
func TestMemoryOfDevices(t *testing.T) {
	dataset := plan{variant: store.FullMasks, codec: "bits", rule: incidence.RuleGPR, samples: 300, shards: 2}.build(t)
	whole, err := verifyOnDevices(t, dataset, Both, Devices{})
	must(t, err)
	if whole.Devices[0].Batches != 1 || whole.Devices[0].BatchSamples != 300 {
		t.Errorf("%d batches of %d samples, want 1 of 300", whole.Devices[0].Batches, whole.Devices[0].BatchSamples)
	}
	most := whole.Devices[0].MemoryBytes
	var smallest int64
	for memory := most - 1; ; memory = memory * testrun.Cases[int64](9, 7) / 10 {
		report, err := verifyOnDevices(t, dataset, Both, Devices{Memory: memory})
		if err != nil {
			if want := " need "; fault.HintOf(err) == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("with %d bytes: error %v", memory, err)
			}
			break
		}
		d := report.Devices[0]
		if !report.Passed() || report.Samples != 300 || d.MemoryBytes > memory || d.BatchSamples >= 300 {
			t.Fatalf("with %d bytes: %+v", memory, report)
		}
		smallest = int64(d.BatchSamples)
	}
	if smallest > testrun.Cases[int64](2, 8) {
		t.Errorf("the smallest batch has %d samples", smallest)
	}

	list := plans(incidence.RuleGPR, 300)
	if testing.Short() {
		list = list[:2]
	}
	for _, p := range list { // the bytes taken are those computed
		dataset := p.build(t)
		for _, method := range methods {
			t.Setenv("FAKE_CUDA_MEMORY", "1000000000")
			whole, err := verifyOnDevices(t, dataset, method, Devices{})
			must(t, err)
			bytes := whole.Devices[0].MemoryBytes
			t.Setenv("FAKE_CUDA_MEMORY", fmt.Sprint(bytes))
			exact, err := verifyOnDevices(t, dataset, method, Devices{Memory: bytes})
			must(t, err)
			if exact.Devices[0].BatchSamples != whole.Devices[0].BatchSamples {
				t.Errorf("%s by %s: batches of %d samples in %d bytes", p.variant, method, exact.Devices[0].BatchSamples, bytes)
			}
		}
	}
}

// counted runs a verification and returns how often it called each function of the driver.
func counted(t *testing.T, dataset *store.Dataset, devices Devices) (*Report, map[string]int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "calls")
	t.Setenv("FAKE_CUDA_CALLS", path)
	report, err := verifyOnDevices(t, dataset, Both, devices)
	must(t, err)
	text, err := os.ReadFile(path)
	must(t, err)
	calls := make(map[string]int)
	for line := range strings.Lines(string(text)) {
		var name string
		var count int
		if _, err := fmt.Sscan(line, &name, &count); err != nil {
			t.Fatal(err)
		}
		calls[name] = count
	}
	return report, calls
}

// The host waits once for the graph and once for each batch, and never for a sample.
func TestHostSynchronizations(t *testing.T) {
	for _, samples := range []int{100, chunkSamples + 500} {
		dataset := plan{variant: store.Indices, codec: "zstd", rule: incidence.RuleAll, samples: samples, shards: 1}.build(t)
		report, calls := counted(t, dataset, Devices{})
		want := (samples + chunkSamples - 1) / chunkSamples
		if calls["cuCtxSynchronize"] != 1 || calls["cuEventSynchronize"] != want || report.Devices[0].Batches != want {
			t.Errorf("%d and %d waits for %d samples, want 1 and %d", calls["cuCtxSynchronize"], calls["cuEventSynchronize"], samples, want)
		}
	}
}

// Several devices share the samples, and each has some.
func TestSeveralDevices(t *testing.T) {
	t.Setenv("FAKE_CUDA_DEVICES", "3")
	dataset := plan{variant: store.Indices, codec: "zstd", rule: incidence.RuleAll, samples: 300, shards: 2}.build(t)
	for _, test := range []struct {
		ordinals []int
		want     string
	}{
		{nil, "cuda:0 (Fake A), cuda:1 (Fake B), cuda:2 (Fake C)"},
		{[]int{2, 0}, "cuda:2 (Fake C), cuda:0 (Fake A)"},
		{[]int{1}, "cuda:1 (Fake B)"},
	} {
		report, err := verifyOnDevices(t, dataset, Both, Devices{Ordinals: test.ordinals})
		must(t, err)
		samples := 0
		for _, device := range report.Devices {
			if samples += device.Samples; device.Samples == 0 {
				t.Errorf("%s has checked nothing", device.Name)
			}
		}
		if report.Device != test.want || samples != 300 || !report.Passed() {
			t.Errorf("%d samples on %s, want 300 on %s", samples, report.Device, test.want)
		}
	}
	_, err := verifyOnDevices(t, dataset, Both, Devices{Ordinals: []int{3}})
	if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "found device 3, expected one of the CUDA driver's 3 devices") {
		t.Errorf("device 3: error %v", err)
	}
}

// Every call of the driver that fails fails the run, with the device's name.
func TestFailuresOfDriver(t *testing.T) {
	t.Setenv("FAKE_CUDA_DEVICES", "2")
	dataset := plan{variant: store.Indices, codec: "raw", rule: incidence.RuleGPR, samples: 90, shards: 1}.build(t)
	small := Devices{Memory: 600_000}
	report, calls := counted(t, dataset, small)
	if batches := report.Devices[0].Batches; batches < 2 {
		t.Fatalf("only %d batches, lower the memory", batches)
	}
	calls["cuInit"] = 1
	const illegalAddress = 700
	for name, count := range calls {
		for n := 1; n <= count; n += testrun.Cases(1, 5) {
			t.Setenv("FAKE_CUDA_FAIL", fmt.Sprint(name, ":", n, ":", illegalAddress))
			report, err := verifyOnDevices(t, dataset, Both, small)
			if err == nil {
				t.Errorf("call %d of %s fails, and the run passes: %+v", n, name, report)
				continue
			}
			before := name == "cuInit" || strings.HasPrefix(name, "cuDeviceGet")
			named := strings.Contains(err.Error(), " on cuda:0 (Fake A): ") || strings.Contains(err.Error(), " on cuda:1 (Fake B): ")
			if fault.KindOf(err) != fault.Failed || report != nil || !before && !named {
				t.Errorf("call %d of %s fails: report %v, error %v", n, name, report, err)
			}
		}
	}
}

// No kernel works on a batch that was not uploaded.
func TestFailedUpload(t *testing.T) {
	dataset := plan{variant: store.Indices, codec: "raw", rule: incidence.RuleAll, samples: 9, shards: 1}.build(t)
	path := filepath.Join(t.TempDir(), "calls")
	t.Setenv("FAKE_CUDA_CALLS", path)
	t.Setenv("FAKE_CUDA_FAIL", "cuMemcpyHtoDAsync_v2:1:700")
	if _, err := verifyOnDevices(t, dataset, Both, Devices{}); err == nil || !strings.Contains(err.Error(), "cuMemcpyHtoDAsync of ") {
		t.Errorf("error %v", err)
	}
	text, err := os.ReadFile(path)
	must(t, err)
	if strings.Contains(string(text), "cuLaunchKernel") {
		t.Errorf("calls\n%s", text)
	}
}

// A difference that a device finds and the CPU does not is the device's error, not the dataset's.
func TestDifferenceThatTheCPUDoesNotFind(t *testing.T) {
	dataset := plan{variant: store.Indices, codec: "raw", rule: incidence.RuleAll, samples: 40, shards: 1}.build(t)
	v := newVerifier(dataset, Options{})
	ready, err := v.prepare()
	must(t, err)
	if !ready {
		t.Fatal("the dataset is damaged")
	}
	c := &card{devices: &devices{verifier: v}, cpu: newWorker(v), removed: make([]int64, len(v.rules.Masks))}
	c.cpu.reader = dataset.NewReader()
	defer c.cpu.reader.Close()
	masks := len(v.rules.Masks)
	l := &lane{results: kernels.Results{Masks: masks}, host: make([]byte, kernels.ResultBytes(masks, 40)),
		batch: &batch{ends: make([]int64, 41), used: extent{samples: 40}}}
	for k := range 40 {
		s, _, err := c.cpu.row(k)
		must(t, err)
		l.batch.samples = append(l.batch.samples, s)
	}
	must(t, c.addResults(l))
	l.host[8*masks+4] = 1 << 3
	if err := c.addResults(l); fault.KindOf(err) != fault.Failed ||
		err.Error() != "the device found 1 samples that differ, the CPU 0 of them; the first is sample 35" || fault.HintOf(err) == "" {
		t.Errorf("error %v, hint %q", err, fault.HintOf(err))
	}
}

// Devices open their contexts and compile their kernels while files are checked: they have, and are
// closed again, when a dataset turns out to be too damaged to compare anything.
func TestDevicesStartWhileFilesAreChecked(t *testing.T) {
	dataset := plan{variant: store.Indices, codec: "raw", rule: incidence.RuleAll, samples: 4, shards: 1}.build(t)
	changeFile(t, filepath.Join(dataset.Dir, "graph", "nodes", "gene.arrow"), 700)
	path := filepath.Join(t.TempDir(), "calls")
	t.Setenv("FAKE_CUDA_CALLS", path)
	report, err := verifyOnDevices(t, dataset, Both, Devices{})
	must(t, err)
	text, err := os.ReadFile(path)
	must(t, err)
	if report.Damaged == 0 || report.Devices[0].Samples > 0 || !strings.Contains(string(text), "cuModuleLoadDataEx 3") || !strings.Contains(string(text), "cuCtxDestroy_v2 1") {
		t.Errorf("report %+v, calls\n%s", report, text)
	}
}

// The host's pinned memory does not depend on the number of workers.
func TestPinnedMemory(t *testing.T) {
	dataset := plan{variant: store.Indices, codec: "raw", rule: incidence.RuleAll, samples: 300, shards: 1}.build(t)
	_, calls := counted(t, dataset, Devices{})
	if pins := calls["cuMemHostAlloc"]; pins != batchCount+lanes { // the batches, and the results of each lane
		t.Errorf("%d pieces of pinned memory", pins)
	}
}

// Memory taken by another program is reported with a hint.
func TestOutOfMemory(t *testing.T) {
	dataset := plan{variant: store.Indices, codec: "raw", rule: incidence.RuleAll, samples: 9, shards: 1}.build(t)
	t.Setenv("FAKE_CUDA_FAIL", "cuMemAlloc_v2:3:2")
	_, err := verifyOnDevices(t, dataset, Both, Devices{})
	if err == nil || !strings.Contains(err.Error(), "cuda:0 (Fake A): cuMemAlloc of ") || !strings.Contains(err.Error(), "OutOfMemory") ||
		!strings.Contains(fault.HintOf(err), "--gpu-memory") {
		t.Errorf("error %v, hint %q", err, fault.HintOf(err))
	}
	t.Setenv("FAKE_CUDA_FAIL", ":0:0")
	t.Setenv("FAKE_CUDA_MEMORY", "20000")
	if _, err = verifyOnDevices(t, dataset, Both, Devices{}); err == nil ||
		!strings.Contains(err.Error(), "(found 18000 usable, 20000 free)") {
		t.Errorf("error %v", err)
	}
}

// An error has what the driver's compiler says of the kernels.
func TestLogOfCompiler(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	list, err := cuda.Select(nil)
	must(t, err)
	opened, err := list[0].Open()
	must(t, err)
	defer opened.Close()
	if _, err := opened.Functions("no PTX", "some"); err == nil ||
		!strings.HasPrefix(err.Error(), "cuModuleLoadDataEx of the kernels [some]: ptxas fatal   : no kernel: ") {
		t.Errorf("error %v", err)
	}
}

// Without a driver, or with one that has no device, there is an error and a hint.
func TestNoDevice(t *testing.T) {
	dataset := plan{variant: store.Indices, codec: "raw", rule: incidence.RuleAll, samples: 1, shards: 1}.build(t)
	t.Setenv("FAKE_CUDA_DEVICES", "0")
	if _, err := verifyOnDevices(t, dataset, Both, Devices{}); err == nil ||
		!strings.Contains(err.Error(), "the CUDA driver offers no device") {
		t.Errorf("error %v", err)
	}
	t.Setenv("FAKE_CUDA_FAIL", "cuInit:1:100")
	if _, err := verifyOnDevices(t, dataset, Both, Devices{}); err == nil ||
		!strings.Contains(err.Error(), "no CUDA-capable device is detected") {
		t.Errorf("error %v", err)
	}
	found := cuda.Driver
	defer func() { cuda.Driver = found }()
	cuda.Driver = "libcuda-that-is-not-there.so"
	_, err := verifyOnDevices(t, dataset, Both, Devices{})
	if err == nil || !strings.Contains(err.Error(), "libcuda-that-is-not-there.so: cannot open shared object file") ||
		!strings.Contains(fault.HintOf(err), "--device cpu") {
		t.Errorf("error %v, hint %q", err, fault.HintOf(err))
	}
}

func TestInterruptedOnDevices(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("told to stop")
	dataset := plan{variant: store.Indices, codec: "raw", rule: incidence.RuleAll, samples: chunkSamples + 1, shards: 1}.build(t)
	// after the first chunk, before the second
	progress := stopper{cancel: func() { cancel(why) }}
	report, err := Verify(ctx, dataset, Options{Method: Both, Workers: 1, Devices: &Devices{Memory: 600_000}, Progress: progress})
	if report != nil || !errors.Is(err, why) {
		t.Errorf("report %v, error %v, want %v", report, err, why)
	}
}

// stopper cancels at the first progress.
type stopper struct{ cancel func() }

func (s stopper) Add(int, int64) { s.cancel() }
