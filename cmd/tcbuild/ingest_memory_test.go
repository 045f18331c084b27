package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The memory of ingest graph does not grow with the rows of a source that make no new edge: those
// of other organisms, and pairs that an earlier row has.
func TestIngestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it reads half a gigabyte of text")
	}
	dir := t.TempDir()
	header := make([]string, 37)
	for k := range header {
		header[k] = fmt.Sprintf("column %d", k)
	}
	header[5], header[6], header[7], header[8] = "Systematic Name Interactor A", "Systematic Name Interactor B", "Official Symbol Interactor A", "Official Symbol Interactor B"
	header[12], header[15], header[16] = "Experimental System Type", "Organism ID Interactor A", "Organism ID Interactor B"
	ids, block := "id\n", strings.Builder{}
	for i := range 1000 {
		ids += fmt.Sprintf("Y%d\n", i)
		for k, taxon := range []string{"9606", "559292", "10090"} {
			row := strings.Split(strings.Repeat("some text;", 37), ";")[:37]
			row[5], row[6], row[12], row[15], row[16] = fmt.Sprint("Y", i), fmt.Sprint("Y", (7*i+k)%1000), "physical", taxon, taxon
			block.WriteString(strings.Join(row, "\t") + "\n")
		}
	}
	writeFiles(t, dir, map[string]string{"ids.tsv": ids})
	peak := func(blocks int) int64 {
		name := fmt.Sprint("BIOGRID-ALL-", blocks, ".tab3.txt.gz")
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out, _ := gzip.NewWriterLevel(file, gzip.BestSpeed)
		_, err = out.Write([]byte(strings.Join(header, "\t") + "\n"))
		for range blocks {
			_, failed := out.Write([]byte(block.String()))
			err = errors.Join(err, failed)
		}
		if err := errors.Join(err, out.Close(), file.Close()); err != nil {
			t.Fatal(err)
		}
		writeFiles(t, dir, map[string]string{"g.yaml": "genes: {file: ids.tsv, column: id}\nedges: [{source: biogrid_physical, file: " + name + "}]\n"})
		cmd := program(t, "main", "ingest", "graph", "--config", "g.yaml", "--out", fmt.Sprint(blocks), "--quiet")
		cmd.Dir, cmd.Env = dir, append(cmd.Environ(), "GOGC=20")
		kilobytes, err := runWithPeak(t, cmd)
		if err != nil {
			t.Fatal(err)
		}
		return kilobytes
	}
	some, all := peak(30), peak(500)
	t.Logf("%d kB for %d MB of text, %d kB for %d MB", some, 30*block.Len()/1e6, all, 500*block.Len()/1e6)
	const most = 14 << 10
	if all > some+most {
		t.Errorf("got %d kB for 17 times the text, %d kB for a part of it, expected at most %d kB more", all, some, most)
	}
}
