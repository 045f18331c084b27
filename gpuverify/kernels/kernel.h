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
DEVICE u64 block_z() { return __nvvm_read_ptx_sreg_ctaid_z(); }
DEVICE u64 blocks_y() { return __nvvm_read_ptx_sreg_nctaid_y(); }
DEVICE u64 blocks_z() { return __nvvm_read_ptx_sreg_nctaid_z(); }

DEVICE void atomic_add(u32 *at, u32 value) { __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
DEVICE void atomic_or(u32 *at, u32 value) { __atomic_fetch_or(at, value, __ATOMIC_RELAXED); }
DEVICE void atomic_min(u64 *at, u64 value) { __atomic_fetch_min(at, value, __ATOMIC_RELAXED); }

#else

#include "host.h" // the same names for the host: ../fakedriver/src

#endif

DEVICE u32 bits_set(u32 word) { return __builtin_popcount(word); }
