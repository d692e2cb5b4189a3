/* SPDX-License-Identifier: BSD-3-Clause */
/* base - options from the environment, numbers with units, capped lines on standard error, what the
 * launcher says, the clock, the processors and their slices. Children are used where the
 * environment changes or the lines count. */
#define _GNU_SOURCE
#include "base/base.h"

#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- numbers ---- */

static void numbers(void) {
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"8", 8},
                {"007", 7},
                {"1K", 1024},
                {"1k", 1024},
                {"3M", 3 << 20},
                {"3m", 3 << 20},
                {"16G", 16ull << 30},
                {"1g", 1 << 30},
                {"0G", 0},
                {"65536", 65536},
                {"1000000007K", 1000000007ull << 10},
                {"17179869183G", 17179869183ull << 30},
                {"100T", 100ull << 40},
                {"2t", 2ull << 40},
                {"16777215T", 16777215ull << 40},
                {"18446742974197923840", 16777215ull << 40},
                {"18446744073709551615", UINT64_MAX}};
    const char *bad =
        "|x|K|8Q|8KB|8 K| 8|8 |-1|+1|1.5|0x10|8KK|G16|1e3|8,|18446744073709551616|99999999999999999999999999999999|"
        "17179869184G|16777216T|8TB|1P|18014398509481984K|17592186044416M";
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t bytes = 12345;
        int error = parse_bytes(good[i].text, &bytes);
        expect(error == 0 && bytes == good[i].bytes, "parse_bytes(\"%s\") = %d, %llu", good[i].text,
               error, (unsigned long long)bytes);
    }
    for (char text[128]; next_text(&bad, text);) {
        uint64_t bytes;
        int error = parse_bytes(text, &bytes);
        expect(error == -EINVAL, "parse_bytes(\"%s\") = %d", text, error);
    }
}

/* ---- options ---- */

static void defaults(void) {
    for (int o = 0; o < OPTIONS; o++) {
        const struct option_row *row = &option_rows[o];
        unsetenv(row->name);
        expect(strncmp(row->name, "MORTAR_", 7) == 0 && *row->unit && *row->meaning,
               "row %s is not complete", row->name);
        expect(strcmp(option_text((enum option)o), row->value) == 0, "%s unset: \"%s\"", row->name,
               option_text((enum option)o));
        setenv(row->name, "", 1);
        expect(strcmp(option_text((enum option)o), row->value) == 0, "%s empty: \"%s\"", row->name,
               option_text((enum option)o));
        setenv(row->name, "something", 1);
        expect(strcmp(option_text((enum option)o), "something") == 0, "%s set: \"%s\"", row->name,
               option_text((enum option)o));
        unsetenv(row->name);
        /* What a row says of itself holds: a number is a number, a choice is one of its words. */
        uint64_t bytes;
        if (row->unit[0] >= '0' && row->unit[0] <= '9' && !strchr(row->unit, '|'))
            expect(parse_bytes(row->value, &bytes) == 0 && bytes == option_number((enum option)o),
                   "%s: the default %s is no such number", row->name, row->value);
        if (strchr(row->unit, '|'))
            expect(option_choice((enum option)o, row->unit) >= 0, "%s: default %s", row->name,
                   row->value);
    }
}

/* A text that was taken over outlives the environment's, and counts in the engine only: nobody else
 * calls this. */
static void taken_over(void) {
    char text[] = "alltoall";
    setenv("MORTAR_OFF", "bcast", 1);
    expect(option_take_over(OPTION_OFF, text) == 0, "option_take_over");
    text[0] = 0;
    expect(strcmp(option_text(OPTION_OFF), "alltoall") == 0, "MORTAR_OFF=%s",
           option_text(OPTION_OFF));
    expect(option_take_over(OPTION_OFF, "") == 0 && !*option_text(OPTION_OFF),
           "an empty text counts too");
    unsetenv("MORTAR_OFF");
    uint64_t ab = hash_text(hash_text(HASH_START, "a"), "b"),
             joined = hash_text(hash_text(HASH_START, "ab"), "");
    expect(ab != joined && ab == hash_text(hash_text(HASH_START, "a"), "b") && ab != HASH_START,
           "hash_text");
}

static void choices(void) {
    static const char *const words[] = {"auto", "spin", "yield", "futex"};
    for (int i = 0; i < 4; i++) {
        setenv("MORTAR_WAIT", words[i], 1);
        expect(option_choice(OPTION_WAIT, "auto|spin|yield|futex") == i, "WAIT=%s", words[i]);
    }
    unsetenv("MORTAR_WAIT");
    expect(option_choice(OPTION_WAIT, "spin|yield|auto") == 2,
           "the default is looked up in the words");
    setenv("MORTAR_SLOT", "64K", 1);
    expect(option_number(OPTION_SLOT) == 65536, "SLOT=64K");
    unsetenv("MORTAR_SLOT");
    expect(option_number(OPTION_SLOT) == 1 << 20, "SLOT unset");
}

/* Out of range is no number either, and the ends are. */
static void ranges(void) {
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {{"0", 1 << 20},    {"1", 1 << 20},     {"127", 1 << 20},  {"128", 128},
                {"1G", 1 << 30},   {"1025M", 1 << 20}, {"100G", 1 << 20}, {"-1", 1 << 20},
                {"much", 1 << 20}, {"1M-2M", 1 << 20}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("MORTAR_SLOT", rows[i].text, 1);
        expect(option_number(OPTION_SLOT) == rows[i].bytes, "SLOT=%s: %llu", rows[i].text,
               (unsigned long long)option_number(OPTION_SLOT));
    }
    unsetenv("MORTAR_SLOT");
}

/* NAME=VALUE, and a part of the one line that is said; NULL: nothing is. */
struct said {
    const char *setting, *line;
};

static void check_one(void *setting) {
    putenv(setting);
    options_check();
}

static void checks(void) {
    static const struct said rows[] = {
        {"MORTAR_SLOT=0", "MORTAR_SLOT=0: expected 128-1G bytes; using 1M\n"},
        {"MORTAR_SLOT=much", "expected 128-1G bytes"},
        {"MORTAR_SLOT=100G", "MORTAR_SLOT=100G: expected 128-1G"},
        {"MORTAR_REGRET=-1", "MORTAR_REGRET=-1: expected 0-100 percent; using 1\n"},
        {"MORTAR_DOMAINS=q", "auto|none|numa|socket|l3; using auto\n"},
        {"MORTAR_WAIT=aut", "MORTAR_WAIT=aut: expected auto|spin|yield|futex"},
        {"MORTAR_WAIT=auto|spin", "MORTAR_WAIT=auto|spin: expected"},
        {"MORTAR_VERBOSE=3", "MORTAR_VERBOSE=3: expected 0|1|2"},
        {"MORTAR_HEAP_BYTES=100T", NULL},
        {"MORTAR_HEAP_BYTES=1000T", "16M-128T bytes"},
        {"MORTAR_PLANN=cico", "MORTAR_PLANN is no option: did you mean MORTAR_PLAN?\n"},
        {"MORTAR_HEAPBYTES=1G", "MORTAR_HEAP_BYTES?"},
        {"MORTAR_plan=cico", "did you mean MORTAR_PLAN?"},
        {"MORTAR_Plam=cico", "MORTAR_PLAN?"},
        {"MORTAR_FOO=1", "MORTAR_FOO is no option (`mortar info` lists them)\n"},
        {"MORTAR_FOO", NULL},
        {"MORTAR_=1", "MORTAR_ is no option"},
        {"MORTAR_ROOT=/somewhere", NULL},
        {"MORTAR_TEST_SEED=1", NULL},
        {"MORTARPLAN=1", NULL},
        {"MORTAR_NODES=q", NULL}, /* its user says so */
        {"MORTAR_WAIT=", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heard heard;
        in_child(check_one, (void *)(uintptr_t)rows[i].setting, &heard);
        expect(heard.status == 0 && heard.writes == (rows[i].line != NULL), "%s: %d lines",
               rows[i].setting, heard.writes);
        if (rows[i].line)
            expect(strstr(heard.text[0], rows[i].line), "%s: %s", rows[i].setting, heard.text[0]);
    }
}

static void warn_as_rank(void *rank) {
    if (rank) setenv("PMI_RANK", rank, 1);
    warn_job("a line");
    setenv("MORTAR_VERBOSE", "2", 1);
    warn_job("a line");
}

static void once_a_job(void) {
    struct heard heard;
    const char *const ranks[] = {NULL, "0", "1"};
    for (int i = 0; i < 3; i++) {
        in_child(warn_as_rank, (void *)(uintptr_t)ranks[i], &heard);
        expect(heard.status == 0 && heard.writes == 2 - (i == 2), "rank %s: %d lines",
               ranks[i] ? ranks[i] : "?", heard.writes);
    }
}

/* ---- log ---- */

static void shout(void *level) {
    setenv("MORTAR_VERBOSE", level, 1);
    for (int i = 0; i < 12; i++) warn("line %d of %s", i, "twelve");
    note("a note");
}

static void one_line(const char *text, const char *wanted) {
    size_t length = strlen(text);
    expect(length > 0 && strchr(text, '\n') == text + length - 1, "one write is one line: \"%s\"",
           text);
    expect(strncmp(text, "mortar: ", 8) == 0 && strstr(text, wanted),
           "expected \"%s\", heard \"%s\"", wanted, text);
}

static void *shout_in_thread(void *nothing) {
    for (int i = 0; i < 20; i++) warn("a line of some length, so that pieces of it would show");
    return nothing;
}

static void shout_together(void *nothing) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, shout_in_thread, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    (void)nothing;
}

static void shout_long(void *nothing) {
    char text[2001];
    memset(text, 'x', 2000);
    text[2000] = 0;
    for (int length = 480; length < 520; length += 8) warn("%.*s", length, text);
    warn("%s", text);
    (void)nothing;
}

static void lines(void) {
    struct heard heard;
    in_child(shout, "1", &heard);
    expect(heard.status == 0 && heard.writes == 8, "%d of 12 warnings heard, not 8", heard.writes);
    for (int i = 0; i < 8; i++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "line %d of twelve\n", i);
        one_line(heard.text[i], wanted);
    }
    in_child(shout, "0", &heard);
    expect(heard.writes == 0, "MORTAR_VERBOSE=0 said %s", heard.text[0]);
    in_child(shout, "2", &heard);
    expect(heard.writes == 9, "8 warnings and a note are %d lines", heard.writes);
    one_line(heard.text[8], "a note");
    in_child(shout_together, NULL, &heard);
    expect(heard.writes == 8, "%d warnings of 4 threads, not 8", heard.writes);
    for (int i = 0; i < 8; i++) one_line(heard.text[i], "would show\n");
    in_child(shout_long, NULL, &heard);
    expect(heard.writes == 6, "%d long warnings, not 6", heard.writes);
    for (int i = 0; i < 6; i++) one_line(heard.text[i], "xxxxxxxx\n");
}

/* ---- launcher, clock, processors ---- */

/* What a rank's children find in LD_PRELOAD. */
static void preloaded(void) {
    static const struct {
        const char *before, *after;
    } cases[] = {
        {NULL, NULL},
        {"", NULL},
        {"/a/libmortar-heap.so:/a/libmortar.so", NULL},
        {"libmortar.so", NULL},
        {"/a/libmortar-heap.so:/a/libmortar.so:/b/libx.so", "/b/libx.so"},
        {"/b/libx.so /a/libmortar.so::liby.so ", "/b/libx.so:liby.so"},
        {"/libmortar.so/libx.so:/a/xlibmortar.so", "/libmortar.so/libx.so:/a/xlibmortar.so"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].before) setenv("LD_PRELOAD", cases[i].before, 1);
        else unsetenv("LD_PRELOAD");
        launcher_unpreload();
        const char *after = getenv("LD_PRELOAD"), *expected = cases[i].after;
        expect(!after == !expected && (!after || strcmp(after, expected) == 0), "%s leaves %s",
               cases[i].before, after);
    }
    unsetenv("LD_PRELOAD");
}

static void launcher(void) {
    static const struct {
        const char *name, *value;
        int ranks, local, rank;
    } cases[] = {{"OMPI_COMM_WORLD_SIZE", "64", 64, 0, -1},
                 {"PMI_SIZE", "7", 7, 0, -1},
                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "4", 0, 4, -1},
                 {"MPI_LOCALNRANKS", "3", 0, 3, -1},
                 {"PMI_RANK", "5", 0, 0, 5},
                 {"OMPI_COMM_WORLD_RANK", "0", 0, 0, 0},
                 {"SLURM_PROCID", "12", 0, 0, 12},
                 {"PMI_SIZE", "many", 0, 0, -1}};
    size_t count = sizeof cases / sizeof *cases;
    for (size_t i = 0; i < count; i++) unsetenv(cases[i].name);
    unsetenv("PMIX_RANK");
    for (size_t i = 0; i < count; i++) {
        setenv(cases[i].name, cases[i].value, 1);
        expect(launcher_ranks() == cases[i].ranks && launcher_local_ranks() == cases[i].local &&
                   launcher_rank() == cases[i].rank,
               "%s=%s: %d ranks, %d here, rank %d", cases[i].name, cases[i].value, launcher_ranks(),
               launcher_local_ranks(), launcher_rank());
        unsetenv(cases[i].name);
    }
}

static void processors(void) {
    struct processors set = machine_processors();
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) return; /* more than 1024 processors */
    expect(processors_count(&set) == CPU_COUNT(&mine), "%d processors, not %d",
           processors_count(&set), CPU_COUNT(&mine));
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        expect((set.bits[i / 64] >> i % 64 & 1) == (uint64_t)CPU_ISSET(i, &mine), "processor %zu",
               i);
    double before = clock_seconds(), after = clock_seconds();
    expect(after >= before && after - before < 60, "the clock went from %f to %f", before, after);
}

/* The kernel's struct sched_attr, first version. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

static struct attributes attributes(void) {
    struct attributes now = {.size = sizeof now};
    expect(syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) == 0, "sched_getattr");
    return now;
}

/* The slice changes, where the kernel has one, and nothing else does. */
static void slices(void *nothing) {
    struct utsname kernel;
    int major = 0, minor = 0;
    expect(uname(&kernel) == 0 && sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
               nice(3) >= 0,
           "uname, nice");
    struct attributes before = attributes();
    if (before.policy != SCHED_OTHER) return;
    machine_short_slices(0);
    expect(attributes().runtime == before.runtime, "a slice of 0 us is not left as it was");
    machine_short_slices(700);
    struct attributes after = attributes();
    if (major > 6 || (major == 6 && minor >= 12))
        expect(after.runtime == 700000, "a slice of %llu ns", (unsigned long long)after.runtime);
    expect(after.policy == before.policy && after.nice == before.nice &&
               after.flags == before.flags,
           "more than the slice changed");
    (void)nothing;
}

static void slices_in_child(void) {
    struct heard heard;
    in_child(slices, NULL, &heard);
    expect(heard.status == 0, "%s", heard.text[0]);
}

int main(void) {
    for (int o = 0; o < OPTIONS; o++) unsetenv(option_rows[o].name);
    numbers();
    defaults();
    choices();
    ranges();
    checks();
    once_a_job();
    taken_over();
    lines();
    launcher();
    preloaded();
    processors();
    slices_in_child();
    printf("%d options\n", OPTIONS);
    return 0;
}
