package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/rebuild"
)

// A source that is replaced while a stage runs, and restored afterwards, ends the run: no version
// is made from it, and the next run builds everything again.
func TestRebuildSourcesChangeBetweenPlanAndStage(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 400, 20)
	genes := strings.Join(f.graph.Genes.IDs, "\n") + "\n"
	writeFiles(t, f.dir, map[string]string{
		"own/nodes/gene.tsv":                 "id\n" + genes,
		"own/edges/gene__physical__gene.tsv": "src\tdst\nY000\tY001\nY002\tY003\n",
		"genes.txt":                          strings.Join(f.graph.Genes.IDs[:9], "\n") + "\n",
		"down/genes.tsv":                     "id\n" + genes,
		"down/links.tsv":                     "a\tb\nY000\tY001\nY002\tY003\n",
		"source.yaml": `data: nowhere
genes: {file: "${data}/genes.tsv", column: id}
edges: [{file: "${data}/links.tsv", relation: link, from: a, to: b, undirected: false}]
`,
	})
	const links = "own/edges/gene__physical__gene.tsv"
	sets := read(t, filepath.Join(f.dir, "sets.tsv"))
	fromGraph := func(perturbations string) func(o *rebuildOptions) {
		return func(o *rebuildOptions) {
			o.build.Graph = filepath.Join(f.dir, "own")
			o.build.File = filepath.Join(f.dir, perturbations)
		}
	}
	for _, c := range []struct {
		name, stage string
		options     func(o *rebuildOptions)
		file        string // the source that changes
		text        string // content while the stage runs; "" means removed
		want        string
	}{
		{
			name:    "edge table",
			stage:   "survey",
			options: fromGraph("sets.tsv"),
			file:    links,
			text:    "src\tdst\nY000\tY001\nY002\tY004\n",
			want:    "input graph/edges/gene__physical__gene.tsv changed",
		},
		{
			name:    "edge table gone",
			stage:   "survey",
			options: fromGraph("sets.tsv"),
			file:    links,
			want:    "input graph/edges/gene__physical__gene.tsv is gone",
		},
		{
			name:    "edge table new",
			stage:   "survey",
			options: fromGraph("sets.tsv"),
			file:    "own/edges/gene__regulatory__gene.tsv",
			text:    "src\tdst\nY000\tY001\n",
			want:    "input graph/edges/gene__regulatory__gene.tsv is new",
		},
		{
			name:    "set",
			stage:   "survey",
			options: fromGraph("sets.tsv"),
			file:    "sets.tsv",
			text:    sets[:strings.LastIndex(sets, "s19")],
			want:    "input sets.tsv changed",
		},
		{
			name:  "gene list",
			stage: "survey",
			options: func(o *rebuildOptions) {
				fromGraph("")(o)
				o.build.File = "combinations:" + f.dir + "/genes.txt:2"
			},
			file: "genes.txt",
			text: "Y000\nY001\n",
			want: "input genes.txt changed",
		},
		{
			name:  "public source",
			stage: "ingest",
			options: func(o *rebuildOptions) {
				o.build.File = filepath.Join(f.dir, "sets.tsv")
				o.ingest = ingestSettings{
					Config:    filepath.Join(f.dir, "source.yaml"),
					overrides: []string{"data=" + f.dir + "/down"},
				}
			},
			file: "down/links.tsv",
			text: "a\tb\nY000\tY001\n",
			want: "/down/links.tsv changed",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(f.dir, c.file)
			before, noFile := os.ReadFile(path)
			restore := func() error {
				if noFile != nil {
					return os.Remove(path)
				}
				return os.WriteFile(path, before, 0o666)
			}
			e := newEnv(io.Discard, io.Discard)
			e.log = slog.New(slog.DiscardHandler)
			o := &rebuildOptions{
				root:     t.TempDir(),
				dataset:  "set",
				variants: []string{"indices", "full-masks"},
				method:   "edges",
				keep:     1,
			}
			o.build.ReactionRule = "all"
			c.options(o)
			run := func(wrap func(*rebuild.Stage)) error {
				if err := o.check(e); err != nil {
					t.Fatal(err)
				}
				chain, err := o.chain(e)
				if err != nil {
					t.Fatal(err)
				}
				for i := range chain.Stages {
					wrap(&chain.Stages[i])
				}
				if err := os.MkdirAll(chain.Dir, 0o777); err != nil {
					t.Fatal(err)
				}
				_, err = chain.Run(t.Context())
				return err
			}
			err := run(func(stage *rebuild.Stage) {
				if inner := stage.Run; stage.Name == c.stage {
					stage.Run = func(ctx context.Context, version string) ([]inputfile.Input, error) {
						change := func() error { return os.WriteFile(path, []byte(c.text), 0o666) }
						if c.text == "" {
							change = func() error { return os.Remove(path) }
						}
						if err := change(); err != nil {
							t.Error(err)
						}
						read, err := inner(ctx, version)
						if err := restore(); err != nil {
							t.Error(err)
						}
						return read, err
					}
				}
			})
			if fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), c.want) ||
				fault.HintOf(err) == "" {
				t.Errorf("got kind %d: %v, want %q", fault.KindOf(err), err, c.want)
			}
			_, versions, err := rebuild.Folders(filepath.Join(o.root, "set"))
			if err != nil || len(versions) > 0 {
				t.Errorf("got versions %v, %v", versions, err)
			}
			ran := 0
			if err := run(func(stage *rebuild.Stage) {
				if inner := stage.Run; stage.Name == c.stage {
					stage.Run = func(ctx context.Context, version string) ([]inputfile.Input, error) {
						ran++
						return inner(ctx, version)
					}
				}
			}); err != nil || ran != 1 {
				t.Errorf("afterwards: %v, the stage was run %d times, want 1", err, ran)
			}
		})
	}
}

// A version's record that never ends counts as missing: the rebuild makes the version again.
// Metrics that never end are not written, with a warning.
func TestRecordThatNeverEnds(t *testing.T) {
	t.Parallel()
	for _, device := range []string{"/dev/zero", "pipe"} {
		dir := t.TempDir()
		writeFiles(t, dir, sound)
		args := strings.Fields("rebuild --root r --dataset d --graph graph --perturbations " +
			"sets.tsv variants=[incidence] --metrics-file m")
		must(t, dir, args...)
		record := filepath.Join(dir, "r/d/current/version.json")
		err := os.Remove(record)
		if device == "pipe" {
			device = filepath.Join(dir, "pipe")
			err = errors.Join(err, syscall.Mkfifo(device, 0o644))
		}
		if err = errors.Join(err, os.Symlink(device, record)); err != nil {
			t.Fatal(err)
		}
		must(t, dir, args...)
		metrics := filepath.Join(dir, "m")
		if err := errors.Join(os.Remove(metrics), os.Symlink(device, metrics)); err != nil {
			t.Fatal(err)
		}
		if o := must(t, dir, args...); !strings.Contains(o.stderr, "WARN not recorded") {
			t.Errorf("got %s", o.stderr)
		}
	}
}
