package inputfile

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// stamp is what changes with every change of a file.
type stamp struct {
	device, inode uint64
	size          int64
	// of the last modification of the content, which programs can set, and of the last change of
	// anything, which they cannot
	modified, changed time.Time
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), modified: info.ModTime()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		s.device, s.inode, s.changed = stat.Dev, stat.Ino, time.Unix(stat.Ctim.Unix())
	}
	return s
}

// ClockTick is longer than the time between two ticks of the clock that a file system takes times
// from: 10 ms at the slowest. Tests that read thousands of files just after they wrote them, and
// change none meanwhile, set it to 0.
var ClockTick = 20 * time.Millisecond

// unsettled is how long to wait until the next change of the file is sure to have another time.
// Where times are whole seconds, that takes up to 2 s. The wait is also short where a file server's
// clock is ahead.
func (s stamp) unsettled(now time.Time) time.Duration {
	tick := ClockTick
	if s.changed.Nanosecond() == 0 {
		tick = 2 * time.Second
	}
	return min(tick, s.changed.Add(tick).Sub(now))
}

// difference says how a file differs from what it was before; "" if it does not.
func (s stamp) difference(now stamp) string {
	switch {
	case now.device != s.device || now.inode != s.inode:
		return "it was replaced by another file"
	case now.size != s.size:
		return fmt.Sprintf("found %d bytes, expected %d", now.size, s.size)
	case !now.modified.Equal(s.modified) || !now.changed.Equal(s.changed):
		return fmt.Sprintf("it was written to, or its status changed, at %s", now.changed.Format("15:04:05.000"))
	}
	return ""
}
