/* SPDX-License-Identifier: BSD-3-Clause */
/* random - splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
 * 2014). */
#include "driver.h"

#include <string.h>

uint64_t draw(struct random *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int below(struct random *random, int limit) { return (int)(draw(random) % (uint64_t)limit); }

void fill(char *memory, size_t bytes, uint64_t seed) {
    struct random random = {seed};
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = draw(&random);
        memcpy(memory + at, &word, bytes - at < 8 ? bytes - at : 8);
    }
}

uint64_t mix(uint64_t seed, uint64_t a, uint64_t b, uint64_t c) {
    struct random random = {seed};
    random.state = draw(&random) ^ a;
    random.state = draw(&random) ^ b;
    random.state = draw(&random) ^ c;
    return draw(&random);
}
