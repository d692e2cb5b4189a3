/* SPDX-License-Identifier: BSD-3-Clause */
/* card_write - the card as JSON. It has what a reader of figures needs to know of the machine, and
 * nothing that names it or its users. */
#define _GNU_SOURCE
#include "card.h"

#include "commit.h"
#include "include/mortar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static void text(FILE *out, const char *name, const char *value) {
    fprintf(out, ", \"%s\": ", name);
    json_text(out, value);
}

/* Does a hypervisor run this? */
static bool is_virtual(void) {
    char *row = NULL;
    size_t room = 0;
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !found && getline(&row, &room, file) > 0)
        found = strncmp(row, "flags", 5) == 0 && strstr(row, " hypervisor");
    if (file) fclose(file);
    free(row);
    return found;
}

static void print_machine(FILE *out, double load) {
    const struct machine_facts *facts = machine_facts();
    struct utsname system;
    fprintf(
        out,
        ",\n \"machine\": {\"processors\": %d, \"sockets\": %d, \"numa_domains\": %d, \"l3_caches\": "
        "%d, \"l1d_bytes\": %zu, \"l2_bytes\": %zu, \"l3_bytes\": %zu, \"memory_bytes\": %zu, "
        "\"virtual\": %s",
        facts->processors, facts->sockets, facts->numa, facts->l3s, facts->l1d, facts->l2,
        facts->l3, machine_memory(), is_virtual() ? "true" : "false");
    text(out, "model", facts->cpu);
    if (uname(&system) == 0) {
        /* Without what a site has added to its name. */
        system.release[strspn(system.release, ".0123456789")] = '\0';
        text(out, "kernel", system.release);
        text(out, "architecture", system.machine);
    }
    if (load >= 0) fprintf(out, ", \"load_before\": %.2f", load);
    fputc('}', out);
}

static void print_time(FILE *out, const char *name, const struct card_time *time) {
    if (time->known)
        fprintf(out, ", \"%s\": {\"seconds\": %.6g, \"spread\": %.3g}", name, time->seconds,
                time->spread);
    else fprintf(out, ", \"%s\": null", name);
}

static void print_cell(FILE *out, const struct card *card, const struct card_cell *cell) {
    const struct world *part = &card->parts[cell->part];
    fprintf(out, "{\"collective\": \"%s\", \"ranks\": %d, \"nodes\": %d, \"bytes\": %zu",
            cell->kind->name, part->p, part->nodes, cell->bytes);
    if (!cell->measured) {
        text(out, "not_measured", cell->why);
    } else {
        fprintf(out, ", \"repetitions\": %d", cell->repetitions);
        print_time(out, "native", &cell->native);
        print_time(out, "mortar", &cell->mortar);
        print_time(out, "limit", &cell->limit);
        if (cell->gain.known)
            fprintf(out, ", \"gain\": %.4g, \"gain_spread\": %.3g", cell->gain.seconds,
                    cell->gain.spread);
        text(out, "plan", cell->plan);
    }
    fputc('}', out);
}

static void print_card(FILE *out, const void *what) {
    const struct card *card = what;
    const struct world *world = card->world;
    char date[16], title[64];
    time_t now = time(NULL);
    int measured = 0;
    for (int c = 0; c < card->count; c++) measured += card->cells[c].measured;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(out, "{\"site_card\": 1, \"mortar\": \"%s\", \"commit\": \"%s\", \"date\": \"%s\"",
            MORTAR_VERSION, BENCH_COMMIT, date);
    text(out, "mpi", world->mpi);
    text(out, "heap", world->heap ? world->heap : "on");
    fprintf(
        out,
        ",\n \"ranks\": %d, \"nodes\": %d, \"processors_for_them\": %d, \"crowded\": %s, "
        "\"mortar_at_work\": %s,\n \"minutes\": %.4g, \"minutes_taken\": %.3g, \"finished\": %s, "
        "\"cells_measured\": %d",
        world->p, world->nodes, world->processors, world->crowded ? "true" : "false",
        world->loaded ? "true" : "false", card->settings->seconds / 60, card->took / 60,
        card->finished ? "true" : "false", measured);
    print_machine(out, card->load);
    fputs(",\n \"health\": ", out);
    snprintf(title, sizeof title, "mortar doctor: %d ranks", world->p);
    health_print(out, card->of_rank, world->p, title, true);
    fputs(" , \"cells\": [", out);
    for (int c = 0; c < card->count; c++) {
        fputs(c ? ",\n  " : "\n  ", out);
        print_cell(out, card, &card->cells[c]);
    }
    fputs("]}\n", out);
}

int card_write(const struct card *card) {
    char path[sizeof card->settings->output + 16], *content;
    size_t bytes;
    snprintf(path, sizeof path, "%s.json", card->settings->output);
    int error = file_print(print_card, card, &content, &bytes);
    if (!error) error = file_replace(path, content, bytes);
    free(content);
    return error;
}
