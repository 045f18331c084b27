// The counterpart of kernel.h's GPU definitions for a host that runs the threads of a kernel one
// after the other.
#pragma once

#define KERNEL static void
#define DEVICE static inline

// Position of the running thread in its grid.
struct Place {
    u64 thread_x, threads_x, block_x, block_y, blocks_x;
};
inline Place here;

DEVICE u64 thread_x() { return here.thread_x; }
DEVICE u64 threads_x() { return here.threads_x; }
DEVICE u64 block_x() { return here.block_x; }
DEVICE u64 block_y() { return here.block_y; }
DEVICE u64 blocks_x() { return here.blocks_x; }

DEVICE void atomic_add(u32 *at, u32 value) { *at += value; }
DEVICE void atomic_add(u64 *at, u64 value) { *at += value; }
DEVICE void atomic_add(float *at, float value) { *at += value; }
DEVICE void atomic_or(u32 *at, u32 value) { *at |= value; }
DEVICE void atomic_xor(u32 *at, u32 value) { *at ^= value; }
DEVICE void add_of_warp(u64 *at, u32 value) { *at += value; }
