// Launched by ByEdges (byedges.go).
#include "kernel.h"

// column packs byte m of four words into one word, with word j's in byte j.
DEVICE u32 column(const u32 *words, int m) {
    u32 packed = 0;
    for (int j = 0; j < 4; j++) packed |= (words[j] >> (8 * m) & 0xFF) << (8 * j);
    return packed;
}

// look_up_edges writes the masks of every sample from the words of words.cu: position p is removed
// if node src[p] or dst[p] is. For an edge these are its relevant ends, for a node the node itself.
// There are stride positions, a multiple of 16; it reads no sample's masks.
//
// One thread per 16 positions (x) of 32 samples (y).
KERNEL look_up_edges(const u32 *src, const u32 *dst, const u32 *words, u64 nodes, u64 samples, u8 *masks, u64 stride) {
    u64 position = 16 * (block_x() * threads_x() + thread_x());
    if (position >= stride) return;
    const u32 *group = words + block_y() * nodes;
    u32 removed[16];
#pragma unroll
    for (int j = 0; j < 16; j += 4) {
        Words s = *(const Words *)(src + position + j), d = *(const Words *)(dst + position + j);
        removed[j] = group[s.x] | group[d.x];
        removed[j + 1] = group[s.y] | group[d.y];
        removed[j + 2] = group[s.z] | group[d.z];
        removed[j + 3] = group[s.w] | group[d.w];
    }
    u64 first = 32 * block_y();
    u8 *mask = masks + first * stride + position;
#pragma unroll
    for (int m = 0; m < 4; m++) {
        // byte j of q[i] has the bits of position 4i+j in samples 8m to 8m+7
        u32 q[4] = {column(removed, m), column(removed + 4, m), column(removed + 8, m), column(removed + 12, m)};
#pragma unroll
        for (int bit = 0; bit < 8; bit++) {
            u64 sample = 8 * m + bit;
            if (first + sample >= samples) return;
            const u32 ones = 0x01010101;
            *(Words *)(mask + sample * stride) =
                Words{~(q[0] >> bit) & ones, ~(q[1] >> bit) & ones, ~(q[2] >> bit) & ones, ~(q[3] >> bit) & ones};
        }
    }
}
