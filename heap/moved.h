/* SPDX-License-Identifier: BSD-3-Clause */
/* moved.h - which pages of the program's memory are shared: those that collectives use. All others
 * are private, as without mortar. A page that moves keeps its address, contents and protection;
 * what was private memory is a page of the region's file from then on. */
#ifndef HEAP_MOVED_H
#define HEAP_MOVED_H

#include "heap/heap.h"
#include "heap/region.h"

#include <stdatomic.h>

struct moved {
    _Atomic uint64_t *bits; /* a bit for each page of the file; NULL: nothing can move */
    char *alias;            /* the whole file; a child inherits it, to copy from */
    _Atomic size_t bytes;   /* moved at present */
    _Atomic size_t end;     /* nothing at or behind this offset has moved or been copied */
    /* Memory outside the region that has a place in the file; room for most_heap_ranges. */
    struct heap_range *ranges;
    _Atomic int range_count;
    size_t set_aside; /* for the program's mappings, under the lock: malloc needs the rest */
};
extern struct moved moved;

/* Makes the table and the alias. The region must be there, and its lock held. 0 or -errno. */
int moved_begin(void);

/* Makes untouched memory of the region shared. The lock must be held. 0 or -errno. */
int moved_born(char *start, size_t bytes);

/* Makes memory of the region private and zero where it was shared. Nobody may use it. Where the
 * system has no mapping left it stays shared, and zero all the same. */
void moved_return(char *start, size_t bytes);

/* The first run of moved pages that ends beyond offset, and where it is mapped; the lock must be
 * held. False: none. */
bool moved_next(size_t offset, struct extent *run, char **address);

/* True: pages of this memory of the region have moved. */
bool moved_within(const void *memory, size_t bytes);

/* True: all pages of this memory of the region have moved. */
bool moved_wholly(const void *memory, size_t bytes);

/* The first run of moved pages in memory from `at` to `end`, wherever that lies, and where it is.
 * False: there is none. The lock must be held by the next three. */
bool moved_run(char *at, char *end, struct extent *run, char **start);

/* Something else is mapped there now, or nothing. */
void moved_leave(char *start, char *end);

/* What has moved to there in the file reads as zeros. */
void moved_clear(size_t offset, size_t bytes);

/* Makes what has moved private again, as it is. Nobody may use it meanwhile. 0 or -errno: then some
 * of it may be private. */
int moved_bring_back(char *start, char *end);

/* True: this address lies in a page that has moved. */
bool moved_holds(const void *address);

/* The memory outside the region whose pages have this offset of the file, or that contains this
 * address. False: none. */
bool place_at(size_t offset, struct heap_range *place);
bool place_of(const void *address, struct heap_range *place);

/* Where the next such memory begins, behind this offset or this address; `end` if that comes
 * first. */
size_t place_end(size_t offset, size_t end);
char *place_next(const char *address, char *end);

/* Gives the segment of the executable, the stack, or the program's mapping that holds this memory a
 * place in the file. False: it is none of these, or there is no room. The lock must not be held. */
bool place_new(const void *memory, size_t bytes, struct heap_range *place);

/* Takes their places from mappings that are no longer there. The lock must not be held. */
void place_release(void);

/* True: the stack has a place, or had one in the process that has forked this one. */
bool place_has_stack(void);

/* How private memory at this address is to be protected: that of the stack may be executable. */
int place_protection(const void *address);

/* After a dlopen: all of the stack is as executable as its end. The lock must not be held. */
void place_follow(void);

/* False: this memory has a place because a stack may grow to there, but it has not; or because it
 * was a mapping of the program's, which is gone, or can go unseen. The lock must not be held. */
bool place_is_real(const struct heap_range *place, const void *memory, size_t bytes);

/* One mapping of this process, as /proc/self/maps has it. */
struct mapping {
    uintptr_t start, end;
    int protection;
    bool shared, of_file; /* of_file: it has an inode, as what has moved */
};

/* Lists the mappings between start and end, cut to them, in rising order. Returns their number (at
 * most `most`), or -errno. *all: mappings of the process. */
int mappings_between(uintptr_t start, uintptr_t end, struct mapping *list, int most, int *all);

/* The mappings that lie without a gap below an address: where they start, where the one ends that
 * holds it, and where the one ends that lies below them all. */
struct below {
    uintptr_t start, end, other_end;
};

/* False: nothing is mapped at this address. */
bool mappings_below(uintptr_t address, struct below *below);

/* Calls take(line, state) for each line of a file, cut to 200 characters, until it returns true. */
void each_line(const char *path, bool (*take)(char *line, void *state), void *state);

/* True: *mapping is what this line of maps or smaps begins with. */
bool mapping_in(const char *line, struct mapping *mapping);

/* True: some of this memory is locked (mlock), or the program fills it when it is touched
 * (userfaultfd). Or it may be one of the buffers that are registered with io_uring, which goes on
 * to use their pages; nobody tells which these are. */
bool must_stay(uintptr_t start, uintptr_t end);

#endif
