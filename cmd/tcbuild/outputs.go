package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/pflag"

	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
	"tcbuild/internal/variants"
)

// output is the value of a flag that names what a command writes. checkOutputs applies one rule to
// all of them before a command runs.
type output struct {
	path *string
	role role
	// ours reports whether a file with this beginning was written for this output
	ours func(begin []byte) bool
	dash bool // - is stdout
}

// role says what a command may find at the path of an output.
type role int

const (
	newOutput     role = iota // nothing
	datasetOutput             // nothing, or a dataset: store.Published says whether it is the same
	folderOutput              // anything: the folder in which rebuild keeps its datasets
	replaced                  // an earlier file of this output, to replace
)

// isUnused reports whether the command writes no file for the flag.
func (o *output) isUnused() bool { return *o.path == "" || o.dash && *o.path == "-" }

func (o *output) String() string        { return *o.path }
func (o *output) Type() string          { return "string" }
func (o *output) Set(path string) error { *o.path = path; return nil }

// outFlag declares a flag for a file or folder that a command creates.
func outFlag(flags *pflag.FlagSet, path *string, name string, role role, usage string) {
	flags.Var(&output{path: path, role: role}, name, usage)
}

// fileFlag declares a flag for a file that a command writes. It replaces an earlier file, which
// ours recognizes by its beginning.
func fileFlag(flags *pflag.FlagSet, path *string, name string, ours func([]byte) bool,
	usage string) {
	flags.Var(&output{path: path, role: replaced, ours: ours}, name, usage)
}

// beginsWith recognizes an output by the text that it begins with.
func beginsWith(text string) func([]byte) bool {
	return func(begin []byte) bool { return bytes.HasPrefix(begin, []byte(text)) }
}

// jsonBegin returns the beginning of a JSON file whose first field says what wrote it.
func jsonBegin(by string) string { return fmt.Sprintf("{\n  \"tcbuild\": %q,\n", by) }

// markedJSON marshals a struct to JSON that begins with jsonBegin.
func markedJSON(value any, by string) ([]byte, error) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(jsonBegin(by)),
		append(bytes.TrimPrefix(text, []byte("{\n")), '\n')...), nil
}

// checkOutputs refuses outputs that would destroy something, see check. From here on an output's
// path is the one that disk.Resolve found: what was checked is what is written.
func checkOutputs(flags *pflag.FlagSet) (err error) {
	var outputs []*output
	flags.VisitAll(func(flag *pflag.Flag) {
		o, ok := flag.Value.(*output)
		switch {
		case !ok || err != nil:
		case flag.Changed && *o.path == "":
			err = fault.New(fault.Usage, "give it a path, or omit it",
				"write --%s: found an empty path", flag.Name)
		case *o.path == "-" && !o.dash:
			err = fault.New(fault.Usage, "name a file or folder, such as ./-",
				"write --%s: found -, expected a path", flag.Name)
		case !o.isUnused():
			err = o.resolve()
			outputs = append(outputs, o)
		}
	})
	if err != nil {
		return err
	}
	for i, o := range outputs {
		for _, other := range outputs[:i] {
			if o.collides(other) {
				return fault.New(fault.Usage, "name another file",
					"write %s: %s is another output of this command", *o.path, *other.path)
			}
		}
	}
	for _, o := range outputs {
		_ = disk.Sweep(*o.path) // left by a process killed just after it had renamed the output
		if err := o.check(); err != nil {
			return err
		}
	}
	return nil
}

// resolve makes the path the one where the output lands, which must not be inside a dataset, graph
// or version.
func (o *output) resolve() (err error) {
	if o.role != folderOutput {
		*o.path, err = checkPlace(*o.path)
		return err
	}
	// of any dataset in the folder, which may be a link itself
	first, err := checkPlace(*o.path + "/dataset")
	*o.path = filepath.Dir(first)
	return err
}

// check applies the rule for outputs: replace only what tcbuild wrote for the same output, so never
// an input, and follow no links.
func (o *output) check() error {
	path := *o.path
	info, err := os.Lstat(path)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && o.role == replaced:
		return o.tryParent()
	case missing, o.role == folderOutput:
		return nil
	case err != nil:
		return fmt.Errorf("write %s: %w", path, errors.Unwrap(err))
	case o.role == datasetOutput && (isEmptyFolder(path, info) || holds(path) == "a dataset"):
		return nil
	case o.role == newOutput, o.role == datasetOutput:
		return alreadyExists(path)
	}
	if err := disk.CheckFile(path); err != nil {
		return err
	}
	return o.checkOurs()
}

// isEmptyFolder reports whether a dataset can be renamed to a path, which is not the case for a
// link to an empty folder.
func isEmptyFolder(path string, info fs.FileInfo) bool {
	entries, err := os.ReadDir(path)
	return info.IsDir() && err == nil && len(entries) == 0
}

// mostBegin is how many bytes are read to recognize a file: more than a log line has.
const mostBegin = 1 << 16

// checkOurs refuses a file that is not an earlier one of this output.
func (o *output) checkOurs() error {
	file, _, err := disk.OpenRegular(*o.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var begin []byte
	if err == nil {
		begin, err = io.ReadAll(io.LimitReader(file, mostBegin))
		file.Close()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", *o.path, err)
	}
	if !o.ours(begin) {
		return fault.New(fault.Usage, "remove it, or name another file",
			"write %s: it exists, and is not an earlier output of the same kind", *o.path)
	}
	return nil
}

// tryParent creates and removes a file beside the output, so that a missing or read-only folder
// ends the command before it has worked for hours.
func (o *output) tryParent() error {
	file, err := disk.Create(*o.path)
	if err != nil {
		return err
	}
	return file.Discard()
}

// replace writes a file with a beginning. It replaces only a file with the same beginning.
func replace(path string, text []byte, begin string) error {
	o := output{path: &path, ours: beginsWith(begin)}
	if err := o.checkOurs(); err != nil {
		return err
	}
	return disk.WriteWhole(path, text)
}

// collides reports whether two outputs are the same file, or one lies inside the other. A folder
// gets its name only when it is complete, so nothing can be written into it before.
func (o *output) collides(other *output) bool {
	one, another := fullPath(*o.path), fullPath(*other.path)
	within := func(path, folder string, role role) bool {
		return path == folder || role != folderOutput && strings.HasPrefix(path, folder+"/")
	}
	return within(one, another, other.role) || within(another, one, o.role)
}

func alreadyExists(path string) error {
	return fault.New(fault.Usage, "remove it, or choose another --out",
		"write %s: it already exists", path)
}

// checkPlace returns where an output at path lands. It refuses a path inside a dataset, graph or
// version, a path that another user's link redirects, and one that would break a log or a page.
func checkPlace(path string) (string, error) {
	if err := checkPath(path); err != nil {
		return "", err
	}
	resolved, err := disk.Resolve(path)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	for dir := filepath.Dir(fullPath(resolved)); dir != "/"; dir = filepath.Dir(dir) {
		if what := holds(dir); what != "" {
			return "", fault.New(fault.Usage, "name a path outside of it",
				"write %s: it is inside %s, %s", path, what, dir)
		}
	}
	return resolved, nil
}

// holds says what a folder is if nothing may be written into it, and returns "" for any other.
func holds(dir string) string {
	there := func(names ...string) bool {
		_, err := os.Lstat(filepath.Join(append([]string{dir}, names...)...))
		return err == nil
	}
	name := filepath.Base(dir)
	isVersion := rebuild.IsVersion(name)
	tables, _ := fs.Glob(os.DirFS(dir), "nodes/gene.*")
	switch {
	case there("manifest.json") && there("graph"), there(".build", "plan.json"):
		return "a dataset"
	case len(tables) > 0:
		return "a graph"
	case isVersion && there(variants.RecordName):
		return "a version of a dataset"
	}
	return ""
}

// fullPath makes a path of disk.Resolve absolute.
func fullPath(resolved string) string {
	if filepath.IsAbs(resolved) {
		return resolved
	}
	folder, _ := syscall.Getwd() // unlike os.Getwd's, without links
	return filepath.Join("/", folder, resolved)
}

// checkPath refuses a URL, and a path that would break a line of a log, a script or a page.
func checkPath(path string) error {
	switch {
	case strings.Contains(path, "://"):
		return fault.New(fault.Usage, "name a folder, and upload what is in it",
			"write %s: found a URL, expected a path", path)
	case strings.ContainsFunc(path, unicode.IsControl):
		return fault.New(fault.Usage, "rename it",
			"read path %s: found a control character in it", fault.Quote(path))
	}
	return nil
}

// publish makes a folder that appears at path complete or not at all: build fills it at another
// path, with the same base name, in a temporary folder beside it. Missing parents of path are
// created. It is a fault.Usage if path exists.
func publish(path string, build func(path string) error) error {
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(path)), 0o777); err != nil {
		return err
	}
	temporary, err := disk.NewTemporary(path)
	if err != nil {
		return err
	}
	if err = os.Mkdir(temporary.Path, 0o777); err == nil {
		err = build(temporary.Path)
	}
	if err != nil {
		return errors.Join(temporary.Naming(err), temporary.Discard())
	}
	err = temporary.PublishNew(path)
	if errors.Is(err, fs.ErrExist) {
		return alreadyExists(path)
	}
	return err
}
