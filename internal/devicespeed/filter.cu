// Launched by Filter (filter.go).
#include "kernel.h"

// Four features that are loaded and stored together. A row of a feature matrix has 16 of these.
struct alignas(16) Features {
    float x, y, z, w;
};
static const u64 row_vectors = 16;

// multiply_rows multiplies each row of a feature matrix by the mask of its edge.
//
// One thread per four features (x).
KERNEL multiply_rows(const Features *features, const u8 *mask, u64 edges, Features *out) {
    u64 at = block_x() * threads_x() + thread_x();
    if (at >= edges * row_vectors) return;
    float factor = mask[at / row_vectors];
    Features f = features[at];
    out[at] = {f.x * factor, f.y * factor, f.z * factor, f.w * factor};
}

// Edges are compacted in chunks of 64; 256 chunks are a group.
static const u64 chunk_edges = 64, group_chunks = 256;

// count_kept counts the edges that the mask keeps: counts by chunk, and sums, initially zero, by
// group.
//
// One thread per chunk (x).
KERNEL count_kept(const u8 *mask, u64 edges, u32 *counts, u32 *sums) {
    u64 chunk = block_x() * threads_x() + thread_x();
    u64 edge = chunk * chunk_edges, end = edge + chunk_edges < edges ? edge + chunk_edges : edges;
    if (edge >= edges) return;
    u32 kept = 0;
    for (; edge < end; edge++) kept += mask[edge];
    counts[chunk] = kept;
    atomic_add(sums + chunk / group_chunks, kept);
}

// compact_edges lists the edges that the mask keeps, in order: their indices and both ends. total
// becomes their number.
//
// One thread per chunk (x).
KERNEL compact_edges(const u8 *mask, const u32 *src, const u32 *dst, u64 edges, const u32 *counts, const u32 *sums,
                     u32 *kept, u32 *kept_src, u32 *kept_dst, u64 *total) {
    u64 chunk = block_x() * threads_x() + thread_x();
    u64 edge = chunk * chunk_edges, end = edge + chunk_edges < edges ? edge + chunk_edges : edges;
    if (edge >= edges) return;
    u64 group = chunk / group_chunks, to = 0;
    for (u64 g = 0; g < group; g++) to += sums[g];
    for (u64 c = group * group_chunks; c < chunk; c++) to += counts[c];
    for (; edge < end; edge++) {
        if (!mask[edge]) continue;
        kept[to] = edge;
        kept_src[to] = src[edge];
        kept_dst[to] = dst[edge];
        to++;
    }
    if (end == edges) *total = to;
}

// gather_rows copies the rows of the kept edges to the beginning of out.
//
// One thread per four features (x) of as many rows as there are edges.
KERNEL gather_rows(const Features *features, const u32 *kept, const u64 *total, Features *out) {
    u64 at = block_x() * threads_x() + thread_x();
    if (at >= *total * row_vectors) return;
    out[at] = features[kept[at / row_vectors] * row_vectors + at % row_vectors];
}
