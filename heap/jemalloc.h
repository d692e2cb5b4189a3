/* SPDX-License-Identifier: BSD-3-Clause */
/* jemalloc.h - jemalloc's functions that the heap calls. family.c defines malloc and a few others
 * itself; jemalloc's own go by other names here (CMakeLists.txt). */
#ifndef HEAP_JEMALLOC_H
#define HEAP_JEMALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *je_malloc(size_t bytes);
void je_free(void *memory);
void *je_calloc(size_t count, size_t bytes);
void *je_realloc(void *memory, size_t bytes);
void *je_memalign(size_t alignment, size_t bytes);
size_t je_malloc_usable_size(void *memory);
void *mallocx(size_t bytes, int flags);
size_t nallocx(size_t bytes, int flags);
size_t xallocx(void *memory, size_t bytes, size_t extra, int flags);
void dallocx(void *memory, int flags);
int mallctl(const char *name, void *old, size_t *old_bytes, void *new, size_t new_bytes);

/* inside.c: looks whether data or address space of this process are limited, now or later. Then
 * jemalloc gives address space back to the system, and is_limited says so. */
void heed_limits(void);
bool is_limited(void);

/* limits.c: false: with so many bytes more the process would have more data than its limit allows,
 * or too little would be left for jemalloc's tables. The system does not look, because the region
 * is mapped already; it refuses the next mapping, and jemalloc loses a block whose tables are
 * refused. */
bool limit_allows(size_t bytes);

/* born.c: in a forked child no thread gives its cache back any more. */
void born_in_child(void);

/* arrives.c: false: another malloc comes before ours, so long blocks must be the C library's. */
bool arrives(void);

/* Flags of these functions: MALLOCX_TCACHE_NONE, MALLOCX_ALIGN, MALLOCX_TCACHE, MALLOCX_ARENA. */
enum { JE_UNCACHED = 0x100 };
static inline int je_align(size_t alignment) { return __builtin_ctzl(alignment); }
static inline int je_cache(unsigned cache) { return (int)((cache + 2) << 8); }
static inline int je_arena(unsigned arena) { return (int)((arena + 1) << 20); }

#endif
