package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bmatsuo/lmdb-go/lmdb"
	"golang.org/x/sys/unix"

	"tcbuild/encode"
	"tcbuild/internal/fault"
)

// commitBytes is how many bytes of values a write transaction takes before it is committed; a value that is
// larger has one of its own. LMDB holds them in memory until then, and an interrupted build loses no more than
// these. LMDB writes them in one call, and Linux (6.18) slows down to a fifth where a call writes much more.
const commitBytes = 4 << 20

// writeBackBytes is how much a shard grows before what is new in it is sent to the disk.
const writeBackBytes = 64 << 20

// shardWriter appends values to a shard's LMDB. All its calls must come from one
// OS thread, as LMDB's write transactions belong to one.
//
// The environment is opened anew for each transaction: so the file's bytes follow from the values
// alone, and a resumed build writes the same file as an undisturbed one. Nothing is synced
// before the shard is complete.
type shardWriter struct {
	dir     string
	env     *lmdb.Env // nil between transactions
	txn     *lmdb.Txn
	dbi     lmdb.DBI
	pending int
	started int64 // bytes of the file that are on their way to the disk
}

// openShardWriter goes on with the shard in dir, or starts one. next is the first sample that
// it does not hold yet.
func openShardWriter(dir string, shard ShardRange, manifest *Manifest) (w *shardWriter, next int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, 0, err
	}
	next, size, err := shardProgress(dir, shard, manifest)
	if err != nil {
		return nil, 0, err
	}
	// A process that is killed in a commit leaves pages that are no part of the tree. They would
	// count for the next map size, which LMDB keeps in the file.
	data := filepath.Join(dir, dataName)
	if info, err := os.Stat(data); err == nil && info.Size() > size {
		if err := os.Truncate(data, size); err != nil {
			return nil, 0, err
		}
	}
	return &shardWriter{dir: dir}, next, nil
}

// put appends a value under the index of its first sample.
func (w *shardWriter) put(first int, value []byte) error {
	if w.txn != nil && w.pending+len(value) > commitBytes {
		if err := w.commit(); err != nil {
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

// begin opens a transaction with room for commitBytes, or for one value of valueBytes if that is more.
func (w *shardWriter) begin(valueBytes int) error {
	var used int64
	if info, err := os.Stat(filepath.Join(w.dir, dataName)); err == nil {
		used = info.Size()
	}
	// Pages hold at least a third of payload, whatever the values' sizes; the rest is for the tree.
	room := 3*int64(max(commitBytes, valueBytes)) + 1<<20
	env, err := lmdb.NewEnv()
	if err != nil {
		return w.failed("open", err)
	}
	if err := errors.Join(
		env.SetMapSize((used+room+1<<20)&^(1<<20-1)),
		env.Open(w.dir, lmdb.NoLock|lmdb.NoSync|lmdb.NoTLS, 0o644),
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

func (w *shardWriter) commit() error {
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

// startWriteBack has the kernel begin to write what is committed, every writeBackBytes: the disk is at
// work while the shard grows, and the sync at its end finds little to do. It is a hint: what goes wrong is found by that sync.
func (w *shardWriter) startWriteBack() {
	var file unix.Stat_t
	fd, err := w.env.FD()
	if err != nil || unix.Fstat(int(fd), &file) != nil || file.Size-w.started < writeBackBytes {
		return
	}
	_ = unix.SyncFileRange(int(fd), w.started, file.Size-w.started, unix.SYNC_FILE_RANGE_WRITE)
	w.started = file.Size
}

// abort drops what is not committed.
func (w *shardWriter) abort() {
	if w.txn != nil {
		w.txn.Abort()
		w.env.Close()
		w.env, w.txn = nil, nil
	}
}

func (w *shardWriter) failed(doing string, err error) error {
	if op, ok := errors.AsType[*lmdb.OpError](err); ok {
		err = op.Errno // it does not unwrap itself
	}
	var disk unix.Statfs_t
	if errors.Is(err, syscall.EIO) && unix.Statfs(w.dir, &disk) == nil && disk.Bavail*uint64(disk.Bsize) < 1<<20 {
		err = syscall.ENOSPC // LMDB calls a write that the end of the disk cut short an I/O error
	}
	return fmt.Errorf("%s shard %s: %w", doing, w.dir, err)
}

const dataName = "data.mdb"

// shardProgress returns the first sample that the shard in dir does not hold yet, and how many bytes
// of its file are committed.
func shardProgress(dir string, shard ShardRange, manifest *Manifest) (next int, size int64, err error) {
	switch info, err := os.Stat(filepath.Join(dir, dataName)); {
	case errors.Is(err, fs.ErrNotExist):
		return shard.First, 0, nil
	case err != nil:
		return 0, 0, err
	case info.Size() < int64(2*os.Getpagesize()): // not even LMDB's meta pages
		return shard.First, 0, nil
	}
	env, err := openReadOnly(dir)
	if err != nil {
		return 0, 0, err
	}
	defer env.Close()
	info, err1 := env.Info()
	stat, err2 := env.Stat()
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, err
	}
	err = env.View(func(txn *lmdb.Txn) error {
		txn.RawRead = true
		dbi, err := txn.OpenRoot(0)
		if err != nil {
			return err
		}
		cursor, err := txn.OpenCursor(dbi)
		if err != nil {
			return err
		}
		defer cursor.Close()
		key, value, err := cursor.Get(nil, nil, lmdb.Last)
		if lmdb.IsNotFound(err) {
			next = shard.First
			return nil
		}
		if err != nil {
			return err
		}
		next, err = checkLast(key, value, shard, manifest)
		return err
	})
	if err != nil {
		return 0, 0, fault.New(fault.Damaged, "run again with --resume never to start from the beginning", "resume shard %s: %w", dir, err)
	}
	return next, (info.LastPNO + 1) * int64(stat.PSize), nil
}

// checkLast checks a shard's last value and returns the sample behind it.
func checkLast(key, value []byte, shard ShardRange, manifest *Manifest) (next int, err error) {
	if len(key) != 8 || len(value) < 4 {
		return 0, fmt.Errorf("its last key has %d bytes (expected 8): %w", len(key), encode.ErrDamaged)
	}
	first, count := int(binary.BigEndian.Uint64(key)), int(binary.LittleEndian.Uint32(value))
	next = first + count
	if first < shard.First || next > shard.First+shard.Samples || (first-shard.First)%manifest.SamplesPerValue != 0 {
		return 0, fmt.Errorf("its last value holds samples %d to %d of %d to %d: %w",
			first, next-1, shard.First, shard.First+shard.Samples-1, encode.ErrDamaged)
	}
	parsed, err := encode.ParseValue(value, manifest.Seed(), first, count)
	for i := 0; i < count && err == nil; i++ {
		_, err = parsed.Record(i, len(manifest.Phenotypes), new(encode.Record))
	}
	return next, err
}

// openReadOnly opens the LMDB in dir as a reader of a published dataset does: no lock file.
func openReadOnly(dir string) (*lmdb.Env, error) {
	env, err := lmdb.NewEnv()
	if err != nil {
		return nil, err
	}
	if err := env.Open(dir, lmdb.Readonly|lmdb.NoLock|lmdb.NoTLS, 0o644); err != nil {
		env.Close()
		return nil, fmt.Errorf("open LMDB %s: %w", dir, err)
	}
	return env, nil
}
