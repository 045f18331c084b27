#include "lanes_amd64.h"

#include <immintrin.h>

// The round constants of SHA-256 (FIPS 180-4, 4.2.2).
static const uint32_t constants[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

// A message on its way: the instructions keep the state's words a, b, e, f in one register and c, d, g, h in
// the other, and the last 16 words of the message schedule in four.
typedef struct {
    __m128i abef, cdgh, schedule[4];
} lane;

#define SHA __attribute__((target("sha,sse4.1")))

SHA static inline lane load_state(const uint32_t state[8]) {
    lane l = {0};
    l.abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    l.cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
    return l;
}

SHA static inline void store_state(lane l, uint32_t state[8]) {
    state[0] = (uint32_t)_mm_extract_epi32(l.abef, 3);
    state[1] = (uint32_t)_mm_extract_epi32(l.abef, 2);
    state[2] = (uint32_t)_mm_extract_epi32(l.cdgh, 3);
    state[3] = (uint32_t)_mm_extract_epi32(l.cdgh, 2);
    state[4] = (uint32_t)_mm_extract_epi32(l.abef, 1);
    state[5] = (uint32_t)_mm_extract_epi32(l.abef, 0);
    state[6] = (uint32_t)_mm_extract_epi32(l.cdgh, 1);
    state[7] = (uint32_t)_mm_extract_epi32(l.cdgh, 0);
}

// load_block begins the schedule with a block's 16 big-endian words.
SHA static inline void load_block(lane *l, const uint8_t *block) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    for (int i = 0; i < 4; i++)
        l->schedule[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), big_endian);
}

// four_rounds does rounds 4*i to 4*i+3 on both lanes, step by step in turn: an instruction
// of one lane runs while the other's last one is not ready.
SHA static inline __attribute__((always_inline)) void four_rounds(lane lanes[2], int i) {
    __m128i words[2];
#pragma GCC unroll 2
    for (int n = 0; n < 2; n++) {
        lane *l = &lanes[n];
        words[n] = _mm_add_epi32(l->schedule[i % 4], *(const __m128i *)&constants[4 * i]);
        l->cdgh = _mm_sha256rnds2_epu32(l->cdgh, l->abef, words[n]);
    }
#pragma GCC unroll 2
    for (int n = 0; n < 2; n++) {
        lane *l = &lanes[n];
        __m128i now = l->schedule[i % 4], *next = &l->schedule[(i + 1) % 4], *last = &l->schedule[(i + 3) % 4];
        if (3 <= i && i < 15)
            *next = _mm_sha256msg2_epu32(_mm_add_epi32(*next, _mm_alignr_epi8(now, *last, 4)), now);
        l->abef = _mm_sha256rnds2_epu32(l->abef, l->cdgh, _mm_shuffle_epi32(words[n], 0x0e));
        if (1 <= i && i < 13)
            *last = _mm_sha256msg1_epu32(*last, now);
    }
}

SHA void sha256_lanes(uint32_t state_a[8], uint32_t state_b[8], const uint8_t *a, const uint8_t *b, size_t blocks) {
    lane lanes[2] = {load_state(state_a), load_state(state_b)};
    for (; blocks > 0; blocks--, a += 64, b += 64) {
        lane before[2] = {lanes[0], lanes[1]};
        load_block(&lanes[0], a);
        load_block(&lanes[1], b);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            four_rounds(lanes, i);
#pragma GCC unroll 2
        for (int n = 0; n < 2; n++) {
            lanes[n].abef = _mm_add_epi32(lanes[n].abef, before[n].abef);
            lanes[n].cdgh = _mm_add_epi32(lanes[n].cdgh, before[n].cdgh);
        }
    }
    store_state(lanes[0], state_a);
    store_state(lanes[1], state_b);
}
