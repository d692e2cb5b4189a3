/* SPDX-License-Identifier: BSD-3-Clause */
/* mortar-cores - how long the library's calls take on a node with a core for each rank, simulated:
 * cores.h says how. Standard output: a table, or with --csv one line per simulation. */
#include "cores.h"

#include "base/base.h"
#include "model/described.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: mortar cores [OPTION...] [COLLECTIVE...]\n"
    "  COLLECTIVE             barrier, bcast, gather, scatter, reduce, scan, allreduce, allgather, alltoall; default:\n"
    "                         all\n"
    "  --machine NAME|FILE    epyc-2x48 (default), epyc-2x96, xeon-2x56, xeon-4x18, arm-64, grace-72, knc-60, or such a file\n"
    "  --ranks P,Q,...        ranks, each on a core of its own; default: one per core\n"
    "  --bytes A,B,...        sizes of a block or vector, multiples of 8; default: 8,64,512,4K\n"
    "  --plans N              of each call, the plan that the cost model chooses and the next ones; default: 4\n"
    "  --plan PLAN            only this plan\n"
    "  --designs              barriers of several designs instead, with and without a sum of 8 bytes\n"
    "  --enter NS             ranks enter a call within so many nanoseconds, in any order; default: 10\n"
    "  --between HOW          use: between calls each rank reads what it has received and writes what it sends (default);\n"
    "                         nothing; cold: the caches are emptied, then each rank reads what it sends, then the other buffer\n"
    "  --measure              measures this machine's cores, caches and memory, and prints a description of it\n"
    "  --csv                  one line per simulation\n";

double entry_nanoseconds = 10;

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...) {
    va_list list;
    fputs("mortar cores: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputs(" (mortar cores --help)\n", stderr);
    exit(2);
}

enum { most_numbers = 32, most_calls = 16, most_plans = 64 };
static struct {
    const char *machine, *calls[most_calls], *plan;
    uint64_t ranks[most_numbers], bytes[most_numbers];
    size_t call_count, rank_count, byte_count, plans;
    bool designs, csv;
} settings = {.machine = "epyc-2x48", .plans = 4};

/* A list of multiples of `step`; expected: in words. */
static void read_numbers(const char *option, const char *text, uint64_t *values, size_t *count,
                         uint64_t step, uint64_t most, const char *expected) {
    char word[32];
    for (*count = 0; *text; (*count)++) {
        size_t length = strcspn(text, ",");
        if (*count == most_numbers || length >= sizeof word) fail("%s: too long a list", option);
        memcpy(word, text, length);
        word[length] = 0;
        if (parse_bytes(word, &values[*count]) != 0 || values[*count] == 0 ||
            values[*count] > most || values[*count] % step != 0)
            fail("%s %s: expected %s", option, word, expected);
        text += length + (text[length] == ',');
    }
    if (*count == 0) fail("%s %s: expected %s, with commas between", option, text, expected);
}

static void read_between(const char *word) {
    static const char *const words[] = {[USE] = "use", [NOTHING] = "nothing", [COLD] = "cold"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            between = (enum between)i;
            return;
        }
    fail("--between %s: expected use, nothing or cold", word);
}

/* Of the option that this is. */
static const char *value_of(char **word) {
    if (!word[1]) fail("%s needs a value", word[0]);
    return word[1];
}

static void read_words(int count, char **words) {
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) exit(fputs(usage, stdout) < 0);
        if (strcmp(word, "--measure") == 0) {
            const char *needs = measure(&machine, 40);
            if (needs) fail("--measure needs %s", needs);
            machine_print(&machine, stdout);
            exit(output_end("mortar cores", 0));
        }
        if (strcmp(word, "--designs") == 0) settings.designs = true;
        else if (strcmp(word, "--csv") == 0) settings.csv = true;
        else if (word[0] != '-') {
            if (settings.call_count == most_calls) fail("%s: too many collectives", word);
            settings.calls[settings.call_count++] = word;
        } else {
            uint64_t number;
            if (strcmp(word, "--machine") == 0) settings.machine = value_of(&words[i]);
            else if (strcmp(word, "--plan") == 0) settings.plan = value_of(&words[i]);
            else if (strcmp(word, "--between") == 0) read_between(value_of(&words[i]));
            else if (strcmp(word, "--ranks") == 0)
                read_numbers(word, value_of(&words[i]), settings.ranks, &settings.rank_count, 1,
                             most_cores, "numbers of ranks up to 256");
            else if (strcmp(word, "--bytes") == 0)
                read_numbers(word, value_of(&words[i]), settings.bytes, &settings.byte_count, 8,
                             1 << 20, "multiples of 8 up to 1M");
            else if (strcmp(word, "--enter") == 0) {
                char *end;
                const char *value = value_of(&words[i]);
                entry_nanoseconds = strtod(value, &end);
                if (end == value || *end || !(entry_nanoseconds >= 0 && entry_nanoseconds < 1e9))
                    fail("--enter %s: expected nanoseconds, 0 to 1e9", value);
            } else if (strcmp(word, "--plans") == 0) {
                const char *value = value_of(&words[i]);
                if (parse_bytes(value, &number) != 0 || number == 0 || number > most_plans)
                    fail("--plans %s: expected 1 to 64", value);
                settings.plans = (size_t)number;
            } else fail("unknown option %s", word);
            i++;
        }
    }
}

static void read_machine(const char *program) {
    char path[4096], why[256];
    if (!described_place(path, settings.machine, program, "cores-machines", why) ||
        machine_read(&machine, path, why) != 0)
        fail("%s", why);
}

static void fill_in(void) {
    static const uint64_t usual[] = {8, 64, 512, 4096};
    if (settings.rank_count == 0) settings.ranks[settings.rank_count++] = machine.cores;
    if (settings.byte_count == 0)
        memcpy(settings.bytes, usual, sizeof usual),
            settings.byte_count = sizeof usual / sizeof *usual;
    if (settings.call_count == 0)
        memcpy(settings.calls, call_names, sizeof call_names), settings.call_count = call_kinds;
    for (size_t i = 0; i < settings.rank_count; i++)
        if (settings.ranks[i] < 2 || settings.ranks[i] > machine.cores)
            fail("--ranks %u: expected 2 to %u on %s", (unsigned)settings.ranks[i], machine.cores,
                 machine.name);
    for (size_t i = 0; i < settings.call_count; i++) {
        char why[192];
        if (!call_known(settings.calls[i], settings.plan, why)) fail("%s", why);
    }
}

static void head(void) {
    if (settings.csv)
        printf("machine,what,plan,ranks,bytes,ns,round,near,socket,far,shared,memory\n");
    else
        printf(
            "# %s: %s. Simulated; a core for each rank.\n"
            "# us: from when the last rank enters until the last is back. round: the same with what ranks "
            "do between two calls. lines: of the call, that come from cores of the same group, socket, of another; from "
            "the group's L3, from memory\n%-12s %-34s %5s %7s %9s %9s  %s\n",
            machine.name, machine.about, "call", "plan", "ranks", "bytes", "us", "round", "lines");
}

static void print(const char *what, const char *plan, uint64_t ranks, uint64_t bytes,
                  const struct call_result *r) {
    if (settings.csv)
        printf("%s,%s,\"%s\",%u,%u,%.1f,%.1f,%.0f,%.0f,%.0f,%.0f,%.0f\n", machine.name, what, plan,
               (unsigned)ranks, (unsigned)bytes, r->nanoseconds, r->round, r->moved[0], r->moved[1],
               r->moved[2], r->moved[FROM_SHARED], r->moved[FROM_MEMORY]);
    else
        printf("%-12s %-34s %5u %7u %9.2f %9.2f  %.0f %.0f %.0f %.0f %.0f%s\n", what, plan,
               (unsigned)ranks, (unsigned)bytes, r->nanoseconds / 1e3, r->round / 1e3, r->moved[0],
               r->moved[1], r->moved[2], r->moved[FROM_SHARED], r->moved[FROM_MEMORY],
               r->right ? "" : "  WRONG");
    fflush(stdout);
}

static bool simulate(const char *call, uint64_t ranks, uint64_t bytes) {
    char plans[most_plans][64], why[192];
    size_t count = 1;
    snprintf(plans[0], sizeof plans[0], "%s", settings.plan ? settings.plan : "");
    if (!settings.plan) count = plans_of(call, (uint32_t)ranks, bytes, plans, settings.plans);
    bool right = true;
    for (size_t i = 0; i < count; i++) {
        struct call_result result;
        if (!call_time(call, plans[i], (uint32_t)ranks, bytes, &result, why)) fail("%s", why);
        print(call, plans[i], ranks, bytes, &result);
        right = right && result.right;
    }
    return right;
}

int main(int argc, char **argv) {
    bool right = true;
    read_words(argc, argv);
    read_machine(argv[0]);
    fill_in();
    head();
    for (size_t r = 0; r < settings.rank_count; r++) {
        for (size_t d = 0; settings.designs && d < design_count; d++) {
            struct call_result result = design_time(&designs[d], (uint32_t)settings.ranks[r]);
            print("design", designs[d].name, settings.ranks[r], designs[d].carries ? 8 : 0,
                  &result);
            right = right && result.right;
        }
        for (size_t c = 0; !settings.designs && c < settings.call_count; c++) {
            bool sized = strcmp(settings.calls[c], "barrier") != 0;
            for (size_t b = 0; b < (sized ? settings.byte_count : 1); b++)
                right &=
                    simulate(settings.calls[c], settings.ranks[r], sized ? settings.bytes[b] : 0);
        }
    }
    return output_end("mortar cores", right ? 0 : 3);
}
