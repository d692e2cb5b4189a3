/* SPDX-License-Identifier: BSD-3-Clause */
/* chosen - which plan ran: the one whose calls have grown most between two of mortar's reports. */
#define _GNU_SOURCE
#include "bench/common/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { most_rows = 4096 };
static struct row {
    const struct kind *kind;
    int ranks;
    char plan[192]; /* with the reason, when it is native */
    char source[16];
    unsigned long long from; /* the size class */
    unsigned long long calls;
} rows[most_rows];
static int count;

/* The text of a field in a line of the report, which holds one record: "name": "text". Empty when
 * it is null. */
static void text_field(const char *line, const char *name, char *text, size_t size) {
    char key[32];
    snprintf(key, sizeof key, "\"%s\": \"", name);
    const char *start = strstr(line, key);
    start = start ? start + strlen(key) : "";
    snprintf(text, size, "%.*s", (int)strcspn(start, "\""), start);
}

/* Reads a line; returns how many calls of its plan are new. */
static unsigned long long grown(const char *line, const struct world *world,
                                const struct kind *kind, char *plan, size_t size) {
    char name[32], what[64], reason[120], source[16];
    int ranks = 0;
    unsigned long long calls = 0, from = 0;
    const char *at = strstr(line, "\"ranks\": ");
    if (at) sscanf(at, "\"ranks\": %d", &ranks);
    if ((at = strstr(line, "\"calls\": ")) != NULL) sscanf(at, "\"calls\": %llu", &calls);
    if ((at = strstr(line, "\"from\": ")) != NULL) sscanf(at, "\"from\": %llu", &from);
    text_field(line, "collective", name, sizeof name);
    text_field(line, "plan", what, sizeof what);
    text_field(line, "reason", reason, sizeof reason);
    text_field(line, "source", source, sizeof source);
    if (strcasecmp(name, kind->function) != 0 || ranks != world->p) return 0;
    snprintf(plan, size, "%s%s%s", what, *reason ? ": " : "", reason);
    int r = 0;
    while (r < count && (rows[r].kind != kind || rows[r].ranks != ranks || rows[r].from != from ||
                         strcmp(rows[r].plan, plan) != 0 || strcmp(rows[r].source, source) != 0))
        r++;
    if (r == most_rows) return 0;
    if (r == count) {
        rows[r].kind = kind, rows[r].ranks = ranks, rows[r].from = from;
        count++;
        snprintf(rows[r].plan, sizeof rows->plan, "%s", plan);
        snprintf(rows[r].source, sizeof rows->source, "%s", source);
    }
    unsigned long long before = rows[r].calls;
    rows[r].calls = calls;
    return calls - before;
}

/* The report of now, on the first rank; NULL elsewhere, and where there is none. Collective. */
static FILE *open_report(const struct world *world) {
    char path[64];
    if (!world->report) return NULL;
    int fd = world->me == 0 ? memfd_create("mortar-bench-report", MFD_CLOEXEC) : -1;
    FILE *instead = world->me == 0 && fd < 0 ? tmpfile() : NULL;
    if (instead) {
        fd = dup(fileno(instead));
        fclose(instead);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int error = world->report(path);
    if (fd < 0) return NULL;
    FILE *file = error == 0 ? fdopen(fd, "r") : NULL;
    if (!file) close(fd);
    return file;
}

bool chosen(const struct world *world, const struct kind *kind, bool forced, char *text,
            size_t size) {
    char plan[sizeof rows->plan], line[1024];
    unsigned long long most = 0;
    *text = 0;
    FILE *file = open_report(world);
    while (file && fgets(line, sizeof line, file)) {
        unsigned long long calls = grown(line, world, kind, plan, sizeof plan);
        if (calls <= most || !strstr(line, forced ? "\"source\": \"forced\"" : "\"source\": \""))
            continue;
        if (!forced && strstr(line, "\"source\": \"forced\"")) continue;
        most = calls;
        snprintf(text, size, "%s", plan);
    }
    bool tells = file && count < most_rows;
    if (file) fclose(file);
    return tells;
}

struct seen chosen_seats(const struct world *world) {
    char line[1024];
    struct seen seen = {0};
    int ranks, nodes, fullest, domains;
    FILE *file = open_report(world);
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, " {\"ranks\": %d, \"nodes\": %d, \"fullest\": %d, \"domains\": %d", &ranks,
                   &nodes, &fullest, &domains) != 4)
            continue;
        if (ranks != world->p) continue;
        seen.nodes = nodes, seen.fullest = fullest, seen.domains = domains;
        text_field(line, "native", seen.why, sizeof seen.why);
    }
    if (file) fclose(file);
    library.bcast(&seen, (int)sizeof seen, MPI_BYTE, 0, MPI_COMM_WORLD);
    return seen;
}
