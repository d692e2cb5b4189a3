/* SPDX-License-Identifier: BSD-3-Clause */
/* handles - the table of handles finds what is in it and nothing else, while it grows and shrinks,
 * with and without memory for more chains. handles [SEED [STEPS]] */
#include "reach/handles.h"

#include "crew.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

enum { most = 3000 };
static struct handle all[most];
static bool inside[most];
static int count;

/* As handles are: small numbers, numbers with a kind in the high bits, addresses of structs. */
static uintptr_t key_of(uint32_t kind, int i) {
    const uintptr_t high = (uintptr_t)0x84000000, base = (uintptr_t)0x7f1c00000000, length = 0x1c0;
    uintptr_t number = (uintptr_t)i;
    return kind == 0 ? number : kind == 1 ? high + number : base + length * number;
}

static void step(struct handles *table, bool lacks, uint64_t *random) {
    int i = (int)draw_below(random, most);
    struct handle *found = handles_find(table, all[i].key);
    expect(found == (inside[i] ? &all[i] : NULL), "handle %d: inside %d", i, inside[i]);
    bool more = draw_below(random, most) > (uint32_t)count / 2;
    if (!inside[i] && more) {
        if (lacks) scarce_resume(0);
        handles_add(table, &all[i]);
        scarce_pause();
        inside[i] = true;
        count++;
    } else if (!more) {
        handles_remove(table, &all[i]);
        count -= inside[i];
        inside[i] = false;
    }
    expect(table->count == (size_t)count, "%zu instead of %d", table->count, count);
}

int main(int arguments, char **words) {
    uint64_t random = seed_from(arguments, words);
    int steps = arguments > 2 ? atoi(words[2]) : 20000;
    for (uint32_t kind = 0; kind < 3; kind++)
        for (int lacks = 0; lacks < 2; lacks++) {
            struct handles table = {.count = 0};
            for (int i = 0; i < most; i++) all[i] = (struct handle){.key = key_of(kind, i)};
            for (int k = 0; k < steps; k++) step(&table, lacks, &random);
            expect(lacks == !table.many, "chains: %p, scarce: %d", (void *)table.many, lacks);
            for (int i = 0; i < most; i++) {
                expect(!handles_find(&table, all[i].key) == !inside[i], "handle %d at the end", i);
                if (inside[i] && i % 2) handles_remove(&table, &all[i]);
                count -= inside[i] && i % 2;
            }
            for (struct handle *one = handles_clear(&table); one; one = one->next) {
                expect(inside[one - all] && (one - all) % 2 == 0, "handle %td comes", one - all);
                inside[one - all] = false;
                count--;
            }
            expect(count == 0 && !table.many && table.count == 0, "%d did not come", count);
            for (int i = 1; i < most; i += 2) inside[i] = false;
            for (int i = 0; i < most; i++)
                expect(!inside[i] && !handles_find(&table, all[i].key), "handle %d is left", i);
        }
    printf("%d steps\n", 6 * steps);
    return 0;
}
