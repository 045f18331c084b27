// Launched by Words (words_cuda.go).
//
// The words say which samples remove a node: bit s%32 of words[s/32*nodes + n] is set if sample s
// removes node n. Nodes are the genes, then the reactions, then one that is never removed.
#include "kernel.h"

// mark_genes sets the bits of the deleted genes in words of zeros.
//
// One thread per sample (x).
KERNEL mark_genes(const i64 *perturbation_indices, const i64 *ptr, u64 samples, u32 *words, u64 nodes) {
    u64 sample = block_x() * threads_x() + thread_x();
    if (sample >= samples) return;
    for (i64 entry = ptr[sample]; entry < ptr[sample + 1]; entry++) {
        atomic_or(words + sample / 32 * nodes + perturbation_indices[entry], 1u << (sample % 32));
    }
}

// mark_reactions removes each reaction that a removed gene takes part in (reaction rule "all"):
// edge e leads from node src[e] to node dst[e].
//
// One thread per edge (x) and 32 samples (y).
KERNEL mark_reactions(const u32 *src, const u32 *dst, u64 edges, u32 *words, u64 nodes) {
    u64 edge = block_x() * threads_x() + thread_x();
    if (edge >= edges) return;
    u32 *group = words + block_y() * nodes;
    if (u32 word = group[src[edge]]) atomic_or(group + dst[edge], word);
}

// mark_by_rules removes each reaction whose rule is false (reaction rule "gpr"). The terms of
// reaction r are first[r] .. first[r+1], at least one, with its whole rule last; each term precedes
// its parent. A term with operands[t] >= 0 is that gene's node; one with -1 is false if any of its
// operands is (and), one with -2 if all are (or). values has room for terms words per 32 samples.
//
// One thread per reaction (x) and 32 samples (y).
KERNEL mark_by_rules(const u32 *first, const i64 *operands, const u32 *parents, u64 terms, u32 *values, u64 reactions,
                     u64 first_reaction, u32 *words, u64 nodes) {
    u64 reaction = block_x() * threads_x() + thread_x();
    if (reaction >= reactions) return;
    u32 *group = words + block_y() * nodes;
    u32 *value = values + block_y() * terms;
    u32 last = first[reaction + 1] - 1;
    for (u32 t = first[reaction]; t <= last; t++) {
        value[t] = operands[t] >= 0 ? group[operands[t]] : operands[t] == -2 ? ~0u : 0u;
    }
    for (u32 t = first[reaction]; t < last; t++) {
        u32 parent = parents[t];
        value[parent] = operands[parent] == -2 ? value[parent] & value[t] : value[parent] | value[t];
    }
    group[first_reaction + reaction] = value[last];
}
