package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/internal/decimal"
	"tcbuild/internal/variants"
)

// flagValue is the value of a flag that is checked where it is given: on the command line or in the
// settings.
type flagValue struct {
	text, kind     string
	expected, hint string   // what set accepts; the hint may be empty
	words          []string // all of them, if they are few
	set            func(text string) bool
}

func (v *flagValue) String() string { return v.text }

// Type names the kind of value, as the flag library does.
func (v *flagValue) Type() string { return v.kind }

// Set implements pflag.Value.
func (v *flagValue) Set(text string) error {
	if !v.set(text) {
		return errors.New("expected " + v.expected)
	}
	v.text = text
	return nil
}

// choiceFlag declares a flag that takes one of a few words, which shells complete.
func choiceFlag[T, V ~string](
	cmd *cobra.Command, value *T, name string, byDefault T, valid []V, usage string) {
	var words []string
	for _, word := range valid {
		words = append(words, string(word))
	}
	*value = byDefault
	cmd.Flags().Var(&flagValue{
		text: string(byDefault), kind: "string", expected: strings.Join(words, " or "),
		words: words,
		set: func(word string) bool {
			*value = T(word)
			return slices.Contains(words, word)
		},
	}, name, usage)
	completes(cmd, name, words...)
}

// completes makes shells complete a flag's words.
func completes(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// isDecimal reports whether everybody reads a whole number as the same: 010 is eight to some.
func isDecimal(text string) bool {
	digits := strings.TrimLeft(text, "+-")
	return digits == "0" || !strings.HasPrefix(digits, "0")
}

// intFlag declares a flag for a decimal number.
func intFlag(flags *pflag.FlagSet, value *int, name string, byDefault, least int, usage string) {
	*value = byDefault
	flags.Var(&flagValue{
		text: strconv.Itoa(byDefault), kind: "int",
		expected: fmt.Sprintf("a whole decimal number, %d or more (64 bits)", least),
		set: func(text string) (ok bool) {
			n, err := strconv.Atoi(text)
			*value = n
			return err == nil && n >= least && isDecimal(text)
		},
	}, name, usage)
}

// shareFlag declares a flag for a share, from 0 to 1.
func shareFlag(flags *pflag.FlagSet, share *float64, name string, byDefault float64, usage string) {
	*share = byDefault
	flags.Var(&flagValue{
		text: strconv.FormatFloat(byDefault, 'g', -1, 64), kind: "float64",
		expected: "a share from 0 to 1", hint: "a half is 0.5",
		set: func(text string) bool {
			n, err := decimal.Parse(text)
			*share = n
			isShare := 0 <= n && n <= 1
			return err == nil && isShare && !strings.ContainsAny(text, "xX_")
		},
	}, name, usage)
}

// mostWorkers is more than any machine has cores. Each worker holds values of 64 samples in memory.
const mostWorkers = 1024

// workersFlag declares a flag that limits the program to a number of cores.
func workersFlag(flags *pflag.FlagSet, workers *int) {
	flags.Var(&flagValue{
		text: "0", kind: "int",
		expected: fmt.Sprintf("a whole decimal number from 0 to %d", mostWorkers),
		set: func(text string) bool {
			n, err := strconv.Atoi(text)
			inRange := 0 <= n && n <= mostWorkers
			if err != nil || !inRange || !isDecimal(text) {
				return false
			}
			*workers = n
			runtime.GOMAXPROCS(n) // 0 changes nothing
			return true
		},
	}, "workers", "CPU cores to use (default: all available)")
}

// partFlag declares a flag for one of several processes that share the work.
func partFlag(flags *pflag.FlagSet, p *variants.Part) {
	flags.Var(&flagValue{
		kind:     "string",
		expected: "I/N with 1 <= I <= N",
		hint:     "parts count from 1: 1/4 is the first of four",
		set: func(text string) bool {
			number, count, _ := strings.Cut(text, "/")
			var numberErr, countErr error
			p.Number, numberErr = strconv.Atoi(number)
			p.Count, countErr = strconv.Atoi(count)
			areNumbers := numberErr == nil && countErr == nil
			return areNumbers && 1 <= p.Number && p.Number <= p.Count
		},
	}, "part", "which part, counted from 1: `I/N`")
}

// deviceFlag declares a flag that chooses where masks are regenerated. It sets devices to nil for
// the CPU, and to the result for CUDA, so that other flags can set the result's memory beforehand.
func deviceFlag(cmd *cobra.Command, devices **gpuverify.Devices, usage string) *gpuverify.Devices {
	cuda := new(gpuverify.Devices)
	cmd.Flags().Var(&flagValue{
		text: "cpu", kind: "string", expected: "cpu or cuda or cuda:0,2",
		hint: "cuda takes all NVIDIA GPUs; cuda:0,2 takes some, each listed once and numbered " +
			"from 0 as by nvidia-smi",
		set: func(text string) bool {
			*devices, cuda.Ordinals = nil, nil
			if text == "cpu" {
				return true
			}
			*devices = cuda
			list, listed := strings.CutPrefix(text, "cuda:")
			if !listed {
				return text == "cuda"
			}
			for number := range strings.SplitSeq(list, ",") {
				ordinal, err := strconv.ParseUint(number, 10, 16)
				if err != nil || slices.Contains(cuda.Ordinals, int(ordinal)) {
					return false
				}
				cuda.Ordinals = append(cuda.Ordinals, int(ordinal))
			}
			return true
		},
	}, "device", usage)
	completes(cmd, "device", "cpu", "cuda")
	return cuda
}

// memoryFlag declares a flag for a number of bytes, such as 500000, 1.5GB or 2GiB.
func memoryFlag(flags *pflag.FlagSet, size *int64, name, usage string) {
	flags.Var(&flagValue{
		kind: "string", expected: "a number of bytes",
		hint: "give it in bytes, or with a unit, such as 500MB or 2GiB",
		set: func(text string) bool {
			n, err := humanize.ParseBytes(text)
			*size = int64(n)
			return err == nil && 0 < n && n < 1<<62
		},
	}, name, usage)
}

// flagHint is the hint for a value that a flag refuses: the nearest that it takes, how to write it,
// or what it is for.
func flagHint(flag *pflag.Flag, found string) string {
	_, usage := pflag.UnquoteUsage(flag)
	hint := "--" + flag.Name + ": " + usage
	if value, ok := flag.Value.(*flagValue); ok {
		hint = fault.DidYouMean(found, value.words, cmp.Or(value.hint, hint))
	}
	return hint
}

// expectedOf describes the values of a flag.
func expectedOf(flag *pflag.Flag) string {
	if value, ok := flag.Value.(*flagValue); ok {
		return value.expected
	}
	switch flag.Value.Type() {
	case "bool":
		return "true or false"
	case "stringSlice", "stringArray":
		return "a list of texts, or one text"
	default:
		return "text"
	}
}
