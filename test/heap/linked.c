/* SPDX-License-Identifier: BSD-3-Clause */
/* linked - a library with a malloc of its own, as programs are linked with: a bump allocator with
 * the length in front of each block. It comes after the heap, so nobody calls it. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static _Alignas(16) char memory[64 << 20];
static size_t used;

void *malloc(size_t bytes);
void *malloc(size_t bytes) {
    size_t *block = (size_t *)(void *)(memory + used);
    if (bytes > sizeof memory - used - 32) return NULL;
    used += (bytes + 31) / 16 * 16;
    block[0] = bytes, block[1] = UINT64_C(0x6d616c6c6f63);
    return block + 2;
}

void free(void *block);
void free(void *block) { (void)block; }

size_t malloc_usable_size(void *block);
size_t malloc_usable_size(void *block) {
    const size_t *head = block;
    if (!head) return 0;
    if (head[-1] != UINT64_C(0x6d616c6c6f63)) __builtin_trap(); /* whose is it? */
    return head[-2];
}

void *calloc(size_t count, size_t bytes);
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }

void *realloc(void *block, size_t bytes);
void *realloc(void *block, size_t bytes) {
    size_t had = malloc_usable_size(block);
    void *fresh = malloc(bytes);
    return fresh ? memcpy(fresh, block ? block : fresh, had < bytes ? had : bytes) : NULL;
}
