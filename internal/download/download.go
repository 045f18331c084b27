// Package download downloads a file from the web, over as many connections as it takes, and accepts
// nothing that may not be the whole file.
package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"tcbuild/fault"
)

// Client says how patient a download is.
type Client struct {
	// Silence is how long a server may send nothing: no connection, no answer, no byte.
	Silence time.Duration
	// Pauses come before further tries, in this order, and begin again after a try that received
	// something. A download that fails after the last one is fault.Busy.
	Pauses []time.Duration
	// Most is the size of the largest file: a server that sends more may never end.
	Most int64
	// Tell receives a line when a download begins, and before each pause.
	Tell func(line string)
}

// Patient is what a person at a terminal, or cron, waits for.
var Patient = Client{
	Silence: time.Minute,
	Pauses:  []time.Duration{time.Second, 4 * time.Second, 15 * time.Second},
	Most:    64 << 30, // a hundred times BioGRID
}

const byHand = "check the address in a browser, or save the file there yourself"

// Get downloads the file at an address into part. It keeps what part already has if the server
// confirms, by ETag or by time of modification, that this is the beginning of the same file. Get
// gives part the server's time of modification. After an error, part has what was received, for
// the next Get.
//
// If the server answers with an error, a web page, nothing, more than Client.Most, or a file of
// unknown length, the error is a fault.Failed. All errors name the address.
func (c Client) Get(ctx context.Context, address string, part *os.File) (err error) {
	t := &transfer{client: c, address: address, part: part}
	defer func() { err = errors.Join(err, t.storeVersion()) }()
	info, err := part.Stat()
	if err != nil {
		return err
	}
	if info.Size() > 0 {
		t.version = info.ModTime().UTC().Format(http.TimeFormat)
	}
	c.Tell("downloading " + address)
	for tries := 0; ; tries++ {
		before, err := t.part.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		err = t.try(ctx)
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if !errors.Is(err, fault.Busy) {
			return err
		}
		if after, _ := t.part.Seek(0, io.SeekEnd); after > before {
			tries = 0
		}
		if tries == len(c.Pauses) {
			return err
		}
		c.Tell(fmt.Sprintf("%v; trying again in %v", err, c.Pauses[tries]))
		select {
		case <-time.After(c.Pauses[tries]):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A transfer is the state of a download between its connections.
type transfer struct {
	client  Client
	address string
	part    *os.File
	// version is the server's name for the content that part begins with, for If-Range; "" if it
	// has none.
	version string
	// What the server says about the content; each may be zero.
	modified time.Time
	tag      string
	size     int64
}

// storeVersion gives part the server's time of modification, by which a later run knows its
// version.
func (t *transfer) storeVersion() error {
	if t.modified.IsZero() {
		return nil
	}
	return os.Chtimes(t.part.Name(), time.Time{}, t.modified)
}

// try receives the rest of the file over one connection. Its error is a fault.Busy if another
// connection may succeed.
func (t *transfer) try(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(t.client.Silence, func() {
		cancel(fmt.Errorf("received nothing for %v", t.client.Silence))
	})
	defer silence.Stop()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.address, nil)
	if err != nil {
		return fault.New(fault.Usage, "correct the address in the settings", "%w", err)
	}
	start, err := t.part.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", "identity")
	if start > 0 && t.version != "" {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", start))
		request.Header.Set("If-Range", t.version)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return t.broken(ctx, err)
	}
	defer response.Body.Close()
	if err := t.check(response); err != nil {
		return err
	}
	resumed := response.StatusCode == http.StatusPartialContent
	if resumed && !t.continues(response, start) {
		t.version = "" // the next try starts over
		return t.busy("answered with %q of another file, expected the rest from byte %d on",
			response.Header.Get("Content-Range"), start)
	}
	if !resumed {
		if err := t.restart(response); err != nil {
			return err
		}
	}
	return t.receive(ctx, response.Body, silence)
}

// continues reports whether an answer is the rest of the content that part begins with.
func (t *transfer) continues(response *http.Response, start int64) bool {
	tag, length := response.Header.Get("ETag"), response.ContentLength
	rest := fmt.Sprintf("bytes %d-", start)
	isRest := strings.HasPrefix(response.Header.Get("Content-Range"), rest)
	otherTag := t.tag != "" && tag != "" && tag != t.tag
	otherSize := t.size > 0 && length >= 0 && start+length != t.size
	return isRest && !otherTag && !otherSize
}

// restart empties part, for a server that sends the file from its beginning.
func (t *transfer) restart(response *http.Response) error {
	t.modified, _ = http.ParseTime(response.Header.Get("Last-Modified"))
	t.size, t.tag = response.ContentLength, response.Header.Get("ETag")
	t.version = t.tag
	if t.tag == "" || strings.HasPrefix(t.tag, "W/") { // a weak one is not for ranges
		t.version = response.Header.Get("Last-Modified")
	}
	if err := t.part.Truncate(0); err != nil {
		return err
	}
	_, err := t.part.Seek(0, io.SeekStart)
	return err
}

// check refuses answers that are not the file.
func (t *transfer) check(response *http.Response) error {
	// over HTTP/1, nothing then says where the file ends
	noLength := response.ContentLength < 0 && len(response.TransferEncoding) == 0
	packed := response.Header.Get("Content-Encoding") == "gzip"
	switch code := response.StatusCode; {
	case code == http.StatusRequestedRangeNotSatisfiable:
		t.version = ""
		return t.busy("answered %s", response.Status)
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return t.busy("answered %s", response.Status)
	case code != http.StatusOK && code != http.StatusPartialContent:
		return t.failed("answered %s", response.Status)
	case strings.HasPrefix(response.Header.Get("Content-Type"), "text/html"):
		return t.failed("answered with a web page, expected a file")
	case response.ContentLength > t.client.Most:
		return t.tooLarge()
	case response.ContentLength == 0:
		return t.failed("answered with an empty file")
	case noLength && response.ProtoMajor == 1:
		return t.failed("answered without the length of the file, " +
			"so that a cut would not be noticed")
	case packed && !strings.HasSuffix(t.address, ".gz"):
		return t.failed("answered with content that is encoded as gzip, expected it as it is")
	}
	return nil
}

// receive appends a body to part. It fails unless the body ends where the server said.
func (t *transfer) receive(ctx context.Context, body io.Reader, silence *time.Timer) error {
	received, err := t.part.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	buffer := make([]byte, 1<<16)
	for {
		n, err := body.Read(buffer)
		silence.Reset(t.client.Silence)
		if received += int64(n); received > t.client.Most {
			return t.tooLarge()
		}
		if _, err := t.part.Write(buffer[:n]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return t.checkContent()
		}
		if err != nil {
			return t.broken(ctx, err)
		}
	}
}

// checkContent refuses an error page that the server calls a file.
func (t *transfer) checkContent() error {
	start := make([]byte, 512)
	n, err := t.part.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n == 0 {
		return t.failed("answered with an empty file")
	}
	if strings.HasPrefix(http.DetectContentType(start[:n]), "text/html") {
		return t.failed("answered with a web page, expected a file")
	}
	return nil
}

// broken returns the error of a failed connection. Another try may succeed, unless the address
// names no machine.
func (t *transfer) broken(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause // silence
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err // without the address
	}
	if unknown, ok := errors.AsType[*net.DNSError](err); ok && unknown.IsNotFound {
		return t.failed("%v", err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the connection ended before the file")
	}
	return t.busy("%v", err)
}

// failed does not wrap errors: one of the network must not pass for one of the disk.
func (t *transfer) failed(format string, args ...any) error {
	return fault.New(fault.Failed, byHand, "%s: %s", t.address, fmt.Sprintf(format, args...))
}

func (t *transfer) tooLarge() error {
	return t.failed("answered with more than %s, expected a smaller file",
		humanize.IBytes(uint64(t.client.Most)))
}

func (t *transfer) busy(format string, args ...any) error {
	return fault.New(fault.Busy, "run the same command again to continue",
		"%s: %s", t.address, fmt.Sprintf(format, args...))
}
