#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# exports - the heap library defines the malloc family, what else the list below has, and no more; it needs libc and libm.
# exports.sh HEAP NM
set -eu
expected="aligned_alloc calloc daemon dlsym fork forkpty free madvise mallinfo mallinfo2 malloc malloc_trim malloc_usable_size \
memalign mlockall mmap mmap64 mortar_heap_alloc mortar_heap_begin mortar_heap_free mortar_heap_move mortar_heap_region \
mortar_heap_sees mortar_heap_why mremap munmap posix_memalign prlimit prlimit64 pthread_getattr_np pvalloc realloc setrlimit \
setrlimit64 valloc"
found=$("$2" --dynamic --defined-only --format=posix "$1" | cut -d' ' -f1 | LC_ALL=C sort | tr '\n' ' ')
if [ "$found" != "$expected " ]; then
    echo "FAIL: exported: $found"
    echo "expected: $expected"
    exit 1
fi
