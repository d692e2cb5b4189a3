/* SPDX-License-Identifier: BSD-3-Clause */
/* traffic - what leaves each host per call of a collective: the difference between many calls and
 * few, so that start, connections and barriers cancel. A line `traffic COLLECTIVE BYTES HOST
 * MESSAGES MESSAGE_BYTES PACKETS WIRE_BYTES PLAN` for each host. usage: traffic COLLECTIVE
 * BYTES,BYTES... [PLAN...]    plans of mortar, or native, or auto; without mortar none
 *
 * Packets and bytes are the kernel's, of /proc/self/net/dev. Messages are what Open MPI 4's
 * point-to-point layer sends, its own collectives' included: its monitoring component
 * (pml_monitoring_enable=1) calls mca_common_monitoring_record_pml for each, and a function of the
 * program comes before the library's. With other MPI libraries they are -1. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_ranks = 1024, few = 5, many = 25, warm = 3 };

static int p, me, first[most_ranks]; /* lowest rank on the same host as rank i */
static char *send, *recv;
static int *counts, *displs;

/* ---- the calls ---- */

static void alltoall(int n) { MPI_Alltoall(send, n, MPI_BYTE, recv, n, MPI_BYTE, MPI_COMM_WORLD); }
static void alltoallv(int n) {
    (void)n;
    MPI_Alltoallv(send, counts, displs, MPI_BYTE, recv, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
}
static void allgather(int n) {
    MPI_Allgather(send, n, MPI_BYTE, recv, n, MPI_BYTE, MPI_COMM_WORLD);
}
static void allgatherv(int n) {
    MPI_Allgatherv(send, n, MPI_BYTE, recv, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
}
static void allreduce(int n) {
    MPI_Allreduce(send, recv, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce(int n) { MPI_Reduce(send, recv, n / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }
static void bcast(int n) { MPI_Bcast(send, n, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void gather(int n) { MPI_Gather(send, n, MPI_BYTE, recv, n, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void scatter(int n) { MPI_Scatter(send, n, MPI_BYTE, recv, n, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void barrier(int n) {
    (void)n;
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*call)(int bytes);
} collectives[] = {{"alltoall", alltoall},     {"alltoallv", alltoallv}, {"allgather", allgather},
                   {"allgatherv", allgatherv}, {"allreduce", allreduce}, {"reduce", reduce},
                   {"bcast", bcast},           {"gather", gather},       {"scatter", scatter},
                   {"barrier", barrier}};

/* ---- the counters ---- */

enum { MESSAGES, MESSAGE_BYTES, PACKETS, WIRE_BYTES, COUNTERS };
struct counters {
    double of[COUNTERS];
};

static double messages[most_ranks], message_bytes[most_ranks]; /* to each rank */
static bool counting;

void mca_common_monitoring_record_pml(int rank, size_t bytes, int tag);
void mca_common_monitoring_record_pml(int rank, size_t bytes, int tag) {
    (void)tag;
    counting = true;
    messages[rank]++;
    message_bytes[rank] += (double)bytes;
}

/* Of this rank's messages those to other hosts; of the network what its host has sent, counted by
 * one rank. */
static struct counters look(void) {
    struct counters now = {{0}};
    unsigned long long bytes, packets;
    for (int r = 0; r < p; r++)
        if (first[r] != first[me])
            now.of[MESSAGES] += messages[r], now.of[MESSAGE_BYTES] += message_bytes[r];
    FILE *file = first[me] == me ? fopen("/proc/self/net/dev", "r") : NULL;
    for (char line[512]; file && fgets(line, sizeof line, file);)
        if (sscanf(line, " eth0: %*u %*u %*u %*u %*u %*u %*u %*u %llu %llu", &bytes, &packets) == 2)
            now.of[PACKETS] = (double)packets, now.of[WIRE_BYTES] = (double)bytes;
    if (file) fclose(file);
    return now;
}

/* What `calls` calls have sent; the barriers around the looks are the same each time. */
static struct counters measure(void (*call)(int), int bytes, int calls) {
    PMPI_Barrier(MPI_COMM_WORLD);
    struct counters before = look();
    PMPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < calls; i++) call(bytes);
    PMPI_Barrier(MPI_COMM_WORLD);
    struct counters after = look();
    for (int c = 0; c < COUNTERS; c++) after.of[c] -= before.of[c];
    return after;
}

static void report(const char *name, int bytes, const char *plan, const struct counters *mine) {
    char host[64] = "", hosts[most_ranks][sizeof host];
    static struct counters all[most_ranks];
    gethostname(host, sizeof host - 1);
    PMPI_Gather(host, sizeof host, MPI_CHAR, hosts, sizeof host, MPI_CHAR, 0, MPI_COMM_WORLD);
    PMPI_Gather(mine, COUNTERS, MPI_DOUBLE, all, COUNTERS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int node = 0; me == 0 && node < p; node++) {
        struct counters sum = {{0}};
        if (first[node] != node) continue;
        for (int r = 0; r < p; r++)
            for (int c = 0; first[r] == node && c < COUNTERS; c++) sum.of[c] += all[r].of[c];
        if (!counting) sum.of[MESSAGES] = sum.of[MESSAGE_BYTES] = -1;
        printf("traffic\t%s\t%d\t%s\t%.10g\t%.10g\t%.10g\t%.10g\t%s\n", name, bytes, hosts[node],
               sum.of[MESSAGES], sum.of[MESSAGE_BYTES], sum.of[PACKETS], sum.of[WIRE_BYTES], plan);
    }
    if (me == 0) fflush(stdout);
}

static void one(int collective, int bytes, const char *plan) {
    void (*call)(int) = collectives[collective].call;
    for (int r = 0; r < p; r++) counts[r] = bytes, displs[r] = r * bytes;
    measure(call, bytes, warm); /* plans, connections */
    struct counters less = measure(call, bytes, few), more = measure(call, bytes, many);
    for (int c = 0; c < COUNTERS; c++) more.of[c] = (more.of[c] - less.of[c]) / (many - few);
    report(collectives[collective].name, bytes, plan, &more);
}

static int stop(const char *what, const char *word) {
    if (me == 0) fprintf(stderr, "traffic: %s '%s'; see the head of traffic.c\n", what, word);
    MPI_Finalize();
    return 2;
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    int (*force)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "mortar_plan");
    if (force) force("native"); /* what is not measured */
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node);
    int lowest = me, kind = 0, kinds = (int)(sizeof collectives / sizeof collectives[0]);
    PMPI_Bcast(&lowest, 1, MPI_INT, 0, node);
    if (count < 3 || p > most_ranks)
        return stop("wanted is COLLECTIVE BYTES [PLAN...] on at most 1024 ranks, not", words[0]);
    PMPI_Allgather(&lowest, 1, MPI_INT, first, 1, MPI_INT, MPI_COMM_WORLD);
    while (kind < kinds && strcmp(collectives[kind].name, words[1]) != 0) kind++;
    if (kind == kinds) return stop("not among the collectives it knows is", words[1]);
    if (count > 3 && !force) return stop("without mortar (mortar run) there is no plan", words[3]);
    for (char *size = strtok(words[2], ","); size; size = strtok(NULL, ",")) {
        int bytes = atoi(size);
        if (bytes < 0 || bytes % 8 != 0) return stop("expected multiples of 8 bytes, not", size);
        send = calloc((size_t)p, (size_t)bytes + 1), recv = calloc((size_t)p, (size_t)bytes + 1);
        counts = malloc(2 * (size_t)p * sizeof *counts), displs = counts + p;
        for (int i = 3; i < count; i++) {
            if (force(strcmp(words[i], "auto") == 0 ? NULL : words[i]) != 0)
                return stop("mortar refuses the plan", words[i]);
            one(kind, bytes, words[i]);
        }
        if (count == 3) one(kind, bytes, "native");
        free(send);
        free(recv);
        free(counts);
    }
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
