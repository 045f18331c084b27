package source

import (
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// sgdColumns are the columns of SGD_features.tab, which has no header line, from SGD's
// SGD_features.README.
var sgdColumns = []string{
	"sgd_id", "feature_type", "qualifier", "feature_name", "standard_name", "aliases", "parent", "other_sgd_ids",
	"chromosome", "start", "stop", "strand", "position", "coordinate_version", "sequence_version", "description",
}

const (
	sgdID = iota
	sgdType
	_
	sgdSystematic
	sgdStandard
	sgdAliases
)

// feature is a row of SGD_features.tab.
type feature struct {
	id         string // such as S000000001
	kind       string // ORF, tRNA_gene, …
	systematic string // "" for part of a feature, such as a CDS
	standard   string // "" if it has none
	aliases    []string
	where      place
}

// place is a row of a table; its text, for messages, takes longer to make than the row to read.
type place struct {
	reader *table.Reader
	row    int64
}

func (p place) String() string { return p.reader.Where(p.row) }

// readFeatures calls visit for every row of a file SGD_features.tab, in order.
func readFeatures(files *inputfile.Files, path string, visit func(feature) error) error {
	reader, err := openTable(files, path, table.TextOptions{Delimiter: '\t', Columns: sgdColumns})
	if err != nil {
		return err
	}
	defer reader.Close()
	const hint = "use SGD_features.tab as SGD publishes it"
	rows := 0
	err = eachRow(reader, func(batch *table.Batch, i int) error {
		rows++
		f := feature{
			id:         string(batch.Text(sgdID, i)),
			kind:       string(batch.Text(sgdType, i)),
			systematic: string(batch.Text(sgdSystematic, i)),
			standard:   string(batch.Text(sgdStandard, i)),
			where:      place{reader, batch.First + int64(i)},
		}
		if f.kind == "" {
			return fault.New(fault.Input, hint, "read features %s: column 2 (feature type): found an empty field, expected a feature type", f.where)
		}
		if aliases := string(batch.Text(sgdAliases, i)); aliases != "" {
			f.aliases = strings.Split(aliases, "|")
		}
		return visit(f)
	})
	if rows == 0 && fault.KindOf(err) == fault.Input { // it is another table
		return fault.New(fault.Input, hint, "%w", err)
	}
	return err
}

// eachRow calls visit for the rows of a table in order, until the first error.
func eachRow(reader *table.Reader, visit func(batch *table.Batch, i int) error) error {
	for batch, err := range reader.Batches() {
		if err != nil {
			return err
		}
		for i := range batch.Len {
			if err := visit(batch, i); err != nil {
				return err
			}
		}
	}
	return nil
}
