// What the kernels need from their compiler: clang without a CUDA toolkit for the GPU, and any C++
// compiler for the tests' driver, which runs the same source on the host, one thread at a time.
//
// Every kernel parameter is 64 bits wide, because gorgonia.org/cu reads 8 bytes for each.
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// Four words that are loaded and stored together; aligned to 16 bytes.
struct alignas(16) Words {
    u32 x, y, z, w;
};

#ifdef __CUDA__

#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static __attribute__((device)) inline

DEVICE u64 thread_x() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE u64 threads_x() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE u64 block_x() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u64 block_y() { return __nvvm_read_ptx_sreg_ctaid_y(); }
DEVICE u64 blocks_x() { return __nvvm_read_ptx_sreg_nctaid_x(); }

DEVICE void atomic_add(u32 *at, u32 value) { __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
DEVICE void atomic_add(u64 *at, u64 value) { __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
DEVICE void atomic_add(float *at, float value) { __nvvm_atom_add_gen_f(at, value); }
DEVICE void atomic_or(u32 *at, u32 value) { __atomic_fetch_or(at, value, __ATOMIC_RELAXED); }
DEVICE void atomic_xor(u32 *at, u32 value) { __atomic_fetch_xor(at, value, __ATOMIC_RELAXED); }

// add_of_warp adds the values of all threads of a warp, all of which must call it, by one atomic.
DEVICE void add_of_warp(u64 *at, u32 value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __nvvm_shfl_sync_bfly_i32(~0u, value, distance, 31);
    if (thread_x() % 32 == 0 && value) atomic_add(at, value);
}

#else

#include "host.h" // the same names for the host: internal/testing/fakedriver/src

#endif

DEVICE u32 bits_set(u32 word) { return __builtin_popcount(word); }
