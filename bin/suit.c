/* SPDX-License-Identifier: BSD-3-Clause */
/* suit - `mortar run` looks at what it is to start: some programs cannot have mortar's libraries,
 * and some not its heap. */
#include "command.h"

#include <stdlib.h>
#include <string.h>

/* Says why, unless the user leaves it out as well. */
static void leave_heap_out(const char *why) {
    const char *heap = getenv("MORTAR_HEAP");
    if (!heap || strcmp(heap, "off") != 0) say("%s: it runs without the shared heap", why);
    set("MORTAR_HEAP", "off");
}

/* A sanitizer has a malloc of its own, and AddressSanitizer wants to be the first library, so as to
 * be the first to define malloc and the like; without mortar's heap it is the first that does. */
static void suit_sanitizer(const char *word, const char *sanitizer) {
    const char *options = getenv("ASAN_OPTIONS");
    leave_heap_out(text("%s was built with %s, which has a malloc of its own", word, sanitizer));
    bool more = options && *options;
    set("ASAN_OPTIONS", text("verify_asan_link_order=0%s%s", more ? ":" : "", more ? options : ""));
}

/* What such a library offers besides malloc (mallocx, tc_malloc, operator new) stays its own, and
 * programs give its blocks to free, and those of malloc to its functions. */
static void suit_allocator(const char *word, const char *allocator) {
    if (getenv("MORTAR_HEAP")) return; /* on: who asks for it knows that it does not */
    say("%s is linked with %s, which has a malloc of its own: it keeps that (--heap on: mortar's)",
        word, allocator);
    set("MORTAR_HEAP", "aside");
}

bool suits(const char *word, const struct program_facts *facts) {
    if (facts->kind == PROGRAM_STATIC) /* what it starts may be of another kind */
        say("%s is statically linked: its MPI calls cannot be taken, it runs as it is", word);
    if (facts->kind == PROGRAM_RAISED)
        say("%s is setuid, or has capabilities, so nothing is preloaded into it: its MPI calls "
            "cannot be taken, it runs as it is",
            word);
    if (facts->kind == PROGRAM_STRANGE)
        say("%s is for another %s%s: its MPI calls cannot be taken, it runs as it is", word,
            *facts->interpreter ? "C library, by its dynamic linker " : "kind of processor",
            facts->interpreter);
    if (facts->kind == PROGRAM_STRANGE || facts->kind == PROGRAM_RAISED) return false;
    /* Beside an auditor the dynamic linker has no room for the thread-local data of the heap. */
    const char *auditors = getenv("LD_AUDIT");
    if (auditors && *auditors) leave_heap_out(text("%s is watched by LD_AUDIT", word));
    if (facts->sanitizer) suit_sanitizer(word, facts->sanitizer);
    else if (facts->allocator) suit_allocator(word, facts->allocator);
    return true;
}
