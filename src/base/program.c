/* SPDX-License-Identifier: BSD-3-Clause */
/* program - what kind of program a file is, from its ELF headers: is there a dynamic linker to take
 * calls at, is it glibc's, was it built with a sanitizer? Reads nothing that lies outside the file,
 * whatever the headers say. */
#define _GNU_SOURCE
#include "base/base.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { own_machine = EM_X86_64 };
#elif defined(__aarch64__)
enum { own_machine = EM_AARCH64 };
#else
enum { own_machine = -1 }; /* any */
#endif

struct image {
    const char *start;
    size_t bytes;
};

/* A part of the file, NULL if it is not all there. */
static const void *part_of(const struct image *image, uint64_t offset, uint64_t bytes) {
    bool inside = offset <= image->bytes && bytes <= image->bytes - offset;
    return inside ? image->start + offset : NULL;
}

/* The same of a table, which is where its entries can be read. */
static const void *table_of(const struct image *image, uint64_t offset, uint64_t bytes) {
    return offset % 8 == 0 ? part_of(image, offset, bytes) : NULL;
}

static struct image program_open(const char *path) {
    struct image image = {.start = MAP_FAILED};
    struct stat facts;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
        image.bytes = (size_t)facts.st_size;
        image.start = mmap(NULL, image.bytes, PROT_READ, MAP_PRIVATE, file, 0);
    }
    if (file >= 0) close(file);
    return image;
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* The names that the dynamic linker looks up: libraries and symbols, one after the other. */
static struct image names_of(const struct image *image, const Elf64_Phdr *parts, int count) {
    uint64_t place = 0, bytes = 0;
    for (int i = 0; i < count; i++) {
        if (parts[i].p_type != PT_DYNAMIC) continue;
        const Elf64_Dyn *entry = table_of(image, parts[i].p_offset, parts[i].p_filesz);
        for (uint64_t e = 0; entry && e < parts[i].p_filesz / sizeof *entry; e++) {
            if (entry[e].d_tag == DT_STRTAB) place = entry[e].d_un.d_ptr;
            if (entry[e].d_tag == DT_STRSZ) bytes = entry[e].d_un.d_val;
        }
    }
    for (int i = 0; i < count; i++) {
        uint64_t into = place - parts[i].p_vaddr;
        if (parts[i].p_type != PT_LOAD || place < parts[i].p_vaddr || into >= parts[i].p_filesz)
            continue;
        const char *start = part_of(image, parts[i].p_offset + into, bytes);
        return (struct image){start, start ? bytes : 0};
    }
    return (struct image){NULL, 0};
}

static bool is_found(const struct image *names, const char *text, size_t length) {
    return names->start && memmem(names->start, names->bytes, text, length) != NULL;
}

/* text: with its '\0', so that it is a whole name or the end of one. */
static bool is_named(const struct image *names, const char *text) {
    return is_found(names, text, strlen(text) + 1);
}

/* By how the library's name begins: libtcmalloc_minimal.so.4 is one of them. */
static const char *allocator_of(const struct image *names) {
    static const char *const known[] = {"libjemalloc", "libtcmalloc", "libmimalloc"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_found(names, known[i], strlen(known[i]))) return known[i];
    return NULL;
}

static bool is_glibc(const char *interpreter, const struct image *names) {
    const char *slash = strrchr(interpreter, '/'), *file = slash ? slash + 1 : interpreter;
    if (strstr(file, "musl") || strstr(file, "uClibc")) return false;
    return begins(file, "ld-linux") || begins(file, "ld64.so") || is_named(names, "libc.so.6");
}

static void look_inside(const struct image *image, struct program_facts *facts) {
    const Elf64_Ehdr *head = part_of(image, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return;
    facts->kind = PROGRAM_STRANGE;
    if (head->e_ident[EI_CLASS] != ELFCLASS64 ||
        (own_machine >= 0 && head->e_machine != own_machine))
        return;
    const Elf64_Phdr *parts =
        table_of(image, head->e_phoff, (uint64_t)head->e_phnum * sizeof *parts);
    facts->kind = parts ? PROGRAM_STATIC : PROGRAM_OTHER;
    for (int i = 0; parts && i < head->e_phnum; i++) {
        if (parts[i].p_type != PT_INTERP) continue;
        const char *text = part_of(image, parts[i].p_offset, parts[i].p_filesz);
        if (!text) continue;
        size_t length = strnlen(text, parts[i].p_filesz);
        if (length >= sizeof facts->interpreter) length = sizeof facts->interpreter - 1;
        memcpy(facts->interpreter, text, length);
    }
    if (!*facts->interpreter) return;
    struct image names = names_of(image, parts, head->e_phnum);
    facts->kind = is_glibc(facts->interpreter, &names) ? PROGRAM_USUAL : PROGRAM_STRANGE;
    if (facts->kind == PROGRAM_STRANGE) return;
    if (is_named(&names, "__lsan_init")) facts->sanitizer = "LeakSanitizer";
    if (is_named(&names, "__asan_init")) facts->sanitizer = "AddressSanitizer";
    if (is_named(&names, "__tsan_init")) facts->sanitizer = "ThreadSanitizer";
    facts->allocator = allocator_of(&names);
    facts->mpi = is_found(&names, "libmpi", strlen("libmpi"));
}

/* Would it have other rights than this process? Then the dynamic linker takes nothing from
 * LD_PRELOAD. */
static bool is_raised(const char *path) {
    struct stat facts;
    struct statvfs mount;
    if (stat(path, &facts) != 0) return false;
    const mode_t as_group = S_ISGID | S_IXGRP;
    bool user = (facts.st_mode & S_ISUID) && facts.st_uid != getuid(),
         group = (facts.st_mode & as_group) == as_group && facts.st_gid != getgid(),
         capable = getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
    if (!user && !group && !capable) return false;
    bool ignored = statvfs(path, &mount) == 0 && (mount.f_flag & ST_NOSUID);
    return !ignored && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

/* The program in the first line of a script, "#!/bin/sh -e". False: it is none. */
static bool names_another(const struct image *image, char *path, size_t size) {
    if (image->bytes < 3 || memcmp(image->start, "#!", 2) != 0) return false;
    size_t at = 2, length = 0;
    while (at < image->bytes && (image->start[at] == ' ' || image->start[at] == '\t')) at++;
    while (at + length < image->bytes && !strchr(" \t\n", image->start[at + length])) length++;
    if (length == 0 || length >= size) return false;
    memcpy(path, image->start + at, length);
    path[length] = 0;
    return true;
}

struct program_facts program_look(const char *path) {
    struct program_facts facts = {.kind = PROGRAM_OTHER};
    struct image image = program_open(path);
    if (image.start == MAP_FAILED) return facts;
    bool script = names_another(&image, facts.reader, sizeof facts.reader);
    if (!script) look_inside(&image, &facts);
    munmap((void *)(uintptr_t)image.start, image.bytes);
    if (facts.kind == PROGRAM_USUAL && is_raised(path)) facts.kind = PROGRAM_RAISED;
    if (!script || (image = program_open(facts.reader)).start == MAP_FAILED) return facts;
    look_inside(&image, &facts);
    munmap((void *)(uintptr_t)image.start, image.bytes);
    /* What a static shell starts may well be taken, and a sanitized one is not the program. */
    facts.sanitizer = facts.allocator = NULL, facts.mpi = false;
    if (facts.kind != PROGRAM_STRANGE) facts.kind = PROGRAM_OTHER, *facts.interpreter = 0;
    return facts;
}

bool program_lacks_reader(const struct program_facts *facts, const char *path, char *why,
                          size_t size) {
    const char *reader = facts->reader;
    size_t length = strlen(reader);
    if (length == 0 || access(reader, X_OK) == 0) return false;
    if (errno != ENOENT)
        snprintf(why, size, "%s, which its first line names: %s", reader, strerror(errno));
    else if (reader[length - 1] != '\r')
        snprintf(why, size, "%s, which its first line names, is not there", reader);
    else
        snprintf(why, size,
                 "its lines end as those of DOS do, and the system looks for \"%.*s\\r\": take the "
                 "carriage returns out, sed -i 's/\\r$//' %s",
                 (int)length - 1, reader, path);
    return true;
}
