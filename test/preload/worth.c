/* SPDX-License-Identifier: BSD-3-Clause */
/* worth NODES COLLECTIVE... - mortar_plans: of each collective, for short, long and unknown blocks,
 * does it name plans that mortar_plan takes, each once, native among them, over several nodes with
 * plans in plans, the same ones on all ranks, and as many whole ones as fit? Does it refuse what is
 * no question? Says how many ranks and errors there were. */
#include <mpi.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*plan)(const char *), (*plans)(const char *, size_t, int, char *, size_t);
static int errors, p, me;

static void expect(int fine, const char *what, const char *collective, size_t bytes) {
    if (fine) return;
    errors++;
    printf("rank %d: %s of %zu bytes: %s\n", me, collective, bytes, what);
}

/* Takes the text apart. */
static int each_plan(char *text, const char *collective, size_t bytes, int *natives, int *nested) {
    char *lines[512];
    int count = 0;
    for (char *line = strtok(text, "\n"); line && count < 512; line = strtok(NULL, "\n")) {
        expect(plan(line) == 0, line, collective, bytes);
        for (int i = 0; i < count; i++)
            expect(strcmp(lines[i], line) != 0, "a plan comes twice", collective, bytes);
        *natives += strcmp(line, "native") == 0;
        const char *inner = strchr(line, '(');
        *nested += inner && (strchr(inner + 1, '(') || strncmp(line, "universal", 9) == 0);
        lines[count++] = line;
    }
    plan(NULL);
    return count;
}

static void ask(const char *collective, size_t bytes, int outside, int nodes) {
    enum { room = 1 << 15, little = 100 };
    static char text[room], first[room], some[little];
    int natives = 0, nested = 0, given = plans(collective, bytes, outside, text, room);
    memcpy(first, text, room);
    MPI_Bcast(first, room, MPI_CHAR, 0, MPI_COMM_WORLD);
    expect(strcmp(first, text) == 0, "ranks get different plans", collective, bytes);
    int fit = plans(collective, bytes, outside, some, little);
    size_t length = strlen(some);
    expect(fit > 0 && length > 0 && some[length - 1] == '\n' && strncmp(some, text, length) == 0,
           "a part", collective, bytes);
    expect(fit == given || strcspn(text + length, "\n") + 1 >= little - length, "more would fit",
           collective, bytes);
    int count = each_plan(text, collective, bytes, &natives, &nested);
    expect(count == given && count > 1 && natives == 1, "the number of plans, or of native",
           collective, bytes);
    expect((nested > 0) == (nodes > 1) || nodes == 1, "no plans in plans", collective, bytes);
}

int main(int argc, char **argv) {
    char text[8] = "kept";
    int total;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    *(void **)&plan = dlsym(RTLD_DEFAULT, "mortar_plan");
    *(void **)&plans = dlsym(RTLD_DEFAULT, "mortar_plans");
    if (argc < 3 || !plan || !plans) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 2; i < argc; i++) {
        ask(argv[i], 8, 0, atoi(argv[1]));
        ask(argv[i], 100000, 0, atoi(argv[1]));
        ask(argv[i], 100000, 1, atoi(argv[1]));
        ask(argv[i], 0, 0, atoi(argv[1]));
    }
    expect(plans("alltoal", 8, 0, text, sizeof text) == -EINVAL, "it knows such a collective",
           "alltoal", 8);
    expect(plans(NULL, 8, 0, text, sizeof text) == -EINVAL &&
               plans("alltoall", 8, 0, NULL, 9) == -EINVAL,
           "nothing", "alltoall", 8);
    expect(plans("alltoall", 8, 0, text, 0) == -EINVAL && strcmp(text, "kept") == 0, "no room",
           "alltoall", 8);
    expect(plans("alltoall", 8, 0, text, 3) == 0 && !*text, "little room", "alltoall", 8);
    MPI_Allreduce(&errors, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, total);
    MPI_Finalize();
    return total != 0;
}
