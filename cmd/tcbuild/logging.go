package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// clearLine clears the terminal's current line, which may show a progress bar.
const clearLine = "\033[2K\r"

// jsonLog is the --log-format that has a JSON object per line.
const jsonLog = "json"

// openLog makes the log that the flags ask for.
func (e *env) openLog() {
	options := &slog.HandlerOptions{}
	if e.quiet {
		options.Level = slog.LevelError
	}
	if e.logFormat == jsonLog {
		e.log = slog.New(slog.NewJSONHandler(e.stderr, options))
	} else {
		e.log = slog.New(newTextHandler(e.screen, e.terminal, options.Level))
	}
}

// textHandler writes one line per record: time, level unless it is info, message, then key=value.
// On a terminal the time is short, and the line replaces the progress bar.
type textHandler struct {
	slog.Handler // formats only the attributes, into line
	shared       *textOutput
}

// textOutput is the state that a textHandler shares with those derived from it.
type textOutput struct {
	sync.Mutex
	line   bytes.Buffer
	out    io.Writer
	prefix string
	clock  string // layout of the time
}

func newTextHandler(out io.Writer, terminal bool, level slog.Leveler) *textHandler {
	shared := &textOutput{out: out, clock: "2006-01-02T15:04:05Z07:00"}
	if terminal {
		shared.prefix, shared.clock = clearLine, "15:04:05"
	}
	dropFixed := func(groups []string, attr slog.Attr) slog.Attr {
		fixed := attr.Key == slog.TimeKey || attr.Key == slog.LevelKey ||
			attr.Key == slog.MessageKey
		if fixed && len(groups) == 0 {
			return slog.Attr{}
		}
		return attr
	}
	attributes := slog.NewTextHandler(&shared.line,
		&slog.HandlerOptions{Level: level, ReplaceAttr: dropFixed})
	return &textHandler{Handler: attributes, shared: shared}
}

func (h *textHandler) Handle(ctx context.Context, record slog.Record) error {
	h.shared.Lock()
	defer h.shared.Unlock()
	line := &h.shared.line
	line.Reset()
	line.WriteString(record.Time.Format(h.shared.clock))
	if record.Level != slog.LevelInfo {
		line.WriteString(" " + record.Level.String())
	}
	line.WriteString(" " + lineBreakers.Replace(record.Message) + "  ")
	if err := h.Handler.Handle(ctx, record); err != nil {
		return err
	}
	text := appendPrintable([]byte(h.shared.prefix),
		[]byte(clip(strings.TrimRight(line.String(), " \n"))))
	_, err := h.shared.out.Write(append(text, '\n'))
	return err
}

func (h *textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &textHandler{Handler: h.Handler.WithAttrs(attrs), shared: h.shared}
}

func (h *textHandler) WithGroup(name string) slog.Handler {
	return &textHandler{Handler: h.Handler.WithGroup(name), shared: h.shared}
}
