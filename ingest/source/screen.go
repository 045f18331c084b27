package source

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// screen is a table of strains, or a matrix, read as samples. Every Scan reads the file again, in
// memory that grows with the number of different strains, of sample ids (about 20 bytes each), and
// of pairs in a matrix of genes x genes.
type screen struct {
	*samples.Table // of the file's layout
	file           *inputfile.File
	spec           opener
	text           table.TextOptions
	genes          *names.Resolver
	columns        ingest.Columns
	filter         *where.Filter                 // nil: all samples are kept
	reader         func(*screenReader) rowReader // makes the rowReader of one Scan
	account        ingest.Account                // of the latest pass
}

// rowReader turns row i of a batch into samples, or counts why it does not.
type rowReader func(batch *table.Batch, i int) error

func (s *screen) Columns() ingest.Columns { return s.columns }

func (s *screen) Account() *ingest.Account { return &s.account }

func (s *screen) DroppedNames() []byte {
	reader := s.spec.alleleReader(s.genes)
	return s.account.DroppedNames(reader.explainDropped)
}

// Batches reads the samples. A table without any sample is an error.
func (s *screen) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		if err := s.scan(ctx, account, yield); err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

var errStopped = errors.New("the loop over the samples has ended")

func (s *screen) scan(
	ctx context.Context, account *ingest.Account, yield func(*ingest.Samples, error) bool,
) error {
	in, err := table.OpenFile(s.file, s.text)
	if err != nil {
		return err
	}
	defer in.Close()
	s.account = ingest.Account{Made: "samples", File: s.spec.File}
	defer func() { account.Merge(&s.account) }()
	r := &screenReader{screen: s, account: &s.account}
	r.Batcher = ingest.NewBatcher(s.columns, yield)
	read := s.reader(r)
	err = in.Each(func(batch *table.Batch, i int) error {
		err := cmp.Or(read(batch, i), context.Cause(ctx))
		if err == nil || err == errStopped {
			return err
		}
		return fault.New(fault.KindOf(err), fault.HintOf(err), "read perturbations %s: %w",
			in.Where(batch.First+int64(i)), err)
	})
	if err == nil || fault.KindOf(err) == fault.Input { // an earlier row may have an id twice
		err = cmp.Or(r.ids.Check(), err)
	}
	if err != nil {
		return err
	}
	if r.end != nil {
		if err := r.end(); err != nil {
			return fault.New(fault.KindOf(err), fault.HintOf(err),
				"read perturbations %s: %w", s.spec.File, err)
		}
	}
	if err := check(&s.account, r.emptyHint(), s.genes, *s.spec.MaxDropped); err != nil {
		return err
	}
	if !r.Flush() {
		return errStopped
	}
	return nil
}

// openScreen opens the file, and calls layOut to find out how to read it.
func (s opener) openScreen(known *names.Resolver, text table.TextOptions, layOut func(*screen) error) (perturbations, error) {
	file, err := inputfile.Open(s.File)
	if err != nil {
		return nil, err
	}
	screen := &screen{file: file, spec: s, text: text, genes: known}
	err = layOut(screen)
	if err == nil && s.Where != "" {
		screen.filter, err = where.Compile(s.Where, screen.columns, known)
		screen.columns = screen.columns.Kept()
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return screen, nil
}

// screenReader is one Scan of a screen. Every row becomes a sample, or counts as dropped for one
// reason.
type screenReader struct {
	ids *samples.SampleIDs // nil: not checked
	*screen
	*ingest.Batcher
	end    func() error  // checks the table after its last row; may be nil
	sample ingest.Sample // of the current row, or cell

	account *ingest.Account

	// of the current row; they count if it becomes a sample
	row struct{ unknown, marked int }
}

// genotype gives the sample the genes that the loci of a row delete. ok is false if the row is
// dropped, and counted.
func (r *screenReader) genotype(loci []locus) (ok bool, err error) {
	genes := r.sample.Genes[:0]
	r.row.unknown, r.row.marked = 0, 0
	for _, l := range loci {
		switch {
		case l.several != nil:
			return false, r.dropSeveral(l)
		case l.control:
			r.row.marked = 1
		case l.Meaning != names.Gene && r.spec.UnknownGenes != ingest.DropGene:
			return false, r.lost(l)
		case !slices.Contains(r.spec.Alleles, l.kind):
			r.account.Add(ingest.OtherAllele, string(l.kind), 1)
			return false, nil
		case l.Meaning != names.Gene:
			if err := names.Unexpected([]byte(l.name)); err != nil {
				return false, err
			}
			r.account.AddName(l.name, 1)
			r.row.unknown++
		default:
			genes = append(genes, l.Gene)
		}
	}
	if a, b := synonyms(loci); a != nil {
		if r.spec.Synonyms != ingest.DropSynonyms {
			return false, names.TwoNames(a.name, b.name, r.screen.genes.ID(a.Answer))
		}
		r.account.Add(ingest.SynonymNames, "", 1)
		return false, nil
	}
	if r.row.unknown > 0 && len(genes) == 0 {
		r.account.Add(ingest.NoGeneLeft, "", 1)
		return false, nil
	}
	slices.Sort(genes)
	if r.sample.Genes = slices.Compact(genes); len(r.sample.Genes) < len(genes) {
		r.account.Add(ingest.SelfPair, "", 1)
		return false, nil
	}
	return true, nil
}

// synonyms returns two loci of one gene by different names.
func synonyms(loci []locus) (a, b *locus) {
	for i := range loci {
		for k := range loci[:i] {
			a, b := &loci[k], &loci[i]
			if a.Meaning == names.Gene && b.Meaning == names.Gene && a.Gene == b.Gene && !a.control && !strings.EqualFold(a.name, b.name) {
				return a, b
			}
		}
	}
	return nil, nil
}

const severalHint = "name each gene in a column of its own; to read several from one, omit --source and strains, and pass --genes-columns COLUMN 'gene_delimiter=CHARACTER'"

// dropSeveral counts a row with a name that names several genes, such as KLRC4-KLRK1, or returns an
// error for it. A sample is never kept without that name: of two genes, one would be left.
func (r *screenReader) dropSeveral(l locus) error {
	if r.spec.UnknownGenes == ingest.DropSample {
		if err := names.Unexpected([]byte(l.name)); err != nil {
			return err
		}
		if l.Meaning != names.Gene {
			r.account.AddName(l.name, 1)
		}
		r.account.Add(ingest.SeveralGenes, "", 1)
		return nil
	}
	quoted := make([]string, len(l.several))
	for i, name := range l.several {
		quoted[i] = fault.Quote(name)
	}
	return fault.New(fault.Input, severalHint+"; to drop such samples, pass --unknown-genes drop-sample",
		"found %s, which names %d genes, %s, expected the name of one gene", fault.Quote(l.name), len(quoted), strings.Join(quoted, " and "))
}

// lost counts a row with an unknown gene, or returns an error for it.
func (r *screenReader) lost(l locus) error {
	if err := names.Unexpected([]byte(l.name)); err != nil {
		return err
	}
	if r.spec.UnknownGenes == ingest.RefuseUnknownGenes {
		reader := r.spec.alleleReader(r.screen.genes)
		err := r.screen.genes.Explain([]byte(reader.spelling(l.name)))
		hint := fault.HintOf(err)
		yeast := alleleReader{genes: r.screen.genes, yeast: true}
		allele := yeast.ofName(l.name)
		if !r.spec.YeastAlleles && allele.Meaning == names.Gene &&
			systematicName.MatchString(r.screen.genes.ID(allele.Answer)) {
			hint = "to read names of yeast's strains and alleles, set yeast_alleles=true"
		}
		return fault.New(fault.Input, hint+dropHint, "%w", err)
	}
	r.account.AddName(l.name, 1)
	if l.Meaning == names.Ambiguous {
		r.account.Add(ingest.AmbiguousName, "", 1)
	} else {
		r.account.Add(ingest.UnknownGene, "", 1)
	}
	return nil
}

const dropHint = "; to drop such samples, pass --unknown-genes drop-sample"

// add passes on the sample, unless it has no phenotypes.
func (r *screenReader) add() error {
	sample := &r.sample
	measured := func(value float64) bool { return !math.IsNaN(value) }
	if len(sample.Phenotypes) > 0 && !r.spec.KeepUnmeasured && !slices.ContainsFunc(sample.Phenotypes, measured) {
		r.account.Add(ingest.WithoutPhenotype, "", 1)
		return nil
	}
	if len(sample.Genes) == 0 && !r.spec.AllowWildtype {
		return samples.ErrNoGene
	}
	if err := samples.CheckID(sample.ID); err != nil {
		return err
	}
	if r.filter != nil && !r.filter.Keeps(sample) {
		r.account.Add(ingest.WhereNotTrue, "", 1)
		return nil
	}
	if len(sample.Genes) == 0 {
		r.account.Add(ingest.Wildtype, "", 1)
	}
	r.account.Add(ingest.UnknownLeftOut, "", r.row.unknown)
	r.account.Add(ingest.MarkedSample, "", r.row.marked)
	r.account.Kept++
	attributes := sample.Attributes[:len(r.columns.Attributes)]
	if !r.Batcher.Add(sample.ID, sample.Genes, sample.Phenotypes, attributes) {
		return errStopped
	}
	return nil
}

// emptyHint is the hint for a table without any sample.
func (r *screenReader) emptyHint() string {
	switch {
	case r.account.Sum(ingest.WhereNotTrue) > 0:
		return where.NoneKeptHint
	case r.account.Sum(ingest.WithoutPhenotype) > 0:
		return "name the columns with phenotypes, or set keep_unmeasured=true"
	case r.account.Sum(ingest.OtherAllele) > 0:
		return "check the columns of strains and alleles: no row has only deletions"
	case 2*r.account.Sum(ingest.SeveralGenes) > r.account.LostToNames():
		return severalHint
	}
	return "check that it is the right file"
}
