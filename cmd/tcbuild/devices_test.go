package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"tcbuild/fault"
	"tcbuild/gpuverify"
)

// deviceFlags returns the devices that the flags of verify name, or the error of the first flag
// that is refused.
func deviceFlags(flags ...string) (devices *gpuverify.Devices, err error) {
	cmd := &cobra.Command{Use: "verify"}
	cuda := deviceFlag(cmd, &devices, "")
	memoryFlag(cmd.Flags(), &cuda.Memory, "gpu-memory", "")
	if err := cmd.ParseFlags(flags); err != nil {
		return nil, flagError(cmd, err)
	}
	return devices, nil
}

func TestDeviceFlag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		device   string
		ordinals []int
	}{{"cuda", nil}, {"cuda:0", []int{0}}, {"cuda:2,0", []int{2, 0}}} {
		devices, err := deviceFlags("--device", c.device, "--gpu-memory", "2GiB")
		if err != nil || devices == nil || devices.Memory != 2<<30 || !slices.Equal(devices.Ordinals, c.ordinals) {
			t.Errorf("%s: got %+v, %v", c.device, devices, err)
		}
	}
	for _, flags := range [][]string{nil, {"--device=cpu"}, {"--device=cuda:1", "--device=cpu"}} {
		if devices, err := deviceFlags(flags...); devices != nil || err != nil {
			t.Errorf("%v: got %+v, %v", flags, devices, err)
		}
	}
	for _, device := range []string{"", "gpu", "cpu:0", "cuda:", "cuda:0,", "cuda:x", "cuda:-1", "cuda:0,0", "cuda:70000"} {
		if _, err := deviceFlags("--device", device); fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
			t.Errorf("%q: error %v, hint %q", device, err, fault.HintOf(err))
		}
	}
}

func TestMemoryFlag(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"1": 1, "500000": 500000, "1.5GB": 1_500_000_000, "2 GiB": 2 << 30, "3kB": 3000, "1MiB": 1 << 20, "2TB": 2e12, "2gb": 2e9} {
		if got, err := deviceFlags("--device=cuda", "--gpu-memory", text); err != nil || got.Memory != want {
			t.Errorf("%q: got %+v, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "GB", "2 B G", "1e30", "NaN", "half"} {
		if got, err := deviceFlags("--device=cuda", "--gpu-memory", text); fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
}

// Without a GPU the program does everything else, and says what is missing; it does not use the CPU
// instead.
func TestNoCUDADevice(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	f := newFixture(t, 300, 20)
	must(t, f.dir, f.dataset("indices", "zstd", "indices")...)
	must(t, f.dir, "verify", "indices")
	for _, device := range []string{"cuda", "cuda:0"} {
		execute(t, f.dir, "verify", "indices", "--device", device, "--json", "report.json").refused(t, 1, "verify indices on ", "CUDA")
	}
	nothing(t, filepath.Join(f.dir, "report.json"))
}
