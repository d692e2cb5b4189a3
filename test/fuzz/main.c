/* SPDX-License-Identifier: BSD-3-Clause */
/* main - runs a target on files, and on all files of folders, without libFuzzer.
 * fuzz-TARGET PATH... */
#define _GNU_SOURCE
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int done;

static void run(const char *path) {
    FILE *file = fopen(path, "rb");
    must(file != NULL, "%s: %s", path, strerror(errno));
    uint8_t *data = malloc(1 << 20);
    size_t size = data ? fread(data, 1, 1 << 20, file) : 0;
    fclose(file);
    uint8_t *exact = malloc(size + !size);
    must(data && exact, "no memory");
    memcpy(exact, data, size);
    free(data);
    printf("%s\n", path); /* the last one is the one that fails */
    fflush(stdout);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    done++;
}

static int is_shown(const struct dirent *entry) { return *entry->d_name != '.'; }

static void run_all(const char *path) {
    struct dirent **entries;
    int count = scandir(path, &entries, is_shown, alphasort);
    if (count < 0) run(path);
    for (int i = 0; i < count; i++) {
        char *inside;
        must(asprintf(&inside, "%s/%s", path, entries[i]->d_name) > 0, "no memory");
        run(inside);
        free(inside);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

int main(int count, char **words) {
    for (int i = 1; i < count; i++) run_all(words[i]);
    printf("%d inputs\n", done);
    return done == 0;
}
