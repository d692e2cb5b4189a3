/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning - `mortar info --tuning FILE` prints a tuning file; `mortar info --merge OUT FILE...`
 * merges several into one. */
#include "info/info.h"

#include "tuning/tuning.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int cannot(const char *path, const char *why) {
    fprintf(stderr, "mortar info: %s: %s\n", path, why);
    return 1;
}

static void explain_network(const struct network_facts *network) {
    if (network->pairs == 0) return;
    printf(
        "network, measured %s with %d pair%s between %s: latency %.4g us, send %.4g us, receive %.4g us,\n",
        network->date, network->pairs, network->pairs == 1 ? "" : "s", network->between,
        network->latency_seconds * 1e6, network->send_seconds * 1e6,
        network->receive_seconds * 1e6);
    printf(
        "  a message every %.4g us from one rank, every %.4g us from a node; %.4g GB/s from one rank, %.4g GB/s from a node\n",
        network->message_seconds * 1e6, network->node_message_seconds * 1e6,
        1e-9 / network->byte_seconds, 1e-9 / network->node_byte_seconds);
    if (network->one_partner_ratio > 0 && network->many_partners_ratio > 0)
        printf(
            "  when all nodes send at once bytes take %.4g times as long to one node at a time, and %.4g times to very many\n",
            network->one_partner_ratio, network->many_partners_ratio);
}

int explain_tuning(const char *path) {
    struct tuning_file file;
    char why[320];
    if (tuning_read(path, &file, why, sizeof why) != 0) return cannot(path, why);
    for (int s = 0; s < file.count; s++) {
        const struct tuning_set *set = &file.sets[s];
        struct tuning_set here;
        tuning_here(&here, set->mpi); /* which MPI library a program will use is not known here */
        bool fits = tuning_fits(set, &here, why, sizeof why);
        printf("%s, %s, %s, mortar %s, %s\n", set->machine.cpu, set->mpi, set->kernel, set->mortar,
               set->date);
        if (fits) printf("fits this machine, for programs that use this MPI library\n");
        else printf("does not fit: %s\n", why);
        explain_network(&set->network);
        if (set->count == 0) continue;
        printf("%-12s %5s %5s %7s %-8s %10s %10s %12s %12s  %-16s %s\n", "collective", "ranks",
               "nodes", "domains", "buffers", "from", "to", "seconds", "native", "gain (interval)",
               "plan");
        for (int e = 0; e < set->count; e++) {
            const struct tuning_entry *x = &set->entries[e];
            printf("%-12s %5d %5d %7d %-8s %10zu %10zu %12.4g %12.4g  %.2f (%.2f-%.2f) %s\n",
                   x->collective, x->ranks, x->nodes, x->domains, x->nodes > 1 ? "any" : x->buffers,
                   x->from, x->to, x->seconds, x->native_seconds, x->gain, x->gain_interval[0],
                   x->gain_interval[1], x->plan);
        }
    }
    tuning_free(&file);
    return 0;
}

/* Is it a file whose contents would be lost, because it is none of those that are merged? */
static bool loses(const char *out, int count, char **paths) {
    struct stat there, one;
    if (stat(out, &there) != 0 || !S_ISREG(there.st_mode)) return false;
    for (int i = 0; i < count; i++)
        if (stat(paths[i], &one) == 0 && one.st_dev == there.st_dev && one.st_ino == there.st_ino)
            return false;
    return true;
}

int merge_tuning(const char *out, int count, char **paths) {
    struct tuning_file all = {0}, one;
    char why[320];
    int code = 0;
    if (loses(out, count, paths))
        return cannot(out,
                      "it is there, and would be overwritten: --merge OUT FILE... expects a new "
                      "OUT, or one that is among the FILEs, too");
    for (int i = 0; i < count && code == 0; i++) {
        if (tuning_read(paths[i], &one, why, sizeof why) != 0) code = cannot(paths[i], why);
        else if (tuning_merge(&all, &one) != 0) code = cannot(paths[i], "out of memory");
        tuning_free(&one);
    }
    int error = code ? 0 : tuning_write(out, all.sets, all.count);
    if (error) code = cannot(out, file_why(error));
    tuning_free(&all);
    return code;
}
