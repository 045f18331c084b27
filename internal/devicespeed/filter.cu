// Launched by filterKernels (filterkernel.go). In removed, bit 0 of an edge's word is set if the sample
// removes it.
#include "kernel.h"

// Four features that are loaded together. A node has 16 of these.
struct alignas(16) Features {
    float x, y, z, w;
};
static const u64 node_vectors = 16;

// pass_messages adds the features of each edge's source to its target in out, times the edge's mask:
// 1 kept, 0 removed. Without removed, all are kept.
//
// One thread per four features (x) of at least edges[0] edges.
KERNEL pass_messages(const Features *features, const u32 *src, const u32 *dst, const u64 *edges, const u32 *removed,
                     Features *out) {
    u64 at = block_x() * threads_x() + thread_x();
    u64 edge = at / node_vectors, vector = at % node_vectors;
    if (edge >= *edges) return;
    float factor = removed ? !(removed[edge] & 1) : 1;
    Features f = features[src[edge] * node_vectors + vector];
    Features *to = out + dst[edge] * node_vectors + vector;
    atomic_add(&to->x, f.x * factor);
    atomic_add(&to->y, f.y * factor);
    atomic_add(&to->z, f.z * factor);
    atomic_add(&to->w, f.w * factor);
}

// Edges are compacted in chunks of 64; 256 chunks are a group.
static const u64 chunk_edges = 64, group_chunks = 256;

// count_kept counts the edges that are kept: counts by chunk, and sums, initially zero, by
// group.
//
// One thread per chunk (x).
KERNEL count_kept(const u32 *removed, u64 edges, u32 *counts, u32 *sums) {
    u64 chunk = block_x() * threads_x() + thread_x();
    u64 edge = chunk * chunk_edges, end = edge + chunk_edges < edges ? edge + chunk_edges : edges;
    if (edge >= edges) return;
    u32 kept = 0;
    for (; edge < end; edge++) kept += !(removed[edge] & 1);
    counts[chunk] = kept;
    atomic_add(sums + chunk / group_chunks, kept);
}

// compact_edges lists both ends of the edges that are kept, in order. total becomes their number.
//
// One thread per chunk (x).
KERNEL compact_edges(const u32 *removed, const u32 *src, const u32 *dst, u64 edges, const u32 *counts, const u32 *sums,
                     u32 *kept_src, u32 *kept_dst, u64 *total) {
    u64 chunk = block_x() * threads_x() + thread_x();
    u64 edge = chunk * chunk_edges, end = edge + chunk_edges < edges ? edge + chunk_edges : edges;
    if (edge >= edges) return;
    u64 group = chunk / group_chunks, to = 0;
    for (u64 g = 0; g < group; g++) to += sums[g];
    for (u64 c = group * group_chunks; c < chunk; c++) to += counts[c];
    for (; edge < end; edge++) {
        if (removed[edge] & 1) continue;
        kept_src[to] = src[edge];
        kept_dst[to] = dst[edge];
        to++;
    }
    if (end == edges) *total = to;
}
