package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFetch(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	io.WriteString(writer, "src\tdst\nA\tB\n")
	writer.Close()
	contents := map[string]string{"/genes.tsv": "id\nA\nB\n", "/edges.tsv.gz": packed.String(),
		"/broken.tsv.gz": packed.String()[:20], "/page.tsv": "<!DOCTYPE html><p>It moved"}
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		text, ok := contents[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, text)
	}))
	defer server.Close()
	digest := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	settings := func(genesDigest, rest string) string {
		return `genes: {file: "${data}/genes.tsv.gz", column: id}
edges: [{file: "${data}/edges.tsv.gz", relation: physical, from: src, to: dst, undirected: true}]
data: files
downloads:
  - {file: "${data}/genes.tsv.gz", address: "` + server.URL + `/genes.tsv", sha256: ` + genesDigest + rest + `}
  - {file: "${data}/edges.tsv.gz", address: "` + server.URL + `/edges.tsv.gz", sha256: ` + digest("src\tdst\nA\tB\n") + `}
`
	}
	good := digest(contents["/genes.tsv"])
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"cell.yaml":     settings(good, ""),
		"wrong.yaml":    settings(digest("another"), ""),
		"unpinned.yaml": strings.ReplaceAll(settings(good, ""), ", sha256: "+good, ""),
		"changes.yaml":  settings(digest("another"), ", changes: true"),
		"gone.yaml":     strings.ReplaceAll(settings(good, ""), "/genes.tsv\"", "/gone.tsv\""),
		"broken.yaml":   strings.ReplaceAll(settings(good, ""), "/genes.tsv\"", "/broken.tsv.gz\""),
		"page.yaml":     strings.ReplaceAll(settings(good, ""), "/genes.tsv\"", "/page.tsv\""),
		"none.yaml":     "data: files\ngenes: {file: \"${data}/genes.tsv\", column: id}\n",
	})
	refused := func(code int, config, want, hint string) {
		t.Helper()
		o := execute(t, dir, "ingest", "fetch", "--config", config, "data=refused")
		if o.code != code || !strings.Contains(o.stderr, want) || !strings.Contains(o.stderr, hint) {
			t.Errorf("%s: exit code %d, stderr:\n%s", config, o.code, o.stderr)
		}
		if left, _ := os.ReadDir(filepath.Join(dir, "refused")); len(left) > 0 {
			t.Errorf("%s leaves %v", config, left)
		}
	}
	refused(3, "wrong.yaml", server.URL+"/genes.tsv: check refused/genes.tsv.gz: "+
		"found content with sha256 "+good+", expected "+digest("another"),
		"hint: if its publisher has replaced it")
	refused(1, "gone.yaml",
		"download refused/genes.tsv.gz: "+server.URL+"/gone.tsv: answered 404 Not Found",
		"hint: check the address in a browser")
	refused(3, "broken.yaml",
		server.URL+"/broken.tsv.gz: read refused/genes.tsv.gz: unexpected EOF",
		"hint: run the same command again; if it comes broken")
	refused(1, "page.yaml", server.URL+"/page.tsv: answered with a web page, expected a file",
		"hint: check the address in a browser")
	refused(2, "none.yaml", "found no section downloads", "hint: 'tcbuild presets yeast' shows one")

	// A graph whose files are not there says how to get them.
	o := execute(t, dir, "ingest", "graph", "--config", "cell.yaml", "--out", "graph")
	if o.code != 1 || !strings.Contains(o.stderr, "hint: 'tcbuild ingest fetch' with the same --config and key=value downloads it from "+server.URL+"/genes.tsv\n") {
		t.Errorf("exit code %d, stderr:\n%s", o.code, o.stderr)
	}
	if o := must(t, dir, "ingest", "fetch", "--config", "cell.yaml"); !strings.Contains(o.stdout, "files/genes.tsv.gz: downloaded ") {
		t.Errorf("got %s", o.stdout)
	}
	must(t, dir, "ingest", "graph", "--config", "cell.yaml", "--out", "graph", "--quiet")

	// What is there is checked, and not downloaded again.
	before := requests
	if o := must(t, dir, "ingest", "fetch", "--config", "cell.yaml"); strings.Count(o.stdout, ": found ") != 2 || requests != before {
		t.Errorf("%d requests, got %s", requests-before, o.stdout)
	}
	if o := must(t, dir, "ingest", "fetch", "--config", "changes.yaml"); !strings.Contains(o.stdout, "another version than the settings have") {
		t.Errorf("got %s", o.stdout)
	}
	if o := must(t, dir, "ingest", "fetch", "--config", "unpinned.yaml"); !strings.Contains(o.stdout, ", unchecked, sha256 "+good+"\n") {
		t.Errorf("got %s", o.stdout)
	}
	if err := os.WriteFile(filepath.Join(dir, "files/edges.tsv.gz"), packed.Bytes()[:20], 0o644); err != nil {
		t.Fatal(err)
	}
	if o := execute(t, dir, "ingest", "fetch", "--config", "cell.yaml"); o.code != 3 || !strings.Contains(o.stderr, "hint: remove it, then run the same command again") {
		t.Errorf("exit code %d, stderr:\n%s", o.code, o.stderr)
	}
}

// An interrupted download continues where it stopped. Nothing is logged about a server that sends
// more than its answer.
func TestFetchContinues(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("id\nA\nB\n", 10_000)
	ranges := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ranges <- r.Header.Get("Range")
		if len(ranges) == 2 {
			http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader(content))
			http.NewResponseController(w).Flush()
			if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
				io.WriteString(connection, "HTTP/1.1 200 OK\r\n\r\n")
			}
			return
		}
		w.Header().Set("Last-Modified", time.Unix(1e9, 0).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		io.WriteString(w, content[:30_000])
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	dir := t.TempDir()
	settings := "downloads: [{file: genes.tsv, address: \"" + server.URL + "/genes.tsv\"}]\n"
	writeFiles(t, dir, map[string]string{"cell.yaml": settings})

	interrupted := begin(t, dir, "ingest", "fetch", "--config", "cell.yaml")
	received := func() int64 {
		parts, _ := filepath.Glob(filepath.Join(dir, ".genes.tsv.*.part"))
		if len(parts) == 0 {
			return 0
		}
		info, err := os.Stat(parts[0])
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for received() < 30_000 {
		time.Sleep(time.Millisecond)
	}
	interrupted.Process.Signal(os.Interrupt)
	o := finish(t, interrupted)
	o.prints(t, 75)
	o.hints(t, "run the same command again to continue")
	o = must(t, dir, "ingest", "fetch", "--config", "cell.yaml")
	if strings.Count(o.stderr, "\n") != 1 || !strings.Contains(o.stderr, "downloading "+server.URL) {
		t.Errorf("stderr:\n%s", o.stderr)
	}
	got, err := os.ReadFile(filepath.Join(dir, "genes.tsv"))
	if err != nil || string(got) != content {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if first, second := <-ranges, <-ranges; first != "" || second != "bytes=30000-" {
		t.Errorf("asked for %q, then %q", first, second)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left %v", left)
	}
}
