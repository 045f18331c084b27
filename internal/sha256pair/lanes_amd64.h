#include <stddef.h>
#include <stdint.h>

// sha256_lanes advances the states of two messages by blocks of 64 bytes, as many of each.
void sha256_lanes(uint32_t state_a[8], uint32_t state_b[8], const uint8_t *a, const uint8_t *b, size_t blocks);
