package rebuild

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
)

// size is what the memory of jobs depends on.
type size struct {
	positions int // of the mask space, about: rows of the graph's tables
	samples   int
	columns   int // phenotypes and attributes
}

// unknownPositions is taken for the positions of a graph that the chain makes itself: four times
// the yeast graph's figures.
const unknownPositions = 10_000_000

// inputSize reads the input's tables to find their size. What is wrong with them the first job says.
func (r *Rebuild) inputSize() (s size) {
	for _, stage := range r.Stages {
		for _, source := range stage.Sources {
			if strings.HasPrefix(source.Name, graphSource) {
				rows, _ := tableSize(source.Path)
				s.positions += rows
			}
		}
	}
	if s.positions == 0 {
		s.positions = unknownPositions
	}
	set, err := samples.Parse(r.Build.Perturbations)
	switch {
	case r.Build.Perturbations == "":
		s.samples, _ = strconv.Atoi(r.Input.Options["samples"])
	case err != nil || set.Recipe != "": // computed, and not searched for repeated ids or genotypes
	case table.IsTable(r.Build.Perturbations):
		s.samples, s.columns = tableSize(r.Build.Perturbations)
	default:
		s.samples = storeSamples(set.Files)
	}
	return s
}

// tableSize is the number of rows and columns of a table, as far as it can be read.
func tableSize(path string) (rows, columns int) {
	r, err := table.Open(path)
	if err != nil {
		return 0, 0
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if err != nil { // io.EOF, at best
			return rows, len(r.Columns())
		}
		rows += b.Len
	}
}

// storeSamples is at least the number of samples in a torchcell store: a record has 200 bytes and
// more.
func storeSamples(files []string) int {
	bytes := int64(0)
	for _, path := range files {
		if info, err := os.Stat(path); err == nil {
			bytes += info.Size()
		}
	}
	return int(bytes / 200)
}

// surveyCores is how many cores the incidence job asks for, where nodes have them: all tasks wait for
// it.
const surveyCores = 4

// AskFor sets the cores and the memory that jobs ask for. Memory is nil if SLURM does not know the
// memory of its nodes, and so refuses a job that asks for some. Otherwise it is twice what was
// measured, in MB:
//
//	incidence  75 + 27 per million positions + 70 per million samples + 20 per core + 25 per 1,000 columns
//	shards     25 + 27 per million positions + 5 per core
//	verify     30 + 45 per million positions + 16 per core, 2,000 on a GPU
//	finalize   25 + 27 per million positions
//
// and at least 256. A job that makes its input asks for 2,000 and more.
func (r *Rebuild) AskFor(ctx context.Context, order *Order) {
	order.Cores, order.Memory = surveyCores, make(map[string]int)
	unknown := false // the nodes' memory
	nodes, _ := command(ctx, order.Clusters, "", "sinfo", "--noheader", "--format=%c %m")
	for line := range strings.Lines(nodes) {
		var cores, memory int // of each node that the line is for, at least
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, "+", ""), "%d %d", &cores, &memory); err != nil {
			continue // the name of a cluster
		}
		order.Cores = min(order.Cores, cores)
		unknown = unknown || memory == 1 // SLURM's default
	}
	if unknown {
		order.Memory = nil
		return
	}
	s := r.inputSize()
	positions, samples := float64(s.positions)/1e6, float64(s.samples)/1e6
	for _, label := range order.Jobs {
		cores := float64(cpusPerTask(order.given(label)))
		need := 25 + 27*positions
		switch label {
		case JobIncidence:
			need += 50 + 70*samples + 20*cores + float64(s.columns)/40
			if r.Input.Stage != "" {
				need = max(need, 1000)
			}
		case JobShards:
			need += 5 * cores
		case JobVerify:
			need += 5 + 18*positions + 16*cores
			if r.Verify.Devices != nil {
				need += 2000
			}
		}
		order.Memory[label] = (max(int(2*need), 256) + 63) / 64 * 64
	}
}

// cpusPerTask is what options of sbatch say; 1 if they do not.
func cpusPerTask(options []string) int {
	cores := 1
	for i, option := range options {
		text, long := strings.CutPrefix(option, "--cpus-per-task=")
		if short, ok := strings.CutPrefix(option, "-c"); !long && ok {
			text = strings.TrimSpace(short)
			if text == "" && i+1 < len(options) {
				text = options[i+1]
			}
		}
		if n, err := strconv.Atoi(text); err == nil {
			cores = n
		}
	}
	return cores
}
