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
	const rest = "bytes=9000-"
	for name, c := range map[string]struct {
		answers []answer
		ranges  []string // requested
	}{
		"whole":                    {[]answer{whole("v1")}, []string{""}},
		"continued by its time":    {[]answer{cut("", 9000), whole("")}, []string{"", rest}},
		"silent before its answer": {[]answer{silent, whole("v1")}, []string{"", ""}},
		"silent in the middle":     {[]answer{stalled(9000), whole("v1")}, []string{"", rest}},
		"replaced in the middle": {
			[]answer{other("v0"), whole("v1")},
			[]string{"", "bytes=4000-"},
		},
		"no versions": {[]answer{cutPlain, plain}, []string{"", ""}},
		"overloaded": {
			[]answer{status(503), status(429), whole("v1")},
			[]string{"", "", ""},
		},
		"cut, then continued": {
			[]answer{cut("v1", 9000), cut("v1", 70_000), whole("v1")},
			[]string{"", rest, "bytes=70000-"},
		},
		"another range": {
			[]answer{cut("v1", 9000), shifted, whole("v1")},
			[]string{"", rest, ""},
		},
		"the rest of another file": {
			[]answer{cut("v1", 9000), restOf("v2", content), whole("v1")},
			[]string{"", rest, ""},
		},
		"the rest of a longer file": {
			[]answer{cut("v1", 9000), restOf("", content+"C\tD\n"), whole("v1")},
			[]string{"", rest, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, ranges := serve(t, c.answers)
			part := newPart(t)
			err := clientFor(name).Get(t.Context(), server+"/edges.tsv", part)
			if got, _ := os.ReadFile(part.Name()); err != nil || string(got) != content {
				t.Errorf("got %d bytes and %v, expected %d", len(got), err, len(content))
			}
			if got := ranges(); !slices.Equal(got, c.ranges) {
				t.Errorf("asked for %q, expected %q", got, c.ranges)
			}
		})
	}
}

func TestGetRefuses(t *testing.T) {
	t.Parallel()
	const page = "answered with a web page, expected a file"
	for name, c := range map[string]struct {
		answer answer
		kind   fault.Kind
		want   string
	}{
		"cut again and again": {cutPlain, fault.Busy, "the connection ended before the file"},
		"always silent":       {silent, fault.Busy, "received nothing for 2s"},
		"always overloaded":   {status(503), fault.Busy, "answered 503 Service Unavailable"},
		"not there":           {status(404), fault.Failed, "answered 404 Not Found"},
		"a page":              {text("text/html; charset=utf-8", "moved"), fault.Failed, page},
		"a page called a table": {
			text("text/plain", "\n<!DOCTYPE html><html>"), fault.Failed, page,
		},
		"empty": {text("text/plain", ""), fault.Failed, "answered with an empty file"},
		"too long": {
			tooLong, fault.Failed, "answered with more than 1.0 MiB, expected a smaller file",
		},
		"without an end": {
			endless, fault.Failed, "answered with more than 1.0 MiB, expected a smaller file",
		},
		"without a length": {
			unmeasured, fault.Failed,
			"answered without the length of the file, so that a cut would not be noticed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, ranges := serve(t, []answer{c.answer})
			address := server + "/edges.tsv"
			err := clientFor(name).Get(t.Context(), address, newPart(t))
			if want := address + ": " + c.want; err == nil || err.Error() != want {
				t.Errorf("got %v, expected %s", err, want)
			}
			if got := fault.KindOf(err); got != c.kind {
				t.Errorf("got kind %d, expected %d", got, c.kind)
			}
			if got := ranges(); c.kind == fault.Failed && !slices.Equal(got, []string{""}) {
				t.Errorf("asked for %q, expected one request", got)
			}
		})
	}
}

// Another run continues a download if the server's time of modification is the same.
func TestGetContinuesAnotherRun(t *testing.T) {
	t.Parallel()
	server, ranges := serve(t, []answer{cut("", 9000), whole("")})
	part := newPart(t)
	once := quick
	once.Pauses = nil
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
	got, _ := os.ReadFile(part.Name())
	if string(got) != content || !slices.Equal(ranges(), []string{"", "bytes=9000-"}) {
		t.Errorf("got %d bytes by %q", len(got), ranges())
	}
}

func TestGetWithoutServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	err := quick.Get(t.Context(), server.URL, newPart(t))
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
	if err := quick.Get(ctx, server, newPart(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// quick pauses briefly. Like Patient, it does not take a busy machine for a silent server.
var quick = Client{
	Silence: Patient.Silence,
	Pauses:  []time.Duration{time.Millisecond, time.Millisecond},
	Most:    1 << 20,
	Tell:    func(string) {},
}

// clientFor is impatient in tests of silent servers.
func clientFor(test string) Client {
	client := quick
	if strings.Contains(test, "silent") {
		client.Silence = 2 * time.Second
	}
	return client
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
	rest := fmt.Sprintf("bytes %d-%d/%d", first(r)+1, len(content)-1, len(content))
	w.Header().Set("Content-Range", rest)
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

func tooLong(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", fmt.Sprint(quick.Most+1))
}

// endless sends until nobody listens.
func endless(w http.ResponseWriter, _ *http.Request) {
	for {
		if _, err := io.WriteString(w, content); err != nil {
			return
		}
	}
}

// unmeasured answers as HTTP/1.0 may: the file ends where the connection does.
func unmeasured(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		header := "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n"
		io.WriteString(connection, header+content[:100])
		connection.Close()
	}
}
