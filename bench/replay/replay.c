/* SPDX-License-Identifier: BSD-3-Clause */
/* replay - `mortar replay FILE`: makes a saved call again, with the plan that it had, and lets
 * mortar compare the result with the MPI library's (option VERIFY, which the command sets). */
#define _GNU_SOURCE
#include "replay.h"

#include "base/base.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t most_bytes = INT_MAX;
static const char usage[] =
    "usage: mpirun -n RANKS mortar replay FILE [--times N]\n"
    "Makes a call again that MORTAR_VERIFY has saved, and compares the result with the MPI library's.\n"
    "--times N  make it so many times (10)\n"
    "Ends with 0 if the results were the same, 1 if they differed, 2 if the call cannot be made.\n";

/* Rank 0 reads the file for all. NULL on all ranks: it cannot. */
static char *read_all(const char *path, int me, size_t *bytes) {
    char *text = NULL;
    int error = me == 0 ? file_read(path, most_bytes, &text, bytes) : 0;
    unsigned long long size = error ? 0 : (unsigned long long)*bytes;
    if (error) fprintf(stderr, "mortar replay: %s: %s\n", path, file_why(error));
    else if (me == 0 && size == 0) fprintf(stderr, "mortar replay: %s: the file is empty\n", path);
    MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    if (size == 0) return NULL;
    char *all = calloc((size_t)size + 1, 1);
    if (!all) {
        fprintf(stderr, "mortar replay: no memory for the %llu bytes of %s\n", size, path);
        exit(2); /* the launcher ends the others */
    }
    if (me == 0) memcpy(all, text, (size_t)size);
    free(text);
    MPI_Bcast(all, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
    *bytes = (size_t)size;
    return all;
}

static int run(const char *path, int times, int me) {
    uint64_t before, calls, differences;
    size_t bytes = 0;
    struct replay_case c;
    int (*verified)(uint64_t *, uint64_t *);
    *(void **)&verified = dlsym(RTLD_DEFAULT, "mortar_verified");
    if (!verified || verified(&before, &differences) != 0) {
        if (me == 0) fprintf(stderr, "mortar replay: mortar is not at work here\n");
        return 2;
    }
    char *text = read_all(path, me, &bytes);
    if (!text) return 2;
    const char *why = case_open(&c, text, bytes);
    if (why) {
        if (me == 0) fprintf(stderr, "mortar replay: %s: %s\n", path, why);
        return 2;
    }
    int fine = 0;
    verified(&before, &differences);
    uint64_t already = differences;
    for (int i = 0; i < times && differences == already; i++) {
        case_fill(&c);
        if ((fine = case_call(&c)) == -1) break;
        verified(&calls, &differences);
    }
    if (fine == -1) {
        if (me == 0)
            fprintf(stderr, "mortar replay: %s: no collective named %s\n", path, c.collective);
        return 2;
    }
    calls -= before;
    if (me == 0)
        printf("%s on %d ranks by %s: %llu calls compared with the MPI library's, %s\n",
               c.collective, c.ranks, c.plan, (unsigned long long)calls,
               differences > already ? "the last one differed" : "all alike");
    if (calls == 0) return 2;
    return differences > already;
}

int replay(int count, char **words) {
    const char *path = NULL;
    int times = 10, me, code = 0;
    bool first = launcher_rank() <= 0;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
            if (first) fputs(usage, stdout);
            return 0;
        }
        if (strcmp(words[i], "--times") == 0 && i + 1 < count) times = atoi(words[++i]);
        else if (*words[i] != '-' && !path) path = words[i];
        else code = 2;
    }
    if (code || !path || times < 1) {
        if (first) fputs(usage, stderr);
        return first ? 2 : 0;
    }
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    code = run(path, times, me);
    MPI_Finalize();
    return me == 0 ? code : 0;
}
