/* SPDX-License-Identifier: BSD-3-Clause */
/* maps - reads /proc/self/maps and the like without malloc. */
#define _GNU_SOURCE
#include "heap/moved.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* State of reading character by character: "start-end rwxp offset device inode ...". */
struct maps_reader {
    enum { READ_START, READ_END, READ_MODE, READ_OFFSET, READ_DEVICE, READ_INODE, READ_REST } part;
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
    else if (reader->part >= READ_MODE && reader->part < READ_REST && c == ' ') {
        reader->part++;
        return reader->part == READ_REST;
    } else if (reader->part == READ_START)
        reader->mapping.start = reader->mapping.start << 4 | digit;
    else if (reader->part == READ_END) reader->mapping.end = reader->mapping.end << 4 | digit;
    else if (reader->part == READ_MODE && c == 's') reader->mapping.shared = true;
    else if (reader->part == READ_MODE) reader->mapping.protection |= protection_of(c);
    else if (reader->part == READ_INODE) reader->mapping.of_file |= c != '0';
    return false;
}

/* Calls take(mapping, state) for each mapping, rising, until it returns true. 0 or -errno. */
static int each_mapping(bool (*take)(const struct mapping *mapping, void *state), void *state) {
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -errno;
    struct maps_reader reader = {.part = READ_START};
    char text[4096];
    ssize_t got = 0;
    bool done = false;
    while (!done && (got = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < got && !done; i++)
            done = read_character(&reader, text[i]) && take(&reader.mapping, state);
    int error = got < 0 ? -errno : 0;
    close(fd);
    return error;
}

struct between {
    uintptr_t start, end;
    struct mapping *list;
    int most, count, all;
};

static bool take_between(const struct mapping *mapping, void *state) {
    struct between *between = state;
    struct mapping found = *mapping;
    between->all++;
    if (found.start < between->start) found.start = between->start;
    if (found.end > between->end) found.end = between->end;
    if (found.start < found.end && between->count < between->most)
        between->list[between->count++] = found;
    return false;
}

int mappings_between(uintptr_t start, uintptr_t end, struct mapping *list, int most, int *all) {
    struct between between = {.start = start, .end = end, .list = list, .most = most};
    int error = each_mapping(take_between, &between);
    *all = between.all;
    return error ? error : between.count;
}

struct below_search {
    uintptr_t address;
    struct below below;
    bool found;
};

static bool take_below(const struct mapping *mapping, void *state) {
    struct below_search *search = state;
    struct below *below = &search->below;
    if (mapping->start != below->end) {
        below->other_end = below->end;
        below->start = mapping->start;
    }
    below->end = mapping->end;
    search->found = search->address >= mapping->start && search->address < mapping->end;
    return search->found;
}

bool mappings_below(uintptr_t address, struct below *below) {
    struct below_search search = {.address = address};
    each_mapping(take_below, &search);
    *below = search.below;
    return search.found;
}

void each_line(const char *path, bool (*take)(char *line, void *state), void *state) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[4096], line[201];
    size_t length = 0;
    ssize_t got;
    bool done = fd < 0;
    while (!done && (got = read(fd, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < got && !done; i++) {
            if (text[i] != '\n') {
                if (length < sizeof line - 1) line[length++] = text[i];
                continue;
            }
            line[length] = 0;
            length = 0;
            done = take(line, state);
        }
    }
    if (fd >= 0) close(fd);
}

bool mapping_in(const char *line, struct mapping *mapping) {
    struct maps_reader reader = {.part = READ_START};
    while (*line && !read_character(&reader, *line)) line++;
    *mapping = reader.mapping;
    return *line != 0;
}

/* What /proc/self/status tells of the process's memory. */
struct held {
    bool locked, pinned;
};

static bool is_some(const char *line, const char *name) {
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0) return false;
    for (line += length; *line == ' ' || *line == '\t'; line++) continue;
    return *line != '0';
}

static bool look_for_held(char *line, void *state) {
    struct held *held = state;
    held->locked |= is_some(line, "VmLck:");
    held->pinned |= is_some(line, "VmPin:");
    return false;
}

static bool leads_to(int fds, const char *name, const char *target) {
    char text[32];
    size_t length = strlen(target);
    return readlinkat(fds, name, text, sizeof text) == (ssize_t)length &&
           memcmp(text, target, length) == 0;
}

/* Has this process such a descriptor? By a system call: opendir calls malloc. */
static bool has_descriptor(const char *target) {
    int fds = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _Alignas(struct dirent64) char list[2048];
    long got;
    bool found = false;
    while (fds >= 0 && !found && (got = syscall(SYS_getdents64, fds, list, sizeof list)) > 0)
        for (long at = 0; at < got && !found;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(list + at);
            found = leads_to(fds, entry->d_name, target);
            at += entry->d_reclen;
        }
    if (fds >= 0) close(fds);
    return found;
}

static const char ring[] = "anon_inode:[io_uring]";

static bool maps_ring(char *line, void *state) {
    *(bool *)state = strstr(line, ring) != NULL;
    return *(bool *)state;
}

/* A ring may lie in the program's own memory (Linux 6.5), or have no descriptor. */
static bool has_ring(void) {
    bool mapped = false;
    each_line("/proc/self/maps", maps_ring, &mapped);
    return mapped || has_descriptor(ring);
}

/* smaps: the line of a mapping as in maps, then its figures, and last "VmFlags: rd wr ... lo". */
struct flag_search {
    uintptr_t start, end;
    bool inside, found;
};

/* Locked, or registered with a userfaultfd for pages that miss, are written, or are elsewhere. */
static bool has_flag(const char *flags) {
    static const char *const wanted[] = {" lo", " um", " uw", " ui"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strstr(flags, wanted[i])) return true;
    return false;
}

static bool look_for_flag(char *line, void *state) {
    static const char flags[] = "VmFlags:";
    struct flag_search *search = state;
    if (strncmp(line, flags, sizeof flags - 1) == 0) {
        search->found = search->inside && has_flag(line);
        return search->found;
    }
    struct mapping mapping;
    if (mapping_in(line, &mapping))
        search->inside = mapping.start < search->end && mapping.end > search->start;
    return false;
}

bool must_stay(uintptr_t start, uintptr_t end) {
    struct held held = {0};
    each_line("/proc/self/status", look_for_held, &held);
    /* RDMA libraries pin pages, too, but learn of the move. */
    if (held.pinned && has_ring()) return true;
    if (!held.locked && !has_descriptor("anon_inode:[userfaultfd]")) return false;
    struct flag_search search = {.start = start, .end = end};
    each_line("/proc/self/smaps", look_for_flag, &search);
    return search.found;
}
