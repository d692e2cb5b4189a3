/* SPDX-License-Identifier: BSD-3-Clause */
/* health_print - findings of many ranks, each once, as lines or as JSON. */
#define _GNU_SOURCE
#include "info/health.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const colours[] = {"green", "yellow", "red"};

static bool same(const struct finding *a, const struct finding *b) {
    return a->colour == b->colour && strcmp(a->name, b->name) == 0 &&
           strcmp(a->text, b->text) == 0 && strcmp(a->cure, b->cure) == 0;
}

/* Does the rank have this finding? */
static bool has(const struct findings *of, const struct finding *one) {
    for (int i = 0; i < of->count; i++)
        if (same(&of->list[i], one)) return true;
    return false;
}

/* The different findings of all ranks, those of one name together, in the order in which ranks have
 * them. Returns how many; *list is to be freed. */
static int gather(const struct findings *of_rank, int ranks, const struct finding ***list) {
    int count = 0;
    *list = calloc((size_t)ranks * most_findings + 1, sizeof **list);
    for (int r = 0; *list && r < ranks; r++)
        for (int i = 0; i < of_rank[r].count; i++) {
            const struct finding *one = &of_rank[r].list[i];
            int behind = count;
            bool known = false;
            for (int k = 0; k < count && !known; k++) {
                known = same((*list)[k], one);
                if (strcmp((*list)[k]->name, one->name) == 0) behind = k + 1;
            }
            if (known) continue;
            memmove(*list + behind + 1, *list + behind, (size_t)(count - behind) * sizeof **list);
            (*list)[behind] = one;
            count++;
        }
    return count;
}

/* " (ranks 0-3, 7)"; nothing if all ranks have it. */
static void print_ranks(FILE *out, const struct findings *of_rank, int ranks,
                        const struct finding *one) {
    int holders = 0;
    for (int r = 0; r < ranks; r++) holders += has(&of_rank[r], one);
    if (holders == ranks) return;
    const char *before = holders > 1 ? " (ranks " : " (rank ";
    for (int r = 0, last; r < ranks; r = last + 1) {
        last = r;
        if (!has(&of_rank[r], one)) continue;
        while (last + 1 < ranks && has(&of_rank[last + 1], one)) last++;
        fprintf(out, last > r ? "%s%d-%d" : "%s%d", before, r, last);
        before = ", ";
    }
    fputc(')', out);
}

static void print_line(FILE *out, const struct findings *of_rank, int ranks,
                       const struct finding *one, bool coloured) {
    static const char *const codes[] = {"\033[32m", "\033[33m", "\033[31m"};
    fprintf(out, "%s%-6s%s  %-17s ", coloured ? codes[one->colour] : "", colours[one->colour],
            coloured ? "\033[0m" : "", one->name);
    fputs(one->text, out);
    print_ranks(out, of_rank, ranks, one);
    if (*one->cure) fprintf(out, "\n        %-17s -> %s", "", one->cure);
    fputc('\n', out);
}

static void print_json(FILE *out, const struct findings *of_rank, int ranks,
                       const struct finding *one, const char *before) {
    fprintf(out, "%s\n  {\"colour\": \"%s\", \"name\": ", before, colours[one->colour]);
    json_text(out, one->name);
    fputs(", \"text\": ", out);
    json_text(out, one->text);
    fputs(", \"cure\": ", out);
    json_text(out, one->cure);
    fputs(", \"ranks\": [", out);
    const char *comma = "";
    for (int r = 0; r < ranks; r++)
        if (has(&of_rank[r], one)) fprintf(out, "%s%d", comma, r), comma = ", ";
    fputs("]}", out);
}

enum colour health_print(FILE *out, const struct findings *of_rank, int ranks, const char *title,
                         bool json) {
    static const char *const sums[] = {
        "All is green: mortar has what it needs.",
        "Nothing is red: mortar works here, with the losses that are yellow.",
        "What is red keeps mortar from working here; programs run as without it."};
    const struct finding **list;
    enum colour worst = GREEN;
    /* Open MPI gives its ranks a terminal, whatever its own output is. */
    bool coloured = launcher_rank() < 0 && isatty(fileno(out)) == 1;
    int count = gather(of_rank, ranks, &list);
    for (int i = 0; i < count; i++)
        if (list[i]->colour > worst) worst = list[i]->colour;
    if (json) {
        fputs("{\"title\": ", out);
        json_text(out, title);
        fprintf(out, ",\n \"ranks\": %d, \"worst\": \"%s\", \"findings\": [", ranks,
                colours[worst]);
        for (int i = 0; i < count; i++) print_json(out, of_rank, ranks, list[i], i ? "," : "");
        fputs("]}\n", out);
    } else {
        fprintf(out, "%s\n", title);
        for (int i = 0; i < count; i++) print_line(out, of_rank, ranks, list[i], coloured);
        fprintf(out, "%s\n", sums[worst]);
        if (ranks == 1 && launcher_ranks() <= 1)
            fputs("Seen from one process only. Of a job: mpirun -n P mortar doctor ./app\n", out);
    }
    free(list);
    return worst;
}
