package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bmatsuo/lmdb-go/lmdb"
	"golang.org/x/sys/unix"
)

// commitBytes is how many bytes of values a write transaction holds before it is committed; a
// larger value gets its own transaction. LMDB keeps them in memory until then. It writes them in
// one call, and Linux (6.18) drops to a fifth of its speed if a call writes much more.
const commitBytes = 4 << 20

// writeBackBytes is how much a shard grows before its new pages are sent to disk.
const writeBackBytes = 64 << 20

// LMDBVersion returns the version of the LMDB library that writes shards, as 0.9.24.
func LMDBVersion() string {
	major, minor, patch, _ := lmdb.Version()
	return fmt.Sprintf("%d.%d.%d", major, minor, patch)
}

// shardWriter appends values to a shard's LMDB. All its calls must come from one OS thread, because
// LMDB's write transactions are bound to one.
//
// The environment is reopened for each transaction, so that the file's bytes depend on the values
// alone. Nothing is synced before the shard is complete.
type shardWriter struct {
	dir     string
	env     *lmdb.Env // nil between transactions
	txn     *lmdb.Txn
	dbi     lmdb.DBI
	pending int
	started int64 // bytes of the file whose write-back has started
}

// Put appends a value, keyed by its first sample.
func (w *shardWriter) Put(first int, value []byte) error {
	if w.txn != nil && w.pending+len(value) > commitBytes {
		if err := w.Commit(); err != nil {
			return err
		}
	}
	if w.txn == nil {
		if err := w.begin(len(value)); err != nil {
			return err
		}
	}
	var key [8]byte
	binary.BigEndian.PutUint64(key[:], uint64(first))
	if err := w.txn.Put(w.dbi, key[:], value, lmdb.Append); err != nil {
		return w.failed("append sample", err)
	}
	w.pending += len(value)
	return nil
}

// begin opens a transaction with room for commitBytes, or for one value of valueBytes if that is
// more.
func (w *shardWriter) begin(valueBytes int) error {
	var used int64
	if info, err := os.Stat(filepath.Join(w.dir, dataName)); err == nil {
		used = info.Size()
	}
	// At least a third of each page is payload, whatever the values' sizes; the rest is for the
	// tree.
	room := 3*int64(max(commitBytes, valueBytes)) + 1<<20
	env, err := lmdb.NewEnv()
	if err != nil {
		return w.failed("open", err)
	}
	if err := errors.Join(
		env.SetMapSize((used+room+1<<20)&^(1<<20-1)),
		env.Open(w.dir, lmdb.NoLock|lmdb.NoSync|lmdb.NoTLS, 0o666),
	); err != nil {
		env.Close()
		return w.failed("open", err)
	}
	txn, err := env.BeginTxn(nil, 0)
	if err != nil {
		env.Close()
		return w.failed("begin", err)
	}
	dbi, err := txn.OpenRoot(0)
	if err != nil {
		txn.Abort()
		env.Close()
		return w.failed("begin", err)
	}
	w.env, w.txn, w.dbi, w.pending = env, txn, dbi, 0
	return nil
}

// Commit ends writing: everything that was put is in the file, not yet synced.
func (w *shardWriter) Commit() error {
	if w.txn == nil {
		return nil
	}
	err := w.txn.Commit()
	if err == nil {
		w.startWriteBack()
	}
	w.env.Close()
	w.env, w.txn = nil, nil
	if err != nil {
		return w.failed("commit", err)
	}
	return nil
}

// startWriteBack tells the kernel to start writing committed pages, every writeBackBytes. The disk
// then works while the shard grows, and the final sync has little left to do. It is only a hint:
// that sync reports any error.
func (w *shardWriter) startWriteBack() {
	var file unix.Stat_t
	fd, err := w.env.FD()
	if err != nil || unix.Fstat(int(fd), &file) != nil || file.Size-w.started < writeBackBytes {
		return
	}
	_ = unix.SyncFileRange(int(fd), w.started, file.Size-w.started, unix.SYNC_FILE_RANGE_WRITE)
	w.started = file.Size
}

// abort drops uncommitted values.
func (w *shardWriter) abort() {
	if w.txn != nil {
		w.txn.Abort()
		w.env.Close()
		w.env, w.txn = nil, nil
	}
}

func (w *shardWriter) failed(doing string, err error) error {
	if op, ok := errors.AsType[*lmdb.OpError](err); ok {
		err = op.Errno // it has no Unwrap
	}
	var disk unix.Statfs_t
	if errors.Is(err, syscall.EIO) && unix.Statfs(w.dir, &disk) == nil {
		if disk.Bavail*uint64(disk.Bsize) < 1<<20 {
			err = syscall.ENOSPC // LMDB reports a write cut short by a full disk as an I/O error
		}
	}
	return fmt.Errorf("%s shard %s: %w", doing, w.dir, err)
}

const dataName = "data.mdb"
