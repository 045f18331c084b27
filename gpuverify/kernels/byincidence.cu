// Launched by ByIncidence (byincidence.go).
#include "kernel.h"

// scatter_genes clears, in masks of ones, the positions at the deleted genes of each sample:
// perturbation_indices[ptr[s] .. ptr[s+1]) for sample s. Row g of the incidence,
// positions[offsets[g] .. offsets[g+1]), has the positions that gene g removes.
//
// Several blocks per sample (x), which share its rows (y).
KERNEL scatter_genes(const i64 *perturbation_indices, const i64 *ptr, const u32 *offsets, const u32 *positions,
                     u8 *masks, u64 stride) {
    u64 sample = block_x();
    u8 *mask = masks + sample * stride;
    for (i64 entry = ptr[sample]; entry < ptr[sample + 1]; entry++) {
        i64 gene = perturbation_indices[entry];
        u64 end = offsets[gene + 1];
        for (u64 i = offsets[gene] + block_y() * threads_x() + thread_x(); i < end; i += blocks_y() * threads_x()) {
            mask[positions[i]] = 0;
        }
    }
}

// scatter_rules clears the reactions, which begin at position start, whose rule is false: bit s%32
// of words[s/32*nodes + first + r] is set if sample s removes reaction r.
//
// One thread per reaction (x) and sample (y).
KERNEL scatter_rules(const u32 *words, u64 nodes, u64 first, u64 start, u64 reactions, u8 *masks, u64 stride) {
    u64 reaction = block_x() * threads_x() + thread_x();
    u64 sample = block_y();
    if (reaction >= reactions) return;
    if (words[sample / 32 * nodes + first + reaction] >> (sample % 32) & 1) masks[sample * stride + start + reaction] = 0;
}

// scatter_reactions clears the positions at the removed reactions of each sample: row r of the
// incidence for each r whose mask, at position start + r, is 0.
//
// One thread per reaction (x) and sample (y).
KERNEL scatter_reactions(const u32 *offsets, const u32 *positions, u64 start, u64 reactions, u8 *masks, u64 stride) {
    u64 reaction = block_x() * threads_x() + thread_x();
    u8 *mask = masks + block_y() * stride;
    if (reaction >= reactions || mask[start + reaction] != 0) return;
    for (u32 i = offsets[reaction]; i < offsets[reaction + 1]; i++) mask[positions[i]] = 0;
}
