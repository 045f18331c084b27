// Package distinct counts the different keys among many, such as hashes of sample ids: 8 bytes for
// each key of 8 bytes, where a map takes 40. Keys are collected first:
//
//	7a03… 10f2… 7a51… 7a03…
//
// in 256 buckets, so that no growth copies more than a small part of them. In the end each bucket
// is sorted, on all cores; equal keys are then side by side:
//
//	10f2…   7a03… 7a03… 7a51…
package distinct

import (
	"cmp"
	"iter"
	"runtime"
	"slices"
	"sync"
)

// Hash is a key of 64 bits, which different things may share.
type Hash uint64

// Key is 128 bits that are different for different things.
type Key [2]uint64

func (h Hash) bucket() uint8 { return uint8(h >> 56) }

// bucket multiplies the bits into the first ones: keys may begin alike.
func (k Key) bucket() uint8 { return uint8((k[0] ^ k[1]) * 0x9e3779b97f4a7c15 >> 56) }

func (h Hash) compare(other Hash) int { return cmp.Compare(h, other) }

func (k Key) compare(other Key) int {
	if k[0] != other[0] {
		return cmp.Compare(k[0], other[0])
	}
	return cmp.Compare(k[1], other[1])
}

type key[K any] interface {
	comparable
	bucket() uint8
	compare(other K) int
}

// chunkKeys is the number of keys in a full chunk. A bucket is a list of chunks.
const chunkKeys = 1 << 10

// Keys are keys that were added. The zero value is empty.
type Keys[K key[K]] struct {
	buckets [256][][]K
}

// Add adds a key.
func (k *Keys[K]) Add(key K) {
	bucket := &k.buckets[key.bucket()]
	last := len(*bucket) - 1
	if last < 0 || len((*bucket)[last]) >= chunkKeys {
		var chunk []K
		if last >= 0 {
			chunk = make([]K, 0, chunkKeys)
		}
		*bucket = append(*bucket, chunk)
		last++
	}
	(*bucket)[last] = append((*bucket)[last], key)
}

// All sorts the keys, and yields each different one with how often it was added.
func (k *Keys[K]) All() iter.Seq2[K, int] {
	k.sort()
	return func(yield func(K, int) bool) {
		for _, bucket := range k.buckets {
			for _, keys := range bucket {
				for start, end := 0, 0; start < len(keys); start = end {
					for end = start + 1; end < len(keys) && keys[end] == keys[start]; end++ {
					}
					if !yield(keys[start], end-start) {
						return
					}
				}
			}
		}
	}
}

// sort makes one sorted chunk of each bucket.
func (k *Keys[K]) sort() {
	next := make(chan *[][]K)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(k.buckets)) {
		workers.Go(func() {
			for bucket := range next {
				keys := slices.Concat(*bucket...)
				slices.SortFunc(keys, K.compare)
				*bucket = [][]K{keys}
			}
		})
	}
	for b := range k.buckets {
		next <- &k.buckets[b]
	}
	close(next)
	workers.Wait()
}
