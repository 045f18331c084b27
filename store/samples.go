package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/disk"
	"tcbuild/store/internal/sampletable"
)

const samplesName = "samples" // folder of the sample table

// NeedsSamples reports whether a build of the dataset out has to write the sample table: neither a
// finished dataset nor an unfinished build that may be resumed has it.
func NeedsSamples(out string, resume Resume) bool {
	if _, err := os.Lstat(out); err == nil {
		return false
	}
	_, err := os.Stat(filepath.Join(filepath.Clean(out)+".building", samplesName))
	return err != nil || resume == ResumeNever
}

// SampleWriter writes the sample table of a dataset beside its folder. It must be discarded, which
// does nothing after AdoptSamples.
type SampleWriter struct {
	*sampletable.Writer
	temporary *disk.Temporary
}

// NewSampleWriter starts the sample table of the dataset out.
func NewSampleWriter(out string, columns ingest.Columns) (*SampleWriter, error) {
	out = filepath.Clean(out)
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return nil, fmt.Errorf("write dataset %s: %w", out, err)
	}
	temporary, err := disk.NewTemporary(out)
	if err != nil {
		return nil, err
	}
	writer, err := sampletable.Create(temporary.Path, columns)
	if err != nil {
		return nil, errors.Join(err, temporary.Discard())
	}
	return &SampleWriter{writer, temporary}, nil
}

// NewSampleDigester makes a SampleWriter that writes nothing and makes only the digests of the
// samples.
func NewSampleDigester(columns ingest.Columns) *SampleWriter {
	writer, _ := sampletable.Create("", columns) // fails only to make a folder
	return &SampleWriter{Writer: writer}
}

// Discard removes what was written.
func (w *SampleWriter) Discard() error {
	_ = w.Wait() // Close has returned its error
	return w.temporary.Discard()
}

// HasSamples reports whether the dataset under construction has its sample table.
func (b *Building) HasSamples() bool {
	_, err := os.Stat(b.path(samplesName))
	return err == nil
}

// AdoptSamples moves a complete sample table into the dataset, unless an earlier build or another
// shard's process did: it is the same.
func (b *Building) AdoptSamples(w *SampleWriter) error {
	return b.adopt(w.temporary, samplesName)
}

// ShareInputs gives the dataset under construction the graph and the sample table of another one of
// the same input, by hard links where there are any: they never change. It does nothing about what
// is there already.
func (b *Building) ShareInputs(base *Dataset) error {
	for _, folder := range []string{graphName, samplesName} {
		err := b.put(folder, func(path string) error { return base.share(folder, path) })
		if err != nil {
			return fmt.Errorf("share %s of dataset %s: %w", folder, base.Dir, err)
		}
	}
	return nil
}

// share links or copies the files of a folder of the dataset.
func (d *Dataset) share(folder, to string) error {
	for _, file := range d.Manifest.Files {
		name, within := strings.CutPrefix(file.Name, folder+"/")
		if !within {
			continue
		}
		from, to := filepath.Join(d.Dir, filepath.FromSlash(file.Name)),
			filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := disk.Link(from, to); err != nil {
			return err
		}
	}
	return nil
}

// Samples opens the sample table of the dataset under construction.
func (b *Building) Samples() (*sampletable.Table, error) {
	checksums, err := os.ReadFile(b.path(samplesName, sampletable.ChecksumsName))
	if err != nil {
		return nil, fmt.Errorf("write dataset %s: %w", b.out, err)
	}
	return sampletable.Open(samplesFolder{&Dataset{Dir: b.dir, Manifest: b.Manifest}},
		checksums, b.Manifest.Columns(), b.Manifest.Samples, b.Manifest.LogicalContent)
}

// Samples opens the sample table. Its checksums are compared with the manifest first, and each
// block of it with them when it is read: damage is a fault.Damaged.
func (d *Dataset) Samples() (*sampletable.Table, error) { return d.samples() }

func (d *Dataset) openSamples() (*sampletable.Table, error) {
	if d.Manifest.Samples == 0 {
		return sampletable.Open(samplesFolder{d}, nil, d.Manifest.Columns(), 0, "")
	}
	checksums, err := d.readChecked(samplesName + "/" + sampletable.ChecksumsName)
	if err != nil {
		return nil, err
	}
	return sampletable.Open(samplesFolder{d}, checksums, d.Manifest.Columns(), d.Manifest.Samples,
		d.Manifest.LogicalContent)
}

// EachSample reads the samples in order. A row lives until the next.
func (d *Dataset) EachSample(ctx context.Context,
	see func(number int, row *ingest.Sample) error) error {
	table, err := d.Samples()
	if err != nil {
		return err
	}
	reader := table.NewReader()
	defer reader.Close()
	for number := range d.Manifest.Samples {
		if number%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row, err := reader.Row(number)
		if err != nil {
			return err
		}
		if err := see(number, row); err != nil {
			return err
		}
	}
	return nil
}

// samplesFolder has the files of a dataset's sample table.
type samplesFolder struct{ dataset *Dataset }

func (f samplesFolder) Open(name string) (*os.File, int64, error) {
	return f.dataset.open(samplesName + "/" + name)
}

func (f samplesFolder) Damaged(name string, err error) error {
	return f.dataset.damaged(samplesName+"/"+name, "%w", err)
}

// LogicalContent is a SHA-256, in hexadecimal, over everything that determines a dataset's masks
// and labels. It is the same for every variant, codec and number of shards. Strings and lists are
// preceded by their length as u32, which is little-endian:
//
//	"tcbuild logical content 3" | structure digest | reaction rule
//	phenotype names | attribute names and types
//	and for each file that the sample table has: the SHA-256 of its samples (sampletable.Digest)
//
// So processes can digest the samples of different files, and their number does not matter.
//
// The masks are a function of graph, rule and genotype; `tcbuild verify` proves that the stored
// masks are its values.
func LogicalContent(structureDigest string, rule incidence.ReactionRule, columns ingest.Columns,
	files [][sha256.Size]byte) string {
	var content []byte
	count := func(n int) { content = binary.LittleEndian.AppendUint32(content, uint32(n)) }
	text := func(text string) {
		count(len(text))
		content = append(content, text...)
	}
	text("tcbuild logical content 3")
	text(structureDigest)
	text(string(rule))
	count(len(columns.Phenotypes))
	for _, phenotype := range columns.Phenotypes {
		text(phenotype.Name)
	}
	count(len(columns.Attributes))
	for _, attribute := range columns.Attributes {
		text(attribute.Name)
		text(string(attribute.Type))
	}
	for _, file := range files {
		content = append(content, file[:]...)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// samplesPerPart is how many samples a file of the sample table has; the last one has the rest.
func (m *Manifest) samplesPerPart() int { return sampletable.LayoutOf(m.Columns()).PartSamples }

// Parts are the numbers of the files of the sample table that begin with one of the samples first
// to end-1: from the first number to the one before the second.
func (m *Manifest) Parts(first, end int) (from, to int) {
	size := m.samplesPerPart()
	return (first + size - 1) / size, (end + size - 1) / size
}

// DigestPart digests the samples in a file of the sample table, for LogicalContent.
func (d *Dataset) DigestPart(ctx context.Context, part int) (sum [sha256.Size]byte, err error) {
	table, err := d.Samples()
	if err != nil {
		return sum, err
	}
	digest, size := sampletable.NewDigest(d.Manifest.Columns()), d.Manifest.samplesPerPart()
	err = table.ScanRange(part*size, min((part+1)*size, d.Manifest.Samples), 4096,
		func(samples *ingest.Samples) error {
			digest.Add(samples, 0, samples.Len())
			return context.Cause(ctx)
		})
	return digest.Sum(), err
}

// Identify sets the manifest's identity, a SHA-256 of what makes this dataset differ from any
// other: variant, codec and logical content. All samples' checksums are bound to it, so that a
// shard of another dataset, or a value in the wrong place, is detected.
func (m *Manifest) Identify() {
	sum := sha256.Sum256(marshal(struct {
		FormatVersion  int
		Variant        Variant
		Codec          string
		LogicalContent string
		// not used since the logical content is always known; their zero values are in identities
		GraphDigest   string
		Options       Options
		Columns       ingest.Columns
		Perturbations []ingest.Input
	}{FormatVersion: m.FormatVersion, Variant: m.Variant, Codec: m.Codec,
		LogicalContent: m.LogicalContent}))
	m.Identity = hex.EncodeToString(sum[:])
}

// Seed is the seed of sample 0's checksums: the first 16 digits of the identity as a number, or 0
// without an identity.
func (m *Manifest) Seed() encode.Seed {
	seed, _ := strconv.ParseUint(m.Identity[:min(16, len(m.Identity))], 16, 64)
	return encode.Seed(seed)
}
