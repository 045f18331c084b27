package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

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

// say prints lines to stdout, unless --quiet.
func (e *env) say(lines ...string) {
	if e.quiet {
		return
	}
	for _, line := range lines {
		fmt.Fprintln(e.stdout, clip(line))
	}
}
