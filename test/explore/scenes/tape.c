/* SPDX-License-Identifier: BSD-3-Clause */
/* tape - broadcasts through the tape of src/coll/node/tape.c. Numbers: of calls; of 4-byte words in
 * a block, 0: one. */
#include "../crew.h"

extern const struct algorithm_code algorithm_tape;

static void begin(void) {
    crew_plain();
    size_t p = (size_t)scene_threads();
    struct shared wanted = algorithm_tape.shared;
    char *memory = share(wanted.all + p * wanted.each);
    name_memory(memory, wanted.all, "slots");
    for (size_t r = 0; r < p; r++) {
        name_memory(memory + wanted.all + r * wanted.each, 8, "told");
        teams[r].shared[ALGORITHM_tape] = memory;
    }
}

static void bcasts(int me, bool turns) {
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        uint32_t value[64] = {0}, last = scene_number(1) ? (uint32_t)scene_number(1) - 1 : 0;
        if (me == (turns ? k % scene_threads() : 0)) value[0] = value[last] = 100 + (uint32_t)k;
        struct blocks blocks = {.base = (char *)value,
                                .count = 1,
                                .layout = &layout_bytes,
                                .each = (last + 1) * sizeof *value};
        struct call call = {.shape = {.collective = COLL_bcast, .bytes = blocks.each},
                            .sends = &blocks,
                            .recvs = &blocks,
                            .root = turns ? k % scene_threads() : 0};
        expect(algorithm_tape.run(crew_team(), &call, &(struct arguments){0}) == DONE, "left");
        expect(value[0] == 100 + (uint32_t)k && value[last] == value[0], "a wrong block");
    }
}
static void one_root(int me) { bcasts(me, false); }
static void roots(int me) { bcasts(me, true); }

const struct scene scenes[] = {{"one_root", begin, one_root, NULL}, {"roots", begin, roots, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
