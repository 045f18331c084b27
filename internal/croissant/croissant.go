// Package croissant describes a dataset in Croissant, MLCommons' JSON-LD vocabulary for machine
// learning datasets (http://mlcommons.org/croissant/1.0), so that catalogues can find it and tools
// can check its files.
package croissant

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"tcbuild/store"
)

// Describe returns the Croissant description of the dataset with that manifest, as indented JSON
// with a final newline. folder is the dataset's folder: its base name becomes the dataset's name.
// Each data file is listed with its size and SHA-256; the masks and phenotypes are listed by name.
// No file is read, and the same manifest and name give the same bytes.
func Describe(manifest *store.Manifest, folder string) ([]byte, error) {
	name := filepath.Base(filepath.Clean(folder))
	description := object{
		"@context":            context(),
		"@type":               "sc:Dataset",
		"conformsTo":          "http://mlcommons.org/croissant/1.0",
		"name":                name,
		"description":         manifest.Description(),
		"version":             "1.0.0",
		"isLiveDataset":       false,
		"distribution":        distribution(manifest),
		"recordSet":           recordSets(manifest),
		"tcbuild:format":      manifest.FormatVersion,
		"tcbuild:program":     manifest.Program,
		"tcbuild:variant":     manifest.Variant,
		"tcbuild:codec":       manifest.Codec,
		"tcbuild:options":     manifest.Options,
		"tcbuild:inputs":      manifest.Inputs,
		"tcbuild:graphDigest": manifest.GraphDigest,
		"identifier":          "sha256:" + manifest.LogicalContent,
	}
	text, err := json.MarshalIndent(description, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("describe dataset %s: %w", folder, err)
	}
	return append(text, '\n'), nil
}

// object is a JSON object; encoding/json writes its keys in order.
type object map[string]any

// context is the vocabulary that Croissant 1.0 prescribes, and tcbuild's own.
func context() object {
	return object{
		"@language": "en", "@vocab": "https://schema.org/", "equivalentProperty": "cr:equivalentProperty", "samplingRate": "cr:samplingRate",
		"sc": "https://schema.org/", "cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/",
		"dct": "http://purl.org/dc/terms/", "tcbuild": "urn:tcbuild:",
		"citeAs": "cr:citeAs", "column": "cr:column", "conformsTo": "dct:conformsTo",
		"data":           object{"@id": "cr:data", "@type": "@json"},
		"dataBiases":     "cr:dataBiases",
		"dataType":       object{"@id": "cr:dataType", "@type": "@vocab"},
		"dataCollection": "cr:dataCollection",
		"examples":       object{"@id": "cr:examples", "@type": "@json"},
		"extract":        "cr:extract", "field": "cr:field", "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty",
		"fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset",
		"jsonPath": "cr:jsonPath", "key": "cr:key", "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path",
		"personalSensitiveInformation": "cr:personalSensitiveInformation", "recordSet": "cr:recordSet", "references": "cr:references",
		"regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace", "separator": "cr:separator", "source": "cr:source",
		"subField": "cr:subField", "transform": "cr:transform",
	}
}

func distribution(m *store.Manifest) []object {
	files := []object{}
	for _, file := range m.Files {
		files = append(files, object{
			"@type": "cr:FileObject", "@id": file.Name, "name": file.Name, "contentUrl": file.Name,
			"contentSize": fmt.Sprintf("%d B", file.Bytes), "encodingFormat": encodingFormat(file.Name), "sha256": file.SHA256,
		})
	}
	return files
}

func encodingFormat(name string) string {
	switch {
	case strings.HasSuffix(name, ".arrow"):
		return "application/vnd.apache.arrow.file"
	case strings.HasSuffix(name, ".mdb"):
		return "application/x-lmdb"
	}
	return "application/octet-stream"
}

// recordSets are the masks and the phenotypes, with their values in the description itself: a tool
// that knows only Croissant cannot read samples from LMDB.
func recordSets(m *store.Manifest) []object {
	masks, phenotypes := []object{}, []object{}
	for _, mask := range m.Masks {
		masks = append(masks, object{"masks/name": mask.Name, "masks/size": mask.Size})
	}
	for _, phenotype := range m.Phenotypes {
		phenotypes = append(phenotypes, object{"phenotypes/name": phenotype.Name})
	}
	sets := []object{recordSet("masks", "Node and edge types with a mask, and the positions of each", masks,
		field{"name", "sc:Text"}, field{"size", "sc:Integer"})}
	if len(phenotypes) > 0 {
		sets = append(sets, recordSet("phenotypes", "Measured numbers of a sample, float64", phenotypes, field{"name", "sc:Text"}))
	}
	return sets
}

type field struct{ name, dataType string }

func recordSet(name, description string, data []object, fields ...field) object {
	var described []object
	for _, f := range fields {
		described = append(described, object{"@type": "cr:Field", "@id": name + "/" + f.name,
			"name": name + "/" + f.name, "dataType": f.dataType})
	}
	return object{"@type": "cr:RecordSet", "@id": name, "name": name, "description": description, "field": described, "data": data}
}
