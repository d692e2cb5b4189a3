/* SPDX-License-Identifier: BSD-3-Clause */
/* adopt - makes the executable's .data and .bss part of the region, so that the node's ranks can
 * access static arrays and Fortran's COMMON and SAVE as they do malloc'ed memory (li2018 section 2,
 * which asks for all of a process's data).
 *
 * It runs in a constructor: after the linker has relocated and has protected RELRO, and before
 * there are threads. The contents are written into a piece of the region's file, which is then
 * mapped over the pages. Addresses do not change, so pointers, the lazily bound GOT and copy
 * relocations (stdout and environ are in the executable's .bss) stay valid. Only pages mapped rw-p
 * are taken: not RELRO, nor pages that were protected. The region keeps its own mapping of the
 * piece, where offsets are as usual. Costs about 0.25 ms per MiB that is not zero; zero pages stay
 * holes in the file. fork.c gives a child its own copy. */
#define _GNU_SOURCE
#include "heap/adopt.h"

#include "heap/huge.h"
#include "heap/region.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct heap_range adopted[most_adopted];
int adopted_count;

static const size_t huge_page = 2 << 20;

enum { most_segments = 8, most_mappings = 64, most_entries = 512 };
struct segment {
    uintptr_t start, end; /* whole pages */
    uintptr_t file_end;   /* from here on the pages are .bss and not in the file */
};
struct executable {
    struct segment segments[most_segments];
    int count;
};

static uintptr_t page_up(uintptr_t address) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    return (address + page - 1) & ~(page - 1);
}

/* The first object is the executable. */
static int collect(struct dl_phdr_info *object, size_t size, void *state) {
    (void)size;
    struct executable *executable = state;
    for (int i = 0; i < object->dlpi_phnum && executable->count < most_segments; i++) {
        const ElfW(Phdr) *head = &object->dlpi_phdr[i];
        if (head->p_type != PT_LOAD || !(head->p_flags & PF_W)) continue;
        uintptr_t start = object->dlpi_addr + head->p_vaddr,
                  page = (uintptr_t)sysconf(_SC_PAGESIZE);
        executable->segments[executable->count++] =
            (struct segment){.start = start & ~(page - 1),
                             .end = page_up(start + head->p_memsz),
                             .file_end = page_up(start + head->p_filesz)};
    }
    return 1;
}

/* State of reading /proc/self/maps character by character: "start-end rwxp ...". */
struct maps_reader {
    enum { READ_START, READ_END, READ_MODE, READ_REST } part;
    struct mapping mapping;
};

static int protection_of(char c) {
    if (c == 'r') return PROT_READ;
    if (c == 'w') return PROT_WRITE;
    return c == 'x' ? PROT_EXEC : 0;
}

/* Reads one character. True: the line's mapping is complete. */
static bool read_character(struct maps_reader *reader, char c) {
    uintptr_t digit = c >= 'a' ? (uintptr_t)(c - 'a' + 10) : (uintptr_t)(c - '0');
    if (c == '\n') *reader = (struct maps_reader){.part = READ_START};
    else if (reader->part == READ_START && c == '-') reader->part = READ_END;
    else if (reader->part == READ_END && c == ' ') reader->part = READ_MODE;
    else if (reader->part == READ_MODE && c == ' ') {
        reader->part = READ_REST;
        return true;
    } else if (reader->part == READ_START)
        reader->mapping.start = reader->mapping.start << 4 | digit;
    else if (reader->part == READ_END) reader->mapping.end = reader->mapping.end << 4 | digit;
    else if (reader->part == READ_MODE && c == 's') reader->mapping.shared = true;
    else if (reader->part == READ_MODE) reader->mapping.protection |= protection_of(c);
    return false;
}

int mappings_between(uintptr_t start, uintptr_t end, struct mapping *list, int most) {
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), count = 0;
    if (fd < 0) return -errno;
    struct maps_reader reader = {.part = READ_START};
    char text[4096];
    ssize_t got;
    while ((got = read(fd, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < got && count < most; i++) {
            if (!read_character(&reader, text[i])) continue;
            struct mapping found = reader.mapping;
            if (found.start < start) found.start = start;
            if (found.end > end) found.end = end;
            if (found.start < found.end) list[count++] = found;
        }
    }
    int error = got < 0 ? -errno : 0;
    close(fd);
    return error ? error : count;
}

static bool write_all(const char *from, size_t bytes, size_t offset) {
    while (bytes > 0) {
        long written = syscall(SYS_pwrite64, region.fd, from, bytes, offset);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        from += written;
        bytes -= (size_t)written;
        offset += (size_t)written;
    }
    return true;
}

/* held[i]: page i from `start` on may be nonzero. Untouched pages of .bss are not, and should not
 * even be read. */
static void adopt_look_up(int pagemap, uintptr_t start, size_t page, int count, uintptr_t file_end,
                          bool *held) {
    uint64_t entries[most_entries];
    size_t bytes = (size_t)count * sizeof *entries;
    bool known = pagemap >= 0 && syscall(SYS_pread64, pagemap, entries, bytes,
                                         start / page * sizeof *entries) == (long)bytes;
    for (int i = 0; i < count; i++) /* bits 63 and 62: in memory, swapped out */
        held[i] = !known || start + (size_t)i * page < file_end || entries[i] >> 62 != 0;
}

/* Writes the pages that are not blank into the file. Allocates nothing, and only reads the
 * executable's data. */
static bool save(struct mapping piece, uintptr_t file_end, size_t offset) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int pagemap = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool fine = true, held[most_entries];
    for (uintptr_t at = piece.start; fine && at < piece.end;) {
        size_t left = (piece.end - at) / page;
        int count = left < most_entries ? (int)left : most_entries;
        adopt_look_up(pagemap, at, page, count, file_end, held);
        for (int i = 0; fine && i < count; i++) {
            const char *memory = (const char *)at + (size_t)i * page;
            if (held[i] && !blank(memory, page))
                fine = write_all(memory, page, offset + (size_t)i * page);
        }
        at += (size_t)count * page;
        offset += (size_t)count * page;
    }
    if (pagemap >= 0) syscall(SYS_close, pagemap);
    return fine;
}

/* NULL, or why the piece was not adopted. */
static const char *adopt_take(struct mapping piece, uintptr_t file_end) {
    if (adopted_count == most_adopted) return "there are too many pieces";
    /* The system uses huge pages only if file offset and address are equal modulo their size. */
    size_t bytes = piece.end - piece.start, lead = bytes >= huge_page ? piece.start % huge_page : 0;
    char *taken = region_take(lead + bytes), *start = (char *)piece.start;
    if (!taken) return "the shared heap has no room for it (MORTAR_HEAP_BYTES)";
    size_t offset = (size_t)(taken - region.base) + lead;
    sigset_t all, before;
    sigfillset(&all);
    /* Blocks signals, because a handler could change data that are saved already. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool saved = save(piece, file_end, offset);
    long map = saved ? syscall(SYS_mmap, start, bytes, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_FIXED | MAP_NORESERVE, region.fd, offset)
                     : -1;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if ((char *)map != start) {
        region_give(taken, lead + bytes);
        return saved ? "the system refused the mapping" : "there is no memory for the copy";
    }
    adopted[adopted_count++] =
        (struct heap_range){.start = start, .bytes = bytes, .offset = offset};
    huge_begin(start, bytes);
    /* A core file contains the data once, at the address where a debugger looks. */
    madvise(taken, lead + bytes, MADV_DONTDUMP);
    return NULL;
}

static void take_segment(const struct segment *segment) {
    struct mapping list[most_mappings];
    int count = mappings_between(segment->start, segment->end, list, most_mappings);
    if (count < 0) note("ADOPT: /proc/self/maps cannot be read; static data stay private");
    for (int i = 0, next; i < count; i = next) {
        struct mapping piece = list[i];
        for (next = i + 1;
             next < count && list[next].start == piece.end &&
             list[next].protection == piece.protection && list[next].shared == piece.shared;
             next++)
            piece.end = list[next].end;
        if (piece.shared || piece.protection != (PROT_READ | PROT_WRITE)) continue;
        const char *why = adopt_take(piece, segment->file_end);
        if (why)
            note("ADOPT: %zu KiB of static data stay private: %s", (piece.end - piece.start) >> 10,
                 why);
        else
            note("ADOPT: %zu KiB of static data are in the shared heap",
                 (piece.end - piece.start) >> 10);
    }
}

/* True: the process has one thread. The links of the folder are ".", ".." and one per thread. */
static bool alone(void) {
    struct stat facts;
    return stat("/proc/self/task", &facts) == 0 && facts.st_nlink == 3;
}

void adopt(void) {
    if (option_choice(OPTION_ADOPT, "off|on") == 0) return;
    struct heap_region heap;
    if (mortar_heap_region(&heap) != 0) {
        note("ADOPT: static data stay private: %s", mortar_heap_why());
    } else if (!alone()) {
        note(
            "ADOPT: static data stay private: the program had threads before main, or /proc is not there");
    } else {
        struct executable executable = {.count = 0};
        dl_iterate_phdr(collect, &executable);
        for (int i = 0; i < executable.count; i++) take_segment(&executable.segments[i]);
    }
}
