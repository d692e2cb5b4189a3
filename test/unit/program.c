/* SPDX-License-Identifier: BSD-3-Clause */
/* program - what kind of program a file is: this one, with a few bytes changed as in programs of
 * other kinds, scripts, and files whose headers say anything at all. */
#define _GNU_SOURCE
#include "base/base.h"

#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
static const char *const sanitizer = "AddressSanitizer";
#elif defined(__SANITIZE_THREAD__)
static const char *const sanitizer = "ThreadSanitizer";
#else
static const char *const sanitizer = "none";
#endif

static char *image; /* a copy of this program, in a file without a name */
static size_t size;
static char path[64];

static void copy_self(void) {
    struct stat facts;
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = memfd_create("unit-program", 0);
    expect(self >= 0 && fd >= 0 && fstat(self, &facts) == 0, "this program's file");
    size = (size_t)facts.st_size;
    expect(ftruncate(fd, (off_t)size) == 0, "a file of %zu bytes", size);
    image = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    expect(image != MAP_FAILED && read(self, image, size) == (ssize_t)size, "a copy of it");
    close(self);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
}

static Elf64_Phdr *part(uint32_t type) {
    const Elf64_Ehdr *head = (const void *)image;
    Elf64_Phdr *parts = (void *)(image + head->e_phoff);
    for (int i = 0; i < head->e_phnum; i++)
        if (parts[i].p_type == type) return &parts[i];
    expect(false, "no part of type %u", type);
    return parts;
}

static void names_interpreter(const char *name, int kind) {
    char *place = image + part(PT_INTERP)->p_offset, before[64];
    expect(strlen(name) <= strlen(place) && strlen(place) < sizeof before, "no room for %s", name);
    memcpy(before, place, sizeof before);
    snprintf(place, sizeof before, "%s", name);
    struct program_facts facts = program_look(path);
    expect((int)facts.kind == kind && strcmp(facts.interpreter, name) == 0, "%s: %d, %s", name,
           (int)facts.kind, facts.interpreter);
    memcpy(place, before, sizeof before);
}

static void kinds(void) {
    struct program_facts facts = program_look(path);
    expect(facts.kind == PROGRAM_USUAL && strstr(facts.interpreter, "ld-linux"), "this program");
    const char *found = facts.sanitizer ? facts.sanitizer : "none";
    expect(strcmp(found, sanitizer) == 0, "its sanitizer is %s, not %s", sanitizer, found);
    names_interpreter("/lib/ld-musl-x86_64.so.1", PROGRAM_STRANGE);
    names_interpreter("/lib/ld-uClibc.so.0", PROGRAM_STRANGE);
    names_interpreter("/my/own/ld.so", PROGRAM_USUAL); /* it needs libc.so.6 */
    part(PT_INTERP)->p_type = PT_NOTE;
    expect(program_look(path).kind == PROGRAM_STATIC, "without a dynamic linker");
    Elf64_Phdr *first = (void *)(image + ((Elf64_Ehdr *)(void *)image)->e_phoff);
    while (first->p_type != PT_NOTE || image[first->p_offset] != '/') first++;
    first->p_type = PT_INTERP;
    image[EI_CLASS] = ELFCLASS32;
    facts = program_look(path);
    expect(facts.kind == PROGRAM_STRANGE && !*facts.interpreter, "of 32 bits");
    image[EI_CLASS] = ELFCLASS64;
    expect(program_look(path).kind == PROGRAM_USUAL, "as it was");
}

/* A name that the dynamic linker does without is a library's now. */
static void allocators(void) {
    static const char unused[] = "_ITM_deregisterTMCloneTable";
    char *place = memmem(image, size, unused, sizeof unused), before[sizeof unused];
    expect(place != NULL && !program_look(path).allocator, "an ordinary program");
    memcpy(before, place, sizeof before);
    memcpy(place, "libtcmalloc_minimal.so.4", 25);
    const char *found = program_look(path).allocator;
    expect(found && strcmp(found, "libtcmalloc") == 0, "an allocator's library");
    memcpy(place, before, sizeof before);
}

static void is_script(const char *text, int kind) {
    char place[64];
    int fd = memfd_create("unit-script", 0);
    snprintf(place, sizeof place, "/proc/self/fd/%d", fd);
    expect(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "a script");
    struct program_facts facts = program_look(place);
    expect((int)facts.kind == kind && !facts.sanitizer, "script %s: %d", text, (int)facts.kind);
    close(fd);
}

static void scripts(void) {
    char text[128];
    is_script("#!/bin/sh\n", PROGRAM_OTHER);
    is_script("#! /bin/sh -e\nexit 0\n", PROGRAM_OTHER);
    is_script("#!", PROGRAM_OTHER);
    is_script("#!\n", PROGRAM_OTHER);
    is_script("echo no first line\n", PROGRAM_OTHER);
    is_script("#!/no/such/shell\n", PROGRAM_OTHER);
    snprintf(text, sizeof text, "#!%s\n", path);
    is_script(text, PROGRAM_OTHER); /* who runs it is not the program */
    char *place = image + part(PT_INTERP)->p_offset;
    memcpy(place, "/lib/musl.so", 13);
    is_script(text, PROGRAM_STRANGE);
    expect(program_look("/no/such/file").kind == PROGRAM_OTHER, "no file");
    expect(program_look("/").kind == PROGRAM_OTHER, "a folder");
    expect(program_look("/dev/zero").kind == PROGRAM_OTHER, "a device");
}

/* Headers that say anything: nothing outside the file is read. */
static void any(uint64_t random) {
    char before[4096], dynamic[1024];
    size_t most = size < sizeof before ? size : sizeof before;
    const Elf64_Phdr *table = part(PT_DYNAMIC);
    char *inside = image + table->p_offset;
    size_t length = table->p_filesz < sizeof dynamic ? table->p_filesz : sizeof dynamic;
    memcpy(before, image, most);
    memcpy(dynamic, inside, length);
    for (int round = 0; round < 20000; round++) {
        for (uint32_t i = draw_below(&random, 4) + 1; i > 0; i--) {
            bool head = draw_below(&random, 3) != 0;
            size_t at = draw_below(&random, (uint32_t)(head ? 1024 : length) / 8) * 8;
            uint64_t word = draw(&random) >> draw_below(&random, 64);
            memcpy((head ? image : inside) + at, &word, 1 + draw_below(&random, 8));
        }
        memcpy(image, ELFMAG "\2", 5);
        program_look(path);
        memcpy(image, before, most);
        memcpy(inside, dynamic, length);
    }
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    copy_self();
    kinds();
    allocators();
    scripts();
    any(random);
    return 0;
}
