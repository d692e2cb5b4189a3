/* SPDX-License-Identifier: BSD-3-Clause */
/* limit MIB - fills so much memory, moves all of it, and looks whether every byte is as it was. */
#include "heap_test.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    size_t words = (argc > 1 ? strtoul(argv[1], NULL, 10) : 64) << 17;
    uint64_t *memory = malloc(words * sizeof *memory), wrong = 0;
    if (!memory) return 1;
    for (size_t i = 0; i < words; i++) memory[i] = i * 0x9e3779b97f4a7c15u;
    int error = move_it(memory, words * sizeof *memory);
    for (size_t i = 0; i < words; i++) wrong += memory[i] != i * 0x9e3779b97f4a7c15u;
    printf("moved: %d, %llu wrong words\n", error, (unsigned long long)wrong);
    return error != 0 || wrong != 0 || !has_moved(memory, words * sizeof *memory, false);
}
