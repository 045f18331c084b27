package main

import "github.com/dustin/go-humanize"

// humanBytes formats a number of bytes with three digits: 999 B, 1.00 kB, 42.0 GB. A kB is 1,000
// bytes.
func humanBytes(n int64) string { return humanize.BytesN(uint64(n), 3) }

// humanCount formats a number with thousands separators: 332,313.
func humanCount(n int) string { return humanize.Comma(int64(n)) }
