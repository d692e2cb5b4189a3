/* SPDX-License-Identifier: BSD-3-Clause */
/* mortar-model - how many lines each process misses in its caches, by order, simulated; beside them
 * the equations of li2018. Standard output: a table, or with --csv one line per simulation, which
 * model_draw.py draws. */
#include "model.h"

#include "base/base.h"
#include "described.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: mortar model [OPTION...]\n"
    "  --machine NAME|FILE    e7-8890v3 (default), e5-2680v3, knc-5110p, epyc-7742, this, ideal:BYTES, or a file like those in machines/\n"
    "  --ranks P              ranks, each on a core of its own; default: one per core\n"
    "  --collective NAME      allgather or alltoall (default: both)\n"
    "  --grid 6x10|4x4x4|random8  the same between neighbours: neighbor_allgather, neighbor_alltoall; on a grid or a random graph\n"
    "  --bytes A,B,...        block sizes; default: those of li2018, tables 1 and 2, up to 32K\n"
    "  --orders X,Y,...       orders; default: rows,columns,morton and what else there is\n"
    "  --nontemporal BYTES    blocks of at least so many bytes are stored past the caches; default: none\n"
    "  --line L[,L']          bytes of a line in the equations; default: 70.4,80.6, as li2018 measured them on its L2\n"
    "  --sample N             simulate one of N lines; default 1, and 8 for blocks of 1M or more if the caches can be divided so\n"
    "  --table 1|2            li2018, table 1 or 2: simulated beside counted, and how far apart\n"
    "  --sensitivity          what is left of the curve's gain when assumptions of the model are taken back; half a minute\n"
    "  --packing NODES        an alltoall over so many nodes through leaders: misses of packing and unpacking, row by row and along\n"
    "                         the curve\n"
    "  --csv                  one line per simulation, of --table one per figure; not of --sensitivity, --packing\n"
    "  --svg FILE, --png FILE draw the curves; not of --table, --sensitivity, --packing\n";

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...) {
    va_list list;
    fputs("mortar model: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputs(" (mortar model --help)\n", stderr);
    exit(2);
}

/* ---- the command line ---- */

static void read_machine(struct machine *machine, const char *name, const char *program) {
    char path[4096], why[256];
    uint64_t bytes;
    if (strcmp(name, "this") == 0) {
        machine_this(machine);
        return;
    }
    if (strncmp(name, "ideal:", 6) == 0) {
        if (parse_bytes(name + 6, &bytes) != 0 || bytes < 64 || bytes > most_bytes)
            fail("--machine %s: expected bytes from 64, a line, to 1G, e.g. ideal:32K", name);
        *machine = machine_ideal(most_cores, bytes);
        return;
    }
    if (!described_place(path, name, program, "machines", why) ||
        machine_read(machine, path, why) != 0)
        fail("%s", why);
}

static uint64_t number_or_fail(const char *option, const char *text, uint64_t most) {
    uint64_t number;
    if (parse_bytes(text, &number) != 0 || number == 0 || number > most)
        fail("%s %s: expected a whole number from 1 to %llu", option, text,
             (unsigned long long)most);
    return number;
}

uint64_t bytes_or_fail(const char *option, const char *text) {
    uint64_t bytes;
    if (parse_bytes(text, &bytes) != 0 || bytes == 0 || bytes > most_bytes)
        fail("%s %s: expected bytes from 1 to 1G, e.g. 64 or 4K", option, text);
    return bytes;
}

/* By all ranks together as many lines are simulated as each of them has, or more. */
uint32_t sample_or_fail(const struct settings *s, bool alltoall, uint64_t bytes) {
    uint32_t line = s->machine.line_bytes, peers = s->grid ? s->around.degree : s->ranks;
    if (!s->sample) return bytes >= 1 << 20 && node_divides(&s->machine, 8) ? 8 : 1;
    if (!node_divides(&s->machine, s->sample))
        fail("--sample %u: one of so many lines has no sets of its own in the caches of %s: "
             "expected a number that divides their sets, of scattered ones 64",
             s->sample, s->machine.name);
    uint64_t lines = (bytes * peers * (alltoall ? 2 : 1) + line - 1) / line;
    if (s->sample > lines)
        fail("--sample %u: with blocks of %llu bytes a rank has %llu lines, and nothing to count "
             "would be left: expected at most that number, or larger --bytes",
             s->sample, (unsigned long long)bytes, (unsigned long long)lines);
    return s->sample;
}

/* L or L,L': a number of bytes or two. */
static const char *line_or_fail(const char *text) {
    char *end;
    double line = strtod(text, &end), along = *end == ',' ? strtod(end + 1, &end) : line;
    if (*end || !(line > 0 && along > 0 && line < most_bytes && along < most_bytes))
        fail("--line %s: expected one or two numbers of bytes, e.g. 70.4,80.6", text);
    return text;
}

bool next_word(const char *option, const char **list, char word[64]) {
    size_t length = strcspn(*list, ",");
    if (!**list) return false;
    if (length == 0 || length >= 64)
        fail("%s %s: expected words of 1 to 63 letters with commas between", option, *list);
    memcpy(word, *list, length);
    word[length] = 0;
    *list += length + ((*list)[length] == ',');
    return true;
}

/* Of the option that this is. */
static const char *value_of(char **word) {
    if (!word[1]) fail("%s needs a value", word[0]);
    return word[1];
}

static void read_words(struct settings *s, int count, char **words) {
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) exit(fputs(usage, stdout) < 0);
        if (strcmp(word, "--csv") == 0) {
            s->csv = true;
            continue;
        }
        if (strcmp(word, "--sensitivity") == 0) {
            s->sensitivity = true;
            continue;
        }
        if (strcmp(word, "--machine") == 0) s->machine_name = value_of(&words[i]);
        else if (strcmp(word, "--ranks") == 0)
            s->ranks = (uint32_t)number_or_fail(word, value_of(&words[i]), most_cores);
        else if (strcmp(word, "--collective") == 0) s->collective = value_of(&words[i]);
        else if (strcmp(word, "--grid") == 0) s->grid = value_of(&words[i]);
        else if (strcmp(word, "--bytes") == 0) s->bytes = value_of(&words[i]);
        else if (strcmp(word, "--orders") == 0) s->orders = value_of(&words[i]);
        else if (strcmp(word, "--nontemporal") == 0)
            s->nontemporal = bytes_or_fail(word, value_of(&words[i]));
        else if (strcmp(word, "--line") == 0) s->line = line_or_fail(value_of(&words[i]));
        else if (strcmp(word, "--sample") == 0)
            s->sample = (uint32_t)number_or_fail(word, value_of(&words[i]), 1 << 20);
        else if (strcmp(word, "--packing") == 0)
            s->packing = number_or_fail(word, value_of(&words[i]), 1 << 16);
        else if (strcmp(word, "--table") == 0)
            s->table = (int)number_or_fail(word, value_of(&words[i]), 2);
        else if (strcmp(word, "--most") == 0) s->most = bytes_or_fail(word, value_of(&words[i]));
        else fail("unknown option %s", word);
        i++;
    }
}

static void __attribute__((noreturn)) fail_order(const char *walk) {
    char names[512] = "";
    for (int i = 0; i < ORDERS; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, orders[i].nests ? " %s(...)" : " %s",
                 orders[i].name);
    }
    fail("--orders %s: expected one of%s", walk, names);
}

static void add_sizes(struct jobs *jobs, const struct settings *s, bool alltoall) {
    char size[64], walk[64];
    for (const char *sizes = s->bytes; next_word("--bytes", &sizes, size);)
        for (const char *walks = s->orders; next_word("--orders", &walks, walk);) {
            struct job *job = &jobs->all[jobs->count++];
            uint64_t bytes = bytes_or_fail("--bytes", size);
            uint32_t sample = sample_or_fail(s, alltoall, bytes);
            if (jobs->count == most_jobs)
                fail("--bytes, --orders: more than %d simulations", most_jobs - 1);
            *job = (struct job){.exchange = {.alltoall = alltoall,
                                             .around = s->grid ? &s->around : NULL,
                                             .ranks = s->ranks,
                                             .bytes = bytes,
                                             .nontemporal = s->nontemporal,
                                             .bare = strcmp(s->machine.name, "ideal") == 0,
                                             .sample = sample}};
            if (!parse_walk(walk, job)) fail_order(walk);
            if (s->grid && !job_walks_edges(job))
                fail("--orders %s: it does not walk neighbourhoods", walk);
        }
}

static int answer(int count, char **words) {
    static struct jobs jobs;
    struct settings s = {.machine_name = "e7-8890v3",
                         .bytes = "8,64,512,4K,32K",
                         .line = "70.4,80.6",
                         .most = UINT64_MAX,
                         .orders = NULL};
    read_words(&s, count, words);
    if (!s.orders) s.orders = s.grid ? "rows,compact,numa(compact)" : "rows,columns,morton";
    read_machine(&s.machine, s.machine_name, words[0]);
    if (s.ranks == 0) s.ranks = s.machine.cores;
    if (s.ranks > s.machine.cores)
        fail("--ranks %u: %s has %u cores", s.ranks, s.machine.name, s.machine.cores);
    if (s.csv && (s.sensitivity || s.packing))
        fail("--csv: %s is a table only", s.packing ? "--packing" : "--sensitivity");
    if (s.table) return print_table(&s);
    if (s.sensitivity) return print_sensitivity(&s);
    if (s.packing) return print_packing(&s);
    const char *wrong = s.grid ? around_make(s.grid, s.ranks, &s.around) : NULL;
    if (wrong) fail("--grid: %s", wrong);
    bool gathers = !s.collective || strcmp(s.collective, "allgather") == 0;
    bool exchanges = !s.collective || strcmp(s.collective, "alltoall") == 0;
    if (!gathers && !exchanges)
        fail("--collective %s: expected allgather or alltoall", s.collective);
    if (gathers) add_sizes(&jobs, &s, false);
    if (exchanges) add_sizes(&jobs, &s, true);
    if (jobs.count == 0) fail("--bytes %s, --orders %s: nothing to simulate", s.bytes, s.orders);
    if (!run_jobs(&s.machine, jobs.all, jobs.count)) return 2;
    print_jobs(&s, &jobs);
    return 0;
}

int main(int count, char **words) {
    int code = answer(count, words);
    return output_end("mortar model", code);
}
