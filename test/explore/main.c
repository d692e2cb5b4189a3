/* SPDX-License-Identifier: BSD-3-Clause */
/* main - explore SCENE THREADS [NUMBER...] [reported]: visits all executions of a scene, and prints
 * how many there are, or what goes wrong in one, and that one. With `naive` in the environment's
 * EXPLORE it tries all interleavings, which only small scenes allow. */
#define _GNU_SOURCE
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int numbers[8], number_count, thread_count;
static bool reported;

int scene_threads(void) { return thread_count; }
bool scene_reported(void) { return reported; }
int scene_number(int index) { return index < number_count ? numbers[index] : 0; }

static uint64_t outcomes[256];

void outcome(uint64_t value) {
    for (uint64_t i = 0; i < found.outcomes; i++)
        if (outcomes[i] == value) return;
    outcomes[found.outcomes++] = value;
}

static double seconds(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

int main(int count, char **words) {
    const struct scene *scene = NULL;
    for (int i = 0; count > 2 && i < scene_count; i++)
        if (strcmp(scenes[i].name, words[1]) == 0) scene = &scenes[i];
    if (!scene) {
        for (int i = 0; i < scene_count; i++) printf("%s\n", scenes[i].name);
        return 2;
    }
    thread_count = atoi(words[2]);
    for (int i = 3; i < count && number_count < 8; i++) {
        reported = strcmp(words[i], "reported") == 0;
        if (!reported) numbers[number_count++] = atoi(words[i]);
    }
    const char *how = getenv("EXPLORE");
    double began = seconds();
    visit(scene, thread_count, how && strcmp(how, "naive") == 0 ? NAIVE : OPTIMAL, 0);
    printf("%llu executions", (unsigned long long)found.executions);
    if (found.outcomes) printf(", %llu outcomes", (unsigned long long)found.outcomes);
    if (found.twice) printf(", %llu visited again", (unsigned long long)found.twice);
    printf(", %.2f s: %s\n", seconds() - began, found.fault[0] ? found.fault : "right");
    if (found.fault[0]) trace_print();
    return found.fault[0] != 0;
}
