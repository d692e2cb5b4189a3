/* SPDX-License-Identifier: BSD-3-Clause */
/* adopt - makes the executable's .data and .bss pages of the region, so that static arrays and
 * Fortran's COMMON and SAVE can be reached by the ranks of the node as malloc'ed memory is (li2018
 * section 2, which asks for all of a process's data).
 *
 * In a constructor, when the linker has made its relocations and closed RELRO, and before there are
 * threads: the contents are written into a piece of the region's file and that piece is mapped over
 * the pages. Addresses stay, so pointers, the lazily bound GOT and copy relocations (stdout and
 * environ live in the executable's .bss) stay right. Only what is mapped rw-p is taken: not RELRO,
 * not what somebody protected. The region keeps its own view of the piece: offsets in it are like
 * all others. Costs about 0.25 ms per MiB that holds other bytes than zeroes; blank pages stay
 * holes. fork.c gives a child its own copy. */
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
    /* Whole pages; from file_end on they are .bss and not of the file. */
    uintptr_t start, end, file_end;
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

/* One character of /proc/self/maps: "start-end rwxp ...". */
struct reader {
    enum { READ_START, READ_END, READ_MODE, READ_REST } part;
    struct mapping mapping;
};

/* True when the line's mapping is complete. */
static bool read_character(struct reader *reader, char c) {
    uintptr_t digit = c >= 'a' ? (uintptr_t)(c - 'a' + 10) : (uintptr_t)(c - '0');
    if (c == '\n') *reader = (struct reader){.part = READ_START};
    else if (reader->part == READ_START && c == '-') reader->part = READ_END;
    else if (reader->part == READ_END && c == ' ') reader->part = READ_MODE;
    else if (reader->part == READ_MODE && c == ' ') return reader->part = READ_REST, true;
    else if (reader->part == READ_START) reader->mapping.start = reader->mapping.start << 4 | digit;
    else if (reader->part == READ_END) reader->mapping.end = reader->mapping.end << 4 | digit;
    else if (reader->part == READ_MODE && c == 's') reader->mapping.shared = true;
    else if (reader->part == READ_MODE)
        reader->mapping.protection |= c == 'r'   ? PROT_READ
                                      : c == 'w' ? PROT_WRITE
                                      : c == 'x' ? PROT_EXEC
                                                 : 0;
    return false;
}

int mappings_between(uintptr_t start, uintptr_t end, struct mapping *list, int most) {
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), count = 0;
    if (fd < 0) return -errno;
    struct reader reader = {.part = READ_START};
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
        from += written, bytes -= (size_t)written, offset += (size_t)written;
    }
    return true;
}

/* Of each page from `start` on, whether it may hold something; untouched pages of .bss do not, and
 * are better not even read. */
static void adopt_look_up(int pagemap, uintptr_t start, size_t page, int count, uintptr_t file_end,
                          bool *held) {
    uint64_t entries[most_entries];
    size_t bytes = (size_t)count * sizeof *entries;
    bool known = pagemap >= 0 && syscall(SYS_pread64, pagemap, entries, bytes,
                                         start / page * sizeof *entries) == (long)bytes;
    for (int i = 0; i < count; i++) /* bits 63 and 62: in memory, swapped out */
        held[i] = !known || start + (size_t)i * page < file_end || entries[i] >> 62 != 0;
}

/* Writes the pages that are not blank into the file. No allocation, and nothing of the executable's
 * is touched but by reading. */
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
        at += (size_t)count * page, offset += (size_t)count * page;
    }
    if (pagemap >= 0) syscall(SYS_close, pagemap);
    return fine;
}

/* NULL, or why the piece was left as it was. */
static const char *adopt_take(struct mapping piece, uintptr_t file_end) {
    if (adopted_count == most_adopted) return "there are too many pieces";
    /* As far behind a huge page's beginning in the file as in memory, or the system could not use
     * huge pages. */
    size_t bytes = piece.end - piece.start, lead = bytes >= huge_page ? piece.start % huge_page : 0;
    char *taken = region_take_sparse(lead + bytes), *start = (char *)piece.start;
    if (!taken) return "the shared heap has no room for it (MORTAR_HEAP_BYTES)";
    size_t offset = (size_t)(taken - region.base) + lead;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* a handler would change what has been saved */
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
    /* A core file has it once, where the debugger looks for it. */
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

/* The folder's links are ".", ".." and one per thread. */
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
            "ADOPT: static data stay private: the program had threads before it began, or /proc is not there");
    } else {
        struct executable executable = {.count = 0};
        dl_iterate_phdr(collect, &executable);
        for (int i = 0; i < executable.count; i++) take_segment(&executable.segments[i]);
    }
}
