package main

/*
#include <fcntl.h>

static int access_mode = -1;

// Go's runtime, which begins later, opens /dev/null in place of a closed stdout.
__attribute__((constructor)) static void look(void) {
	int flags = fcntl(1, F_GETFL);
	if (flags != -1)
		access_mode = flags & O_ACCMODE;
}

static int is_writable(void) { return access_mode == O_WRONLY || access_mode == O_RDWR; }
*/
import "C"

import (
	"os"

	"tcbuild/fault"
)

// checkStdout returns an error if stdout was closed, or is not open for writing: what a command
// prints would be lost.
func checkStdout() error {
	if C.is_writable() != 0 {
		return nil
	}
	return fault.New(fault.Failed, "redirect it to a file, or to /dev/null",
		"write to stdout: %w", os.ErrClosed)
}
