package inputfile

import (
	"os"
	"strings"
	"testing"

	"tcbuild/fault"
)

func TestFiles(t *testing.T) {
	var paths []string
	for _, size := range sizes {
		paths = append(paths, create(t, content(size)))
	}
	var files Files
	defer files.Close()
	for i, path := range paths {
		file, err := files.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if file.Input("") != open(t, path).Input("") {
			t.Errorf("%d bytes: other digests", sizes[i])
		}
		if again, err := files.Open(path); again != file || err != nil {
			t.Errorf("%d bytes: opened again, %v", sizes[i], err)
		}
	}
	if inputs := files.Inputs(); len(inputs) != len(paths) || inputs[1] != open(t, paths[1]).Input(paths[1]) {
		t.Errorf("got %v", inputs)
	}
	if err := files.Unchanged(); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(paths[3], 5); err != nil {
		t.Fatal(err)
	}
	if err := files.Unchanged(); fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), paths[3]) {
		t.Errorf("got %v", err)
	}
}
