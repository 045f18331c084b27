package store

import (
	"os"
	"runtime"
	"runtime/debug"
)

// readable reads a byte of each page of mapped memory, and with it the page from the disk. What the disk does not give, or
// what lies behind the end of a file that became shorter, would end the process where it is used; here it is found.
func readable(mapped []byte) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { ok = recover() == nil }()
	var read byte
	for at := 0; at < len(mapped); at += os.Getpagesize() {
		read |= mapped[at]
	}
	if len(mapped) > 0 {
		read |= mapped[len(mapped)-1]
	}
	runtime.KeepAlive(read) // so that it is read at all
	return true
}
