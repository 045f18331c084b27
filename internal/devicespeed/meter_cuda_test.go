//go:build cuda

package devicespeed

import (
	"bytes"
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
	"tcbuild/gpuverify/regenerate"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/fakedriver"
	"tcbuild/internal/testing/oracle"
)

func TestMain(m *testing.M) { os.Exit(fakedriver.Run(m)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// smallSpace lets a test measure little memory.
func smallSpace(t *testing.T) {
	t.Helper()
	before := spaceBytes
	t.Cleanup(func() { spaceBytes = before })
	spaceBytes = 64 << 10
}

func speedOptions(t *testing.T, graph *ingest.Graph, rule incidence.ReactionRule, samples int) Options {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(samples), 0))
	o := Options{Graph: graph, ByRule: rule == incidence.RuleGPR, Rounds: 1}
	for range samples {
		genes := make([]uint32, 0, 3)
		for _, gene := range r.Perm(graph.Genes.Len())[:1+r.IntN(2)] {
			genes = append(genes, uint32(gene))
		}
		o.Batch = append(o.Batch, genes)
	}
	return o
}

// newTestMeter returns a meter of the first device, for this thread.
func newTestMeter(t *testing.T, o Options) *meter {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	list, err := cuda.Select(nil)
	must(t, err)
	opened, err := list[0].Open()
	must(t, err)
	t.Cleanup(func() { must(t, opened.Close()) })
	rules, err := regenerate.NewRules(o.Graph, o.ByRule)
	must(t, err)
	incidence := regenerate.NewIncidence(rules)
	tables, err := regenerate.NewTables(rules, incidence)
	must(t, err)
	m := &meter{context: opened, tables: tables, samples: len(o.Batch), cpu: newCPUBatch(rules, incidence, o.Batch)}
	before, err := opened.FreeMemory()
	must(t, err)
	must(t, m.prepare(o))
	after, err := opened.FreeMemory()
	must(t, err)
	other := m.space.Size()
	if taken := before - after - int64(other); m.memoryBytes() != taken {
		t.Errorf("making masks takes %d bytes, said to be %d", taken, m.memoryBytes())
	}
	return m
}

// wait waits for all queued work.
func (m *meter) wait() error {
	m.stream.Record(m.end)
	if err := m.stream.Err(); err != nil {
		return err
	}
	return m.end.Synchronize()
}

// download returns a copy of device memory.
func (m *meter) download(t *testing.T, memory cuda.Memory) []byte {
	t.Helper()
	host, err := m.context.AllocatePinned(memory.Size())
	must(t, err)
	m.stream.Download(host, memory)
	must(t, m.wait())
	return host
}

// The kernels that are measured make the right masks.
func TestMeasuredWorkIsRight(t *testing.T) {
	smallSpace(t)
	r := rand.New(rand.NewPCG(1, 0))
	graphs := []*ingest.Graph{synth.Graph(synth.Tiny, 1), oracle.Graph(r), oracle.Graph(r), oracle.Graph(r)}
	for _, rule := range []incidence.ReactionRule{incidence.RuleAll, incidence.RuleGPR} {
		for number, graph := range graphs {
			t.Run(fmt.Sprintf("%s/%d", rule, number), func(t *testing.T) {
				m := newTestMeter(t, speedOptions(t, graph, rule, 33))
				_, err := m.round(context.Background())
				must(t, err)
				m.checkMasks(t)
			})
		}
	}
}

// checkMasks compares the masks that the device makes with those that the CPU makes, by both
// methods.
func (m *meter) checkMasks(t *testing.T) {
	t.Helper()
	m.cpu.byIncidence()
	want := slices.Clone(m.cpu.masks)
	m.cpu.masks = make([][]byte, len(want))
	m.cpu.byEdges()
	m.makeByIncidence(0)
	bits := cuda.View[uint32](m.download(t, m.bits.Memory))
	m.compareByEdges(0)
	removed, differs := m.results.Read(m.download(t, m.results.Memory))
	if slices.ContainsFunc(differs, func(samples uint32) bool { return samples != 0 }) {
		t.Errorf("the masks by edges differ in the samples %b", differs)
	}
	counts := make([]uint64, len(removed))
	for k, masks := range want {
		if !bytes.Equal(m.cpu.masks[k], masks) {
			t.Errorf("the masks of sample %d differ on the CPU", k)
		}
		for position, kept := range masks {
			bit := bits[k/32*m.tables.Stride+position] >> (k % 32) & 1
			if byte(bit) == kept {
				t.Fatalf("bit %d of sample %d is %d", position, k, bit)
			}
			if mask, _ := slices.BinarySearch(m.tables.Starts[1:], uint32(position+1)); bit != 0 {
				counts[mask]++
			}
		}
	}
	if !slices.Equal(removed, counts) {
		t.Errorf("by edges, the masks remove %d, want %d", removed, counts)
	}

	// A bit that should not be set, and one that should, are found in their samples.
	last := len(want) - 1
	must(t, m.changeBits(map[int]uint32{m.tables.Size() - 1: 1, last/32*m.tables.Stride + m.tables.Size()/2: 1 << (last % 32)}))
	m.compareByEdges(0)
	_, differs = m.results.Read(m.download(t, m.results.Memory))
	for k := range 32 * len(differs) {
		if found := differs[k/32]>>(k%32)&1 != 0; found != (k == 0 || k == last) {
			t.Errorf("sample %d differs: %v", k, found)
		}
	}
}

// changeBits flips bits of words.
func (m *meter) changeBits(changes map[int]uint32) error {
	word, err := m.context.AllocatePinned(4)
	if err != nil {
		return err
	}
	for at, flipped := range changes {
		m.stream.Download(word, m.bits.From(4*at))
		if err := m.wait(); err != nil {
			return err
		}
		cuda.View[uint32](word)[0] ^= flipped
		m.stream.Upload(m.bits.From(4*at), word)
		if err := m.wait(); err != nil {
			return err
		}
	}
	return nil
}

// A batch is what it is said to be, on every device, and the costs are those of each round.
func TestMeasureDevices(t *testing.T) {
	smallSpace(t)
	t.Setenv("FAKE_CUDA_DEVICES", "2")
	o := speedOptions(t, synth.Graph(synth.Tiny, 1), incidence.RuleAll, 0)
	for k := range uint32(28) {
		o.Batch = append(o.Batch, []uint32{k, k + 1})
	}
	o.Rounds = 2
	speeds, err := Measure(context.Background(), o)
	must(t, err)
	if len(speeds) != 2 || speeds[0].String() != "cuda:0 (Fake A)" || speeds[1].String() != "cuda:1 (Fake B)" {
		t.Fatalf("measured %v", speeds)
	}
	layout := incidence.NewLayout(o.Graph)
	stride := (layout.Size + regenerate.StrideUnit - 1) / regenerate.StrideUnit * regenerate.StrideUnit
	for _, speed := range speeds {
		if speed.IndexBytes != 448+29*8 || speed.MaskBytes != int64(28*stride) || speed.BitBytes != int64(4*stride) || speed.MemoryBytes <= speed.BitBytes || len(speed.Rounds) != 2 {
			t.Errorf("got %+v", speed)
		}
		for _, r := range speed.Rounds {
			for _, figure := range []float64{r.FillSpeed, r.CopySpeed, r.IndexUpload, r.MaskUpload, r.ByIncidence, r.ByEdges, r.CPUIncidence, r.CPUEdges} {
				if figure <= 0 {
					t.Errorf("a figure of %+v is not positive", r)
				}
			}
		}
	}
}

// Every failed call of the driver is reported with the device's name.
func TestFailuresOfMeasuring(t *testing.T) {
	smallSpace(t)
	o := speedOptions(t, synth.Graph(synth.Tiny, 1), incidence.RuleGPR, 3)
	path := filepath.Join(t.TempDir(), "calls")
	t.Setenv("FAKE_CUDA_CALLS", path)
	_, err := Measure(context.Background(), o)
	must(t, err)
	text, err := os.ReadFile(path)
	must(t, err)
	for line := range strings.Lines(string(text)) {
		var name string
		var count int
		_, err := fmt.Sscan(line, &name, &count)
		must(t, err)
		for n := range min(count, 3) {
			t.Setenv("FAKE_CUDA_FAIL", fmt.Sprint(name, ":", n+1, ":700"))
			speeds, err := Measure(context.Background(), o)
			before := name == "cuInit" || strings.HasPrefix(name, "cuDeviceGet")
			if fault.KindOf(err) != fault.Failed || speeds != nil || !before && !strings.HasPrefix(err.Error(), "measure masks on cuda:0 (Fake A): cu") {
				t.Errorf("call %d of %s fails: %v, error %v", n+1, name, speeds, err)
			}
		}
	}
}

func TestMeasuringIsInterrupted(t *testing.T) {
	smallSpace(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("told to stop")
	cancel(why)
	if _, err := Measure(ctx, speedOptions(t, synth.Graph(synth.Tiny, 1), incidence.RuleAll, 1)); !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
}
