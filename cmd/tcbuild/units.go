package main

import "github.com/dustin/go-humanize"

// humanBytes writes a number of bytes with two digits or more: 999 B, 1.0 kB, 42 GB. A kB is 1,000 bytes.
func humanBytes(n int64) string { return humanize.Bytes(uint64(n)) }

// humanCount writes a number with its thousands separated: 332,313.
func humanCount(n int) string { return humanize.Comma(int64(n)) }
