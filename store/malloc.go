package store

// #include <stdlib.h>
// #ifdef __GLIBC__
// #include <malloc.h>
// // LMDB allocates megabytes of pages for each transaction and frees them at its end. By default
// // glibc may return them to the system, depending on the calling thread's heap. Each page is then
// // faulted in and cleared again for the next transaction, which takes longer than filling it.
// static void keep_freed_memory(void) {
// 	mallopt(M_MMAP_THRESHOLD, 32 << 20);
// 	mallopt(M_TRIM_THRESHOLD, 64 << 20);
// }
// #else
// static void keep_freed_memory(void) {}
// #endif
import "C"

func init() { C.keep_freed_memory() }
