package store

// #include <stdlib.h>
// #ifdef __GLIBC__
// #include <malloc.h>
// // LMDB allocates the pages of each transaction, megabytes, and frees them at its end. By its defaults glibc gives
// // them back to the system then, or not, as the calling thread's heap happens to lie; each of their pages is
// // faulted in and cleared again for the next transaction, which takes longer than to fill it.
// static void keep_freed_memory(void) {
// 	mallopt(M_MMAP_THRESHOLD, 32 << 20);
// 	mallopt(M_TRIM_THRESHOLD, 64 << 20);
// }
// #else
// static void keep_freed_memory(void) {}
// #endif
import "C"

func init() { C.keep_freed_memory() }
