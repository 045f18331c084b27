//go:build cuda

package cuda

import "tcbuild/fault"

// Select loads the driver and lists its devices, or the requested ones.
func Select(ordinals []int) ([]Device, error) {
	if err := Load(Driver); err != nil {
		return nil, err
	}
	all, err := Devices()
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fault.New(fault.Failed, "use --device cpu, or a machine with a GPU", "the CUDA driver offers no device")
	}
	if len(ordinals) == 0 {
		return all, nil
	}
	var chosen []Device
	for _, ordinal := range ordinals {
		if ordinal >= len(all) {
			return nil, fault.New(fault.Usage, "choose from the devices that nvidia-smi lists, or use --device cuda for all",
				"found device %d, expected one of the CUDA driver's %d devices, numbered from 0", ordinal, len(all))
		}
		chosen = append(chosen, all[ordinal])
	}
	return chosen, nil
}

// Failure is a fault caused by an error of the driver.
func Failure(cause error, format string, args ...any) error {
	hint := fault.HintOf(cause)
	if hint == "" {
		hint = "check the device with nvidia-smi and in the system log, or choose others with --device"
	}
	return fault.New(fault.Failed, hint, format, args...)
}
