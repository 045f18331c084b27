// Launched by Compare (compare_cuda.go).
#include "kernel.h"

// compare_bits compares the bits of scatter.cu with those looked up: position p is removed in the
// samples of word src[p] or dst[p], the words of words.cu. For an edge these are its relevant ends,
// for a node the node itself. Without words, nothing is removed. Mask m has the positions starts[m]
// .. starts[m+1).
//
// In differs, a bit for each sample, the samples with a difference are added. If clear is not 0, no
// bit is left set. removed, unless it is null, counts the looked up removals of each mask.
//
// Several blocks (x) for each mask (y). A thread takes four positions at a time, of which the first
// is in the mask, in all samples.
KERNEL compare_bits(const u32 *src, const u32 *dst, const u32 *words, u64 nodes, u32 *bits, u64 stride, u64 groups,
                    u64 clear, const u32 *starts, u64 *removed, u32 *differs) {
    u64 mask = block_y(), end = starts[mask + 1];
    u64 at = (starts[mask] + 3) / 4 * 4 + 4 * (block_x() * threads_x() + thread_x());
    u32 count = 0;
    for (; at < end; at += 4 * blocks_x() * threads_x()) {
        Words s = {}, d = {};
        if (words) s = *(const Words *)(src + at), d = *(const Words *)(dst + at);
        for (u64 group = 0; group < groups; group++) {
            Words e = {};
            if (words) {
                const u32 *word = words + group * nodes;
                e = {word[s.x] | word[d.x], word[s.y] | word[d.y], word[s.z] | word[d.z], word[s.w] | word[d.w]};
            }
            Words *found = (Words *)(bits + group * stride + at);
            Words f = *found;
            if (u32 differ = (e.x ^ f.x) | (e.y ^ f.y) | (e.z ^ f.z) | (e.w ^ f.w)) atomic_or(differs + group, differ);
            if (clear && (f.x | f.y | f.z | f.w)) *found = Words{};
            if (!removed) continue;
            count += bits_set(e.x);
            const u32 others[] = {e.y, e.z, e.w};
            u64 other = mask;
            for (u64 j = 0; j < 3; j++) {
                if (at + 1 + j < end) {
                    count += bits_set(others[j]);
                } else if (others[j]) { // of a later mask
                    while (at + 1 + j >= starts[other + 1]) other++;
                    atomic_add(removed + other, bits_set(others[j]));
                }
            }
        }
    }
    if (removed) add_of_warp(removed + mask, count);
}
