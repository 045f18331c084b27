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
	stdout, stderr io.Writer
	terminal       bool // whether stderr is a terminal
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
		stdout: stdout, stderr: stderr,
		terminal: isFile && term.IsTerminal(int(file.Fd())),
	}
}

// say prints lines for people to stdout, unless --quiet.
func (e *env) say(lines ...string) {
	if e.quiet {
		return
	}
	for _, line := range lines {
		fmt.Fprintln(e.stdout, line)
	}
}
