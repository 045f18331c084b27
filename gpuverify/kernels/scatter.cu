// Launched by Scatter (scatter_cuda.go).
//
// Masks are bits: bit s%32 of bits[s/32*stride + p] is set if sample s removes position p of the
// mask space.
#include "kernel.h"

// scatter_genes sets the bits of the positions at the deleted genes of each sample:
// perturbation_indices[ptr[s] .. ptr[s+1]) for sample s. Row g of the incidence,
// positions[offsets[g] .. offsets[g+1]), has the positions that gene g removes.
//
// One block per deleted gene (x).
KERNEL scatter_genes(const i64 *perturbation_indices, const i64 *ptr, u64 samples, const u32 *offsets, const u32 *positions,
                     u32 *bits, u64 stride) {
    i64 entry = block_x();
    u64 sample = 0; // the last one that begins at the entry or before it
    for (u64 above = samples; above - sample > 1;) {
        u64 middle = (sample + above) / 2;
        if (ptr[middle] <= entry) sample = middle;
        else above = middle;
    }
    i64 gene = perturbation_indices[entry];
    u32 *group = bits + sample / 32 * stride;
    for (u64 i = offsets[gene] + thread_x(); i < offsets[gene + 1]; i += threads_x()) {
        atomic_or(group + positions[i], 1u << (sample % 32));
    }
}

// scatter_reactions sets the bits of the positions at the removed reactions: row r of the incidence
// for reaction r, in the samples of bits removed[group * removed_stride + r].
//
// One thread per reaction (x) and 32 samples (y).
KERNEL scatter_reactions(const u32 *removed, u64 removed_stride, u64 reactions, const u32 *offsets, const u32 *positions,
                         u32 *bits, u64 stride) {
    u64 reaction = block_x() * threads_x() + thread_x();
    if (reaction >= reactions) return;
    u32 samples = removed[block_y() * removed_stride + reaction];
    if (!samples) return;
    u32 *group = bits + block_y() * stride;
    for (u32 i = offsets[reaction]; i < offsets[reaction + 1]; i++) atomic_or(group + positions[i], samples);
}

// toggle_stored toggles the bits of the positions that are stored as removed, each once: those of
// sample s are removed[ends[s] .. ends[s+1]). Of a sample whose bits were those, none is left.
//
// One block per sample (x).
KERNEL toggle_stored(const u32 *removed, const i64 *ends, u32 *bits, u64 stride) {
    u64 sample = block_x();
    u32 *group = bits + sample / 32 * stride;
    for (i64 i = ends[sample] + (i64)thread_x(); i < ends[sample + 1]; i += threads_x()) {
        if (removed[i] < stride) atomic_xor(group + removed[i], 1u << (sample % 32));
    }
}
