package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
)

// env is passed to every command: where and how to print.
type env struct {
	stdout, stderr *printable
	screen         io.Writer // unfiltered stderr, for the progress bar's control sequences
	terminal       bool      // whether stderr is a terminal
	log            *slog.Logger

	// The persistent flags.
	config    string
	logFormat string
	quiet     bool
}

func newEnv(stdout, stderr io.Writer) *env {
	file, isFile := stderr.(*os.File)
	return &env{
		stdout: &printable{out: stdout}, stderr: &printable{out: stderr}, screen: stderr,
		terminal: isFile && term.IsTerminal(int(file.Fd())),
	}
}

// table prints rows of cells in columns.
func (e *env) table(rows ...[]string) error {
	out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	return out.Flush()
}

// json prints a value as JSON.
func (e *env) json(value any) error {
	encoder := json.NewEncoder(e.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// say prints lines to stdout, unless --quiet.
func (e *env) say(lines ...string) {
	if e.quiet {
		return
	}
	for _, line := range lines {
		fmt.Fprintln(e.stdout, clip(line))
	}
}

// humanBytes formats a number of bytes with three digits: 999 B, 1.00 kB, 42.0 GB. A kB is 1,000
// bytes.
func humanBytes(n int64) string { return humanize.BytesN(uint64(n), 3) }

// humanCount formats a number with thousands separators: 332,313.
func humanCount(n int) string { return humanize.Comma(int64(n)) }
