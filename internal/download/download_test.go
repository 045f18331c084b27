package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tcbuild/fault"
)

type answer func(w http.ResponseWriter, r *http.Request)

var content = strings.Repeat("src\tdst\nA\tB\n", 20_000)

func TestGet(t *testing.T) {
	t.Parallel()
	const address = "SERVER/edges.tsv"
	cases := []struct {
		name    string
		answers []answer
		want    string // of the error; "": the whole content
		kind    fault.Kind
		ranges  []string // requested
	}{
		{"whole", []answer{whole("v1")}, "", 0, []string{""}},
		{"cut, then continued", []answer{cut("v1", 9000), cut("v1", 70_000), whole("v1")}, "", 0, []string{"", "bytes=9000-", "bytes=70000-"}},
		{"continued by its time", []answer{cut("", 9000), whole("")}, "", 0, []string{"", "bytes=9000-"}},
		{"silent before its answer", []answer{silent, whole("v1")}, "", 0, []string{"", ""}},
		{"silent in the middle", []answer{stalled(9000), whole("v1")}, "", 0, []string{"", "bytes=9000-"}},
		{"replaced in the middle", []answer{other("v0"), whole("v1")}, "", 0, []string{"", "bytes=4000-"}},
		{"no versions", []answer{cutPlain, plain}, "", 0, []string{"", ""}},
		{"overloaded", []answer{status(503), status(429), whole("v1")}, "", 0, []string{"", "", ""}},
		{"another range", []answer{cut("v1", 9000), shifted, whole("v1")}, "", 0, []string{"", "bytes=9000-", ""}},
		{"the rest of another file", []answer{cut("v1", 9000), restOf("v2", content), whole("v1")}, "", 0, []string{"", "bytes=9000-", ""}},
		{"the rest of a longer file", []answer{cut("v1", 9000), restOf("", content+"C\tD\n"), whole("v1")}, "", 0, []string{"", "bytes=9000-", ""}},
		{"cut again and again", []answer{cutPlain}, address + ": the connection ended before the file", fault.Busy, nil},
		{"always silent", []answer{silent}, address + ": received nothing for 2s", fault.Busy, nil},
		{"always overloaded", []answer{status(503)}, address + ": answered 503 Service Unavailable", fault.Busy, nil},
		{"not there", []answer{status(404)}, address + ": answered 404 Not Found", fault.Failed, []string{""}},
		{"a page", []answer{text("text/html; charset=utf-8", "moved")}, address + ": answered with a web page, expected a file", fault.Failed, []string{""}},
		{"a page called a table", []answer{text("text/plain", "\n<!DOCTYPE html><html>")}, address + ": answered with a web page, expected a file", fault.Failed, []string{""}},
		{"empty", []answer{text("text/plain", "")}, address + ": answered with an empty file", fault.Failed, []string{""}},
		{"without a length", []answer{endless}, address + ": answered without the length of the file, so that a cut would not be noticed", fault.Failed, []string{""}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server, ranges := serve(t, c.answers)
			part, client := newPart(t), impatient
			if !strings.Contains(c.name, "silent") {
				client.Silence = Patient.Silence // a busy machine must not pass for a silent server
			}
			err := client.Get(t.Context(), server+"/edges.tsv", part)
			if c.want != "" {
				if want := strings.Replace(c.want, "SERVER", server, 1); err == nil || err.Error() != want || fault.KindOf(err) != c.kind {
					t.Errorf("got %v (kind %d), expected %s (kind %d)", err, fault.KindOf(err), want, c.kind)
				}
			} else if got, _ := os.ReadFile(part.Name()); err != nil || string(got) != content {
				t.Errorf("got %d bytes and %v, expected %d", len(got), err, len(content))
			}
			if got := ranges(); c.ranges != nil && fmt.Sprint(got) != fmt.Sprint(c.ranges) {
				t.Errorf("asked for %q, expected %q", got, c.ranges)
			}
		})
	}
}

// Another run continues a download if the server's time of modification is the same.
func TestGetContinuesAnotherRun(t *testing.T) {
	t.Parallel()
	server, ranges := serve(t, []answer{cut("", 9000), whole("")})
	part := newPart(t)
	once := impatient
	once.Silence, once.Pauses = Patient.Silence, nil
	if err := once.Get(t.Context(), server, part); !errors.Is(err, fault.Busy) {
		t.Fatal(err)
	}
	again, err := os.OpenFile(part.Name(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := once.Get(t.Context(), server, again); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(part.Name()); string(got) != content || fmt.Sprint(ranges()) != "[ bytes=9000-]" {
		t.Errorf("got %d bytes by %q", len(got), ranges())
	}
}

func TestGetWithoutServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	err := impatient.Get(t.Context(), server.URL, newPart(t))
	if !errors.Is(err, fault.Busy) || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
}

func TestGetIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server, _ := serve(t, []answer{func(w http.ResponseWriter, r *http.Request) {
		cancel()
		silent(w, r)
	}})
	if err := Patient.with(func(string) {}).Get(ctx, server, newPart(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func (c Client) with(tell func(string)) Client {
	c.Tell = tell
	return c
}

var impatient = Client{
	Silence: 2 * time.Second,
	Pauses:  []time.Duration{time.Millisecond, time.Millisecond},
	Tell:    func(string) {},
}

func newPart(t *testing.T) *os.File {
	t.Helper()
	part, err := os.Create(filepath.Join(t.TempDir(), "part"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { part.Close() })
	return part
}

// serve starts a server that gives one answer per request, and repeats the last one. ranges returns
// the Range headers of the requests.
func serve(t *testing.T, answers []answer) (address string, ranges func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Header.Get("Range"))
		next := answers[min(len(asked), len(answers))-1]
		mu.Unlock()
		next(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked)
	}
}

var modified = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// whole answers like a good server, with the content or the requested rest.
func whole(version string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		if version != "" {
			w.Header().Set("ETag", `"`+version+`"`)
		}
		http.ServeContent(w, r, "edges.tsv", modified, strings.NewReader(content))
	}
}

// cut answers like whole, and breaks the connection after the first bytes of the content.
func cut(version string, bytes int) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		whole(version)(&limited{ResponseWriter: w, left: bytes - first(r)}, r)
		breakConnection(w)
	}
}

func first(r *http.Request) (start int) {
	fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &start)
	return start
}

// limited drops everything after the first bytes.
type limited struct {
	http.ResponseWriter
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(l.left, len(p))
	l.left -= n
	_, err := l.ResponseWriter.Write(p[:n])
	return len(p), err
}

func breakConnection(w http.ResponseWriter) {
	http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func stalled(bytes int) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		whole("v1")(&limited{ResponseWriter: w, left: bytes}, r)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

// other sends the beginning of another content.
func other(version string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+version+`"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		io.WriteString(w, strings.Repeat("?", 4000))
		breakConnection(w)
	}
}

func plain(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, content) }

func cutPlain(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	io.WriteString(w, content[:5000])
	breakConnection(w)
}

func shifted(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first(r)+1, len(content)-1, len(content)))
	w.WriteHeader(http.StatusPartialContent)
	io.WriteString(w, content[first(r)+1:])
}

// restOf answers with the requested range of any version.
func restOf(version, content string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("If-Range")
		if version != "" {
			w.Header().Set("ETag", `"`+version+`"`)
		}
		http.ServeContent(w, r, "edges.tsv", modified, strings.NewReader(content))
	}
}

func status(code int) answer {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func text(contentType, text string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, text)
	}
}

// endless answers as HTTP/1.0 may: the file ends where the connection does.
func endless(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		io.WriteString(connection, "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n"+content[:100])
		connection.Close()
	}
}
