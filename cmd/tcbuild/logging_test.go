package main

import (
	"bytes"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, format    string
		terminal, quiet bool
		want            string // regular expression
	}{
		{
			name:   "file",
			format: "text",
			want: `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S+ read graph  a=1 genes=6607 where="a ` +
				`b"\n\S+ WARN odd\n\S+ ERROR bad  io.err=EOF\n$`,
		},
		{
			name:     "terminal",
			format:   "text",
			terminal: true,
			want: `^\x1b\[2K\r\d\d:\d\d:\d\d read graph  a=1 genes=6607 where="a ` +
				`b"\n\x1b\[2K\r\S+ WARN odd\n\x1b\[2K\r\S+ ERROR bad  io.err=EOF\n$`,
		},
		{
			name:   "json",
			format: "json",
			want: `^\{"time":".*","level":"INFO","msg":"read ` +
				`graph","a":1,"genes":6607,"where":"a b"\}\n\{.*\}\n\{.*\}\n$`,
		},
		{name: "quiet", format: "text", quiet: true, want: `^\S+ ERROR bad  io.err=EOF\n$`},
		{name: "quiet json", format: "json", quiet: true, want: `^\{.*"bad".*\}\n$`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			e := newEnv(nil, &out)
			e.terminal, e.logFormat, e.quiet = c.terminal, c.format, c.quiet
			e.openLog()
			e.log.With("a", 1).Info("read graph", "genes", 6607, "where", "a b")
			e.log.Warn("odd")
			e.log.WithGroup("io").Error("bad", slog.Any("err", errors.New("EOF")))
			if !regexp.MustCompile(c.want).MatchString(out.String()) {
				t.Errorf("got\n%q\nwant\n%s", out.String(), c.want)
			}
		})
	}
}

func TestProgressLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		total, samples int
		bytes          int64
		want           string
	}{
		{total: 1000, samples: 400, want: "samples 400 of 1,000 rate 40 samples/s left 15s"},
		{
			total:   332_313,
			samples: 10_000,
			bytes:   42_000_000,
			want:    "samples 10,000 of 332,313 rate 1000 samples/s written 42.0 MB left 5m22s",
		},
		{samples: 400, bytes: 1500, want: "samples 400 rate 40 samples/s written 1.50 kB"},
		{total: 1000, want: "samples 0 of 1,000 rate 0 samples/s"},
	} {
		p := &progress{total: c.total, samples: c.samples, bytes: c.bytes}
		var words []string
		for _, word := range p.line(10 * time.Second) {
			words = append(words, word.(string))
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, format    string
		terminal, quiet bool
		total           int
		want            string // "" is nothing
	}{
		{"bar", "text", true, false, 100, "build 1.00 MB"},
		{"spinner", "text", true, false, 0, "build 1.00 MB"},
		{"quiet", "text", true, true, 100, ""},
		{"log", "text", false, false, 100, "build  samples=50 of=100"},
		{"quiet log", "text", false, true, 100, ""},
		{"json", "json", true, false, 100, `"msg":"build","done":50,"total":100,"bytes":1000000}`},
		{"json of unknown length", "json", false, false, 0, `"done":50,"total":0,"bytes":1000000}`},
		{"quiet json", "json", false, true, 100, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			e := newEnv(nil, &out)
			e.terminal, e.logFormat, e.quiet = c.terminal, c.format, c.quiet
			e.openLog()
			p := newProgress(e, "build", c.total)
			p.shown = p.shown.Add(-progressEvery) // the next line is due
			p.Add(50, 1_000_000)
			p.Add(10, 0)
			p.Done()
			got := out.String()
			if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("got %q, want it to contain %q", got, c.want)
			}
			bar := c.terminal && !c.quiet && c.format == "text"
			if bar && !strings.HasSuffix(out.String(), "\033[2K\r") {
				t.Errorf("the bar stays: %q", out.String())
			}
			if lines := strings.Count(out.String(), "\n"); !bar && lines > 1 {
				t.Errorf("got %d log lines, want one in %s", lines, progressEvery)
			}
		})
	}
}

func TestHumanUnits(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0:             "0 B",
		999:           "999 B",
		1000:          "1.00 kB",
		1499:          "1.50 kB",
		42_400_000:    "42.4 MB",
		999_499:       "999 kB",
		4_200_000_000: "4.20 GB",
		1 << 62:       "4.61 EB",
	} {
		if got := humanBytes(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int]string{
		0:         "0",
		999:       "999",
		1000:      "1,000",
		332_313:   "332,313",
		-999:      "-999",
		-1000:     "-1,000",
		1_234_567: "1,234,567",
	} {
		if got := humanCount(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

// With --log-format json the error of a run is a record, with the exit code and the hint.
func TestErrorAsJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string // regular expression
	}{
		{[]string{"verify", "/none/such"}, `"msg":".*/none/such.*","code":\d,"hint":".+"\}\n$`},
		{[]string{"verify", "/none/such", "wrokers=3"},
			`"msg":"read settings override wrokers=3: .*","code":2,"hint":"did you mean ` +
				`workers\?"\}\n$`},
	} {
		var out, log bytes.Buffer
		code := run(t.Context(), append(c.args, "--log-format", "json"), &out, &log)
		want := `^\{"time":"[^"]+","level":"ERROR",` + c.want
		if code == 0 || !regexp.MustCompile(want).MatchString(log.String()) {
			t.Errorf("%v: got code %d and\n%s\nwant\n%s", c.args, code, log.String(), want)
		}
	}
}
