/* SPDX-License-Identifier: BSD-3-Clause */
/* link - libmortar.a, what -lmortar links: the functions of mortar.h, each handed on to
 * libmortar.so if the process has it, as under `mortar run`. So a program that asks something of
 * mortar needs no library of mortar's to start, and runs natively as well. The names are hidden:
 * even a program that exports all of its own leaves those of libmortar.so to be found. */
#define _GNU_SOURCE
#pragma GCC visibility push(hidden)
#include "include/mortar.h"
#pragma GCC visibility pop

#include <dlfcn.h>
#include <errno.h>

const char *mortar_version(void) {
    const char *(*ask)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "mortar_version");
    return ask ? ask() : NULL;
}

int mortar_plan(const char *plan) {
    int (*ask)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "mortar_plan");
    return ask ? ask(plan) : -ENOSYS;
}

int mortar_plans(const char *collective, size_t bytes, int outside, char *texts, size_t size) {
    int (*ask)(const char *, size_t, int, char *, size_t) =
        (int (*)(const char *, size_t, int, char *, size_t))dlsym(RTLD_DEFAULT, "mortar_plans");
    return ask ? ask(collective, bytes, outside, texts, size) : -ENOSYS;
}

int mortar_report(const char *path) {
    int (*ask)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "mortar_report");
    return ask ? ask(path) : -ENOSYS;
}

int mortar_verified(uint64_t *calls, uint64_t *differences) {
    int (*ask)(uint64_t *, uint64_t *) =
        (int (*)(uint64_t *, uint64_t *))dlsym(RTLD_DEFAULT, "mortar_verified");
    *calls = *differences = 0;
    return ask ? ask(calls, differences) : -ENOSYS;
}

int mortar_examined(uint64_t *calls) {
    int (*ask)(uint64_t *) = (int (*)(uint64_t *))dlsym(RTLD_DEFAULT, "mortar_examined");
    *calls = 0;
    return ask ? ask(calls) : -ENOSYS;
}
