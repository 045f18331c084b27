// Launched by Expand (expand.go).
#include "kernel.h"

// expand_removed clears, in masks of ones, the removed positions of each sample: removed[ends[s] ..
// ends[s+1]) for sample s. Sample s's masks begin at masks + s*stride.
//
// One block per sample (x).
KERNEL expand_removed(const u32 *removed, const i64 *ends, u8 *masks, u64 stride) {
    u64 sample = block_x();
    u8 *mask = masks + sample * stride;
    for (i64 i = ends[sample] + (i64)thread_x(); i < ends[sample + 1]; i += threads_x()) {
        if (removed[i] < stride) mask[removed[i]] = 0;
    }
}
