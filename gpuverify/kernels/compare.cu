// Launched by Compare (compare.go).
#include "kernel.h"

// compare_masks compares two masks of every sample. Mask m has the positions starts[m] ..
// starts[m+1). Of the masks found, sample s has only the positions below known[s]; the next one
// counts as a difference with nothing found, and later ones are not compared. known may be null:
// all positions are known.
//
// For sample s and mask m, at s*masks + m: removed counts the expected zeros, differences the
// positions that differ, and first has the first of these as position << 32 | expected << 16 |
// found, where found is 0xFFFF for nothing. Results are merged into the initial values: 0, 0, and
// all bits set.
//
// Several blocks per sample (x) and mask (y), which share its positions (z).
KERNEL compare_masks(const u8 *expected, const u8 *found, const i64 *known, u64 stride, const u32 *starts, u64 *first,
                     u32 *differences, u32 *removed) {
    u64 sample = block_x(), mask = block_y();
    u64 start = starts[mask], end = starts[mask + 1];
    u64 at = sample * blocks_y() + mask;
    u64 limit = known ? (u64)known[sample] : stride;
    expected += sample * stride;
    found += sample * stride;
    u32 zeros = 0, differ = 0;
    u64 least = ~0ull;
    for (u64 vector = start / 16 + block_z() * threads_x() + thread_x(); 16 * vector < end; vector += blocks_z() * threads_x()) {
        u64 low = 16 * vector, high = low + 16;
        if (low >= start && high <= end && high <= limit) {
            Words e = *(const Words *)(expected + low), f = *(const Words *)(found + low);
            if (e.x == f.x && e.y == f.y && e.z == f.z && e.w == f.w) {
                zeros += 16 - bits_set(e.x) - bits_set(e.y) - bits_set(e.z) - bits_set(e.w); // its bytes are 0 or 1
                continue;
            }
        }
        low = low < start ? start : low;
        high = high > end ? end : high;
        for (u64 position = low; position < high; position++) {
            u64 e = expected[position];
            zeros += e == 0;
            if (position > limit) continue;
            u64 f = position == limit ? 0xFFFF : found[position];
            if (e == f) continue;
            differ++;
            u64 difference = position << 32 | e << 16 | f;
            least = difference < least ? difference : least;
        }
    }
    if (zeros) atomic_add(removed + at, zeros);
    if (differ) {
        atomic_add(differences + at, differ);
        atomic_min(first + at, least);
    }
}
