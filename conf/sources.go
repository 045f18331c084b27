package conf

import (
	"embed"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"tcbuild/fault"
)

//go:embed sources/*.yaml
var sources embed.FS

// PublicSource is a file sources/NAME.yaml, which the program carries. It says how a public release
// is read, in a section named like the settings that may name the source: genes, aliases, edges or
// perturbations.
type PublicSource struct {
	Name     string   `yaml:"-"`
	About    string   `yaml:"about"`   // what it is, in a line
	Address  string   `yaml:"address"` // where it is downloaded from
	Licence  string   `yaml:"licence"`
	Example  string   `yaml:"example"` // the first lines of a file
	Sections []string `yaml:"-"`       // in the file's order
	Text     []byte   `yaml:"-"`       // the file
	root     *yaml.Node
}

// SourceName is the name of a public source, in a struct of settings. The source's section that the
// field's tag `section` names is decoded before the struct's own keys, which may change it.
type SourceName string

// Sources returns the public sources by name.
func Sources() []PublicSource {
	files, err := sources.ReadDir("sources")
	if err != nil {
		panic(err) // the embedded folder is always readable
	}
	all := make([]PublicSource, len(files))
	for i, file := range files {
		if all[i], err = readSource(strings.TrimSuffix(file.Name(), ".yaml")); err != nil {
			panic(err) // a test reads all of them
		}
	}
	return all
}

// SourceOf returns the public source with a name. Another name is a fault.Usage.
func SourceOf(name string) (PublicSource, error) {
	var names []string
	for _, source := range Sources() {
		if names = append(names, source.Name); source.Name == name {
			return source, nil
		}
	}
	return PublicSource{}, fault.New(fault.Usage,
		fault.DidYouMean(name, names, "'tcbuild ingest sources' lists them"),
		"found no public source %q", name)
}

func readSource(name string) (source PublicSource, err error) {
	path := "sources/" + name + ".yaml"
	source.Name = name
	if source.Text, err = sources.ReadFile(path); err != nil {
		return source, err
	}
	if source.root, err = parse(source.Text, path); err != nil {
		return source, err
	}
	if err := (&Settings{root: source.root}).Decode(&source); err != nil {
		return source, err
	}
	for _, key := range keysOf(source.root) {
		if !slices.Contains(Keys(&source), key) {
			source.Sections = append(source.Sections, key)
		}
	}
	return source, nil
}

// DecodeSource decodes a section of the public source with a name, as Settings.Decode does.
func DecodeSource(name, section string, value any) error {
	source, err := SourceOf(name)
	if err != nil {
		return err
	}
	node := child(source.root, section)
	if node == nil {
		return fault.New(fault.Usage, "'tcbuild ingest sources' lists them",
			"found public source %s, which has %s, expected one of %s", name,
			strings.Join(source.Sections, " and "), section)
	}
	return decode(node, reflect.ValueOf(value).Elem(), "")
}

// decodeSource decodes the source that a section of settings names into its struct.
func decodeSource(node *yaml.Node, v reflect.Value) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := child(node, strings.Split(field.Tag.Get("yaml"), ",")[0])
		if field.Type != reflect.TypeFor[SourceName]() || name == nil {
			continue
		}
		if err := DecodeSource(name.Value, field.Tag.Get("section"),
			v.Addr().Interface()); err != nil {
			return fault.New(fault.Usage, fault.HintOf(err), "read settings %s: %w", Where(name),
				err)
		}
	}
	return nil
}
