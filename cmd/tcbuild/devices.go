package main

import (
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/gpuverify"
)

// parseDevices parses --device, --gpu-memory and --pinned-memory; the result is nil for the CPU.
func parseDevices(device, memory, pinned string) (*gpuverify.Devices, error) {
	devices := new(gpuverify.Devices)
	var err error
	if devices.Memory, err = parseMemory("gpu-memory", memory); err != nil {
		return nil, err
	}
	if devices.Pinned, err = parseMemory("pinned-memory", pinned); err != nil {
		return nil, err
	}
	kind, list, listed := strings.Cut(device, ":")
	if kind != "cuda" {
		return nil, oneOf("--device", device, "cpu", "cuda", "cuda:0,2")
	}
	for _, text := range strings.Split(list, ",") {
		if !listed {
			break
		}
		ordinal, err := strconv.ParseUint(text, 10, 16)
		if err != nil || slices.Contains(devices.Ordinals, int(ordinal)) {
			return nil, fault.New(fault.Usage, "number the devices from 0, as nvidia-smi does, and list each once, as in cuda:0,2",
				"read --device %s: found device %q", device, text)
		}
		devices.Ordinals = append(devices.Ordinals, int(ordinal))
	}
	return devices, nil
}

// memoryUnits are in the order in which suffixes are tried.
var memoryUnits = []struct {
	suffix string
	bytes  float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"", 1}}

// parseMemory parses a number of bytes, such as 500000, 1.5GB or 2GiB; the empty string is 0.
func parseMemory(flag, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	for _, unit := range memoryUnits {
		number, ok := strings.CutSuffix(text, unit.suffix)
		if !ok {
			continue
		}
		if value, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && value*unit.bytes >= 1 &&
			value*unit.bytes < 1<<62 {
			return int64(value * unit.bytes), nil
		}
		break
	}
	return 0, fault.New(fault.Usage, "give it in bytes, or with a unit, as in 500MB or 2GiB", "read --%s: found %q", flag, text)
}
