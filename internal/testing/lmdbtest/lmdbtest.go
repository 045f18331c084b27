// Package lmdbtest makes LMDB environments for tests, with LMDB's own library.
package lmdbtest

import (
	"errors"
	"iter"
	"os"
	"slices"
	"testing"

	"github.com/bmatsuo/lmdb-go/lmdb"
)

// Write makes an environment in a folder, or adds to one. It puts the entries in order, and commits
// every 500, so that trees grow as in long use.
func Write(t testing.TB, dir string, entries iter.Seq2[string, string]) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	env, err := lmdb.NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	if err := errors.Join(env.SetMapSize(1<<30), env.Open(dir, lmdb.NoSync, 0o644)); err != nil {
		t.Fatal(err)
	}
	type entry struct{ key, value string }
	var all []entry
	for key, value := range entries {
		all = append(all, entry{key, value})
	}
	for part := range slices.Chunk(all, 500) {
		err := env.Update(func(txn *lmdb.Txn) error {
			dbi, err := txn.OpenRoot(0)
			for _, e := range part {
				err = errors.Join(err, txn.Put(dbi, []byte(e.key), []byte(e.value), 0))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
