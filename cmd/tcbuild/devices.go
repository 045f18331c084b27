package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

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

// parseMemory parses a number of bytes, such as 500000, 1.5GB or 2GiB; the empty string is 0.
func parseMemory(flag, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	size, err := humanize.ParseBytes(text)
	if err != nil || size == 0 || size >= 1<<62 {
		return 0, fault.New(fault.Usage, "give it in bytes, or with a unit, as in 500MB or 2GiB", "read --%s: found %q", flag, text)
	}
	return int64(size), nil
}
