package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// env is what every command is given: where to print, and how.
type env struct {
	stdout, stderr *printable
	screen         io.Writer // stderr as it is, for the progress bar's commands to the terminal
	terminal       bool      // whether stderr is a terminal
	log            *slog.Logger

	// The persistent flags.
	config    string
	logFormat string
	quiet     bool
	profiles  profiles
}

func newEnv(stdout, stderr io.Writer) *env {
	file, isFile := stderr.(*os.File)
	return &env{
		stdout: &printable{out: stdout}, stderr: &printable{out: stderr}, screen: stderr,
		terminal: isFile && term.IsTerminal(int(file.Fd())),
	}
}

// say prints lines for people to stdout, unless --quiet.
func (e *env) say(lines ...string) {
	if e.quiet {
		return
	}
	for _, line := range lines {
		fmt.Fprintln(e.stdout, clip(line))
	}
}
