// Package croissant describes a dataset in Croissant, MLCommons' JSON-LD vocabulary for machine
// learning datasets (http://mlcommons.org/croissant/1.0), so that catalogues can find it, and tools
// can check its files and load its samples.
package croissant

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table/parquetfile"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// The files that Write adds to a dataset.
const (
	DescriptionName = "croissant.json"
	// the samples as a perturbation set; mlcroissant reads no Arrow files
	SamplesName = "samples.parquet"
)

// About is what only the dataset's owner knows; what is empty is left out.
type About struct {
	Name     string // default: that of the dataset's folder
	License  string // a URL or an SPDX identifier
	Citation string // BibTeX or plain text
	Date     string // of publication, as 2006-01-02
}

// Write adds the description to a dataset, and its samples in a format that Croissant's library can
// load, unless it has none. It replaces what an earlier call added; the same dataset and about give
// the same bytes.
func Write(ctx context.Context, dataset *store.Dataset, about About) error {
	if about.Name == "" {
		dir, err := filepath.Abs(dataset.Dir)
		if err != nil {
			return err
		}
		about.Name = filepath.Base(dir)
	}
	if err := checkEarlier(dataset.Dir); err != nil {
		return err
	}
	manifest, err := store.HashFile(dataset.Dir, "manifest.json")
	if err != nil {
		return err
	}
	files := append([]store.File{manifest}, dataset.Manifest.Files...)
	if dataset.Manifest.Samples > 0 {
		if err := writeSamples(ctx, dataset); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Join(dataset.Dir, SamplesName), err)
		}
		samples, err := store.HashFile(dataset.Dir, SamplesName)
		if err != nil {
			return err
		}
		files = append(files, samples)
	}
	return disk.WriteJSON(filepath.Join(dataset.Dir, DescriptionName),
		describe(dataset.Manifest, files, about))
}

// checkEarlier returns an error if Write would replace a file that no earlier call made.
func checkEarlier(dir string) error {
	for name, marker := range map[string]string{
		DescriptionName: formatKey, SamplesName: parquetfile.CreatedBy,
	} {
		path := filepath.Join(dir, name)
		if err := disk.CheckFile(path); err != nil {
			return err
		}
		file, size, err := disk.OpenRegular(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var end []byte // of Parquet, where its metadata are
		if err == nil {
			start := max(0, size-disk.MaxWhole)
			end, err = io.ReadAll(io.NewSectionReader(file, start, disk.MaxWhole))
			file.Close()
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		if !bytes.Contains(end, []byte(marker)) {
			return fault.New(fault.Usage, "move it elsewhere",
				"write %s: it exists, and 'tcbuild croissant' did not make it", path)
		}
	}
	return nil
}

// formatKey is a key that only descriptions by this package have.
const formatKey = "tcbuild:format"

// writeSamples writes the samples with the names of their deleted genes. A row group has the
// samples of a part of the sample table.
func writeSamples(ctx context.Context, dataset *store.Dataset) error {
	columns := dataset.Manifest.Columns()
	if err := checkNames(columns); err != nil {
		return err
	}
	genes, err := dataset.Names()
	if err != nil {
		return err
	}
	table, err := dataset.Samples()
	if err != nil {
		return err
	}
	file, err := disk.Create(filepath.Join(dataset.Dir, SamplesName))
	if err != nil {
		return err
	}
	err = samples.WriteParquet(file, columns, genes.Nodes(),
		func(yield func(*ingest.Samples) error) error {
			manifest := dataset.Manifest
			return table.ScanRange(0, manifest.Samples, manifest.SamplesPerPart,
				func(samples *ingest.Samples) error {
					if ctx.Err() != nil {
						return context.Cause(ctx)
					}
					return yield(samples)
				})
		})
	if err != nil {
		_ = file.Discard()
		return err
	}
	return file.Publish()
}

// checkNames refuses names that columns of the samples cannot have.
func checkNames(columns ingest.Columns) error {
	for _, name := range slices.Concat(columns.PhenotypeNames(), columns.AttributeNames()) {
		if name == "" || name == "genes" {
			return fault.New(fault.Input,
				"rename it in the perturbation set, and build the dataset again",
				"found a phenotype or attribute named %q, expected a name that is neither empty "+
					"nor the column of the deleted genes", name)
		}
	}
	return nil
}

// object is a JSON object; encoding/json writes its keys in order.
type object map[string]any

func describe(manifest *store.Manifest, files []store.File, about About) object {
	description := object{
		"@context":            json.RawMessage(vocabulary),
		"@type":               "sc:Dataset",
		"conformsTo":          "http://mlcommons.org/croissant/1.0",
		"name":                about.Name,
		"description":         manifest.Description(),
		"version":             "1.0.0",
		"isLiveDataset":       false,
		"distribution":        distribution(files),
		"recordSet":           recordSets(manifest),
		formatKey:             manifest.FormatVersion,
		"tcbuild:program":     manifest.Program,
		"tcbuild:variant":     manifest.Variant,
		"tcbuild:codec":       manifest.Codec,
		"tcbuild:options":     manifest.Options,
		"tcbuild:inputs":      manifest.Inputs,
		"tcbuild:graphDigest": manifest.GraphDigest,
		"identifier":          "sha256:" + manifest.LogicalContent,
	}
	for key, value := range map[string]string{
		"license": about.License, "citeAs": about.Citation, "datePublished": about.Date,
	} {
		if value != "" {
			description[key] = value
		}
	}
	return description
}

// vocabulary is the context that Croissant 1.0 prescribes, and tcbuild's own words.
//
//go:embed context.json
var vocabulary []byte

func distribution(files []store.File) []object {
	objects := []object{}
	for _, file := range files {
		objects = append(objects, object{
			"@type": "cr:FileObject", "@id": (&url.URL{Path: file.Name}).EscapedPath(),
			"name": file.Name, "contentUrl": file.Name,
			"contentSize": fmt.Sprintf("%d B", file.Bytes), "sha256": file.SHA256,
			"encodingFormat": cmp.Or(encodingFormats[filepath.Ext(file.Name)],
				"application/octet-stream"),
		})
	}
	return objects
}

// encodingFormats are the media types of data files, by ending.
var encodingFormats = map[string]string{
	".arrow": "application/vnd.apache.arrow.file", ".mdb": "application/x-lmdb",
	".parquet": "application/x-parquet", ".json": "application/json",
}

// recordSets are the masks, with their values in the description itself, as a tool that knows only
// Croissant cannot read them from LMDB, and the samples.
func recordSets(m *store.Manifest) []object {
	var masks []object
	for _, mask := range m.Masks {
		masks = append(masks, object{"masks/name": mask.Name, "masks/size": mask.Size})
	}
	set := recordSet("masks", "Node and edge types with a mask, and the positions of each",
		field("masks", "name", "sc:Text", "node type or edge type"),
		field("masks", "size", "sc:Integer", "positions of the mask"))
	set["data"] = masks
	if m.Samples == 0 {
		return []object{set}
	}
	genes := sampleField("genes", "sc:Text", "deleted genes, as ids of the graph's gene table")
	genes["repeated"] = true
	fields := []object{sampleField("sample_id", "sc:Text", "name of the sample"), genes}
	for _, p := range m.Phenotypes {
		description := "phenotype"
		if p.Description != "" {
			description += ": " + p.Description
		}
		if p.Unit != "" {
			description += "; unit: " + p.Unit
		}
		if p.StatisticOf != "" {
			description += "; a statistic of " + p.StatisticOf
		}
		fields = append(fields, sampleField(p.Name, "sc:Float", description))
	}
	for _, a := range m.Attributes {
		dataType := "sc:Text"
		if a.Type == ingest.NumberAttribute {
			dataType = "sc:Float"
		}
		fields = append(fields, sampleField(a.Name, dataType, "attribute"))
	}
	return []object{set, recordSet("samples",
		"Ids, deleted genes, phenotypes and attributes; a missing value is null", fields...)}
}

// sampleField is a field of the samples, which has a column.
func sampleField(name, dataType, description string) object {
	f := field("samples", name, dataType, description)
	f["source"] = object{"fileObject": object{"@id": SamplesName},
		"extract": object{"column": name}}
	return f
}

func field(set, name, dataType, description string) object {
	return object{"@type": "cr:Field", "@id": set + "/" + escaped(name),
		"name": name, "description": description, "dataType": dataType}
}

func recordSet(name, description string, fields ...object) object {
	return object{"@type": "cr:RecordSet", "@id": name, "name": name, "description": description,
		"field": fields}
}

// escaped is a name as a part of an @id, which is a URL: in it, . and .. would mean something else.
func escaped(name string) string {
	if strings.Trim(name, ".") == "" {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return url.PathEscape(name)
}
