/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "unit.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void expect(bool fine, const char *format, ...) {
    if (fine) return;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "FAILED: %s\n", text);
    fflush(NULL);
    _exit(1); /* other threads may still run: no handlers */
}

uint64_t seed_from(int count, char **words) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = count > 1 ? strtoull(words[1], NULL, 0) : 0;
    if (seed == 0) seed = (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

/* splitmix64: a counter and a mixing function (Steele, Lea, Flood 2014). */
uint64_t draw(uint64_t *random) {
    uint64_t x = *random += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint32_t draw_below(uint64_t *random, uint32_t bound) {
    return (uint32_t)((draw(random) >> 32) * bound >> 32);
}

size_t draw_bytes(uint64_t *random, size_t most) {
    size_t bytes;
    switch (draw_below(random, 4)) {
    case 0: bytes = 1 + draw_below(random, 80); break;
    case 1: bytes = (size_t)1 << draw_below(random, 13); break;
    case 2: bytes = ((size_t)1 << draw_below(random, 13)) + draw_below(random, 3) - 1; break;
    default: bytes = 1 + draw_below(random, (uint32_t)most);
    }
    return bytes < 1 ? 1 : bytes > most ? most : bytes;
}

bool next_text(const char **list, char text[128]) {
    if (!*list) return false;
    size_t length = strcspn(*list, "|");
    expect(length < 128, "a long text: %s", *list);
    memcpy(text, *list, length);
    text[length] = 0;
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}

char *guarded(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(memory != MAP_FAILED && bytes % page == 0, "no guarded memory of %zu bytes", bytes);
    expect(mprotect(memory + page, bytes, PROT_READ | PROT_WRITE) == 0, "mprotect");
    return memory + page;
}

void in_child(void (*body)(void *), void *argument, struct heard *heard) {
    int ends[2];
    /* A socket that keeps records: every write of the child arrives by itself. */
    expect(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0, "socketpair");
    fflush(NULL);
    pid_t child = fork();
    expect(child >= 0, "fork");
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        body(argument);
        _exit(0);
    }
    close(ends[1]);
    memset(heard, 0, sizeof *heard);
    char text[1024];
    for (ssize_t got; (got = recv(ends[0], text, sizeof text - 1, 0)) > 0; heard->writes++)
        if (heard->writes < 16) memcpy(heard->text[heard->writes], text, (size_t)got);
    close(ends[0]);
    expect(waitpid(child, &heard->status, 0) == child, "waitpid");
}

void faults_kill(void) {
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
}
