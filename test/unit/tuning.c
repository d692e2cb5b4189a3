/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning - tuning files: what is written is read again; broken files are refused with a reason and
 * never crash; look-up, merging, and what must be equal for a file to fit. */
#define _GNU_SOURCE
#include "tuning/tuning.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64], why[320];

static struct tuning_entry entry(size_t from, size_t to, const char *plan) {
    struct tuning_entry e = {"alltoall", "heap",       "",   4, 1,          1, from, to,
                             1.5e-6,     {1e-6, 2e-6}, 3e-6, 2, {1.5, 2.5}, 9, 0};
    snprintf(e.plan, sizeof e.plan, "%s", plan);
    return e;
}

static char *text_of(const struct tuning_set *sets, int count, size_t *length) {
    expect(tuning_write(path, sets, count) == 0, "tuning_write");
    FILE *file = fopen(path, "r");
    char *text = malloc(1 << 16);
    expect(file && text, "no file");
    *length = fread(text, 1, 1 << 16, file);
    fclose(file);
    text[*length] = 0;
    return text;
}

/* Memory of just that size, so that a sanitizer sees a step beyond its end. */
static int parse(const char *text, size_t length, struct tuning_file *file) {
    char *exact = malloc(length + !length);
    memcpy(exact, text, length);
    *why = 0;
    int error = tuning_parse(exact, length, file, why, sizeof why);
    free(exact);
    expect((error == 0) == (*why == 0), "error %d and \"%s\"", error, why);
    return error;
}

static struct network_facts some_network(double latency_seconds) {
    return (struct network_facts){
        latency_seconds, 2.5e-7, 3.5e-7, 6e-7, 1.5e-7, 2.5e-10,
        1.25e-10,        2.5,    1.5,    16,   "then", "here and \"there\""};
}

static void same_network(const struct network_facts *a, const struct network_facts *b) {
    expect(a->latency_seconds == b->latency_seconds && a->send_seconds == b->send_seconds,
           "latency or send");
    expect(a->receive_seconds == b->receive_seconds && a->message_seconds == b->message_seconds,
           "receive or message");
    expect(a->node_message_seconds == b->node_message_seconds && a->byte_seconds == b->byte_seconds,
           "node_message or byte");
    expect(a->node_byte_seconds == b->node_byte_seconds && a->pairs == b->pairs,
           "node_byte or pairs");
    expect(a->one_partner_ratio == b->one_partner_ratio &&
               a->many_partners_ratio == b->many_partners_ratio,
           "ratios");
    expect(strcmp(a->date, b->date) == 0 && strcmp(a->between, b->between) == 0,
           "date %s, between %s", b->date, b->between);
}

static void round_trip(const struct tuning_set *set) {
    struct tuning_file file;
    expect(tuning_write(path, set, 1) == 0 && tuning_read(path, &file, why, sizeof why) == 0, "%s",
           why);
    expect(file.count == 1 && file.sets->count == set->count, "%d sets", file.count);
    expect(tuning_fits(file.sets, set, why, sizeof why), "%s", why);
    for (int e = 0; e < set->count; e++) {
        const struct tuning_entry *a = &set->entries[e], *b = &file.sets->entries[e];
        expect(strcmp(a->plan, b->plan) == 0 && strcmp(a->collective, b->collective) == 0,
               "plan %s", b->plan);
        expect(a->from == b->from && a->to == b->to && a->ranks == b->ranks &&
                   a->repetitions == b->repetitions,
               "entry %d", e);
        expect(a->seconds == b->seconds && a->interval[1] == b->interval[1] &&
                   a->gain_interval[0] == b->gain_interval[0],
               "times");
    }
    same_network(&file.sets->network, &set->network);
    tuning_free(&file);
    expect(tuning_read("/nonexistent/file", &file, why, sizeof why) < 0 &&
               strstr(why, "No such file"),
           "%s", why);
    expect(tuning_write("/nonexistent/file", set, 1) < 0, "written nowhere");
}

/* A new file takes the name of an old one: not that of a device or a pipe, and of a link only what
 * it leads to. */
static void places(const struct tuning_set *set) {
    char pipe[512], link[512];
    struct stat there;
    struct tuning_file file;
    snprintf(pipe, sizeof pipe, "%s.pipe", path);
    snprintf(link, sizeof link, "%s.link", path);
    expect(mkfifo(pipe, 0600) == 0 && symlink(path, link) == 0, "no pipe and link");
    expect(tuning_write(pipe, set, 1) == -ENOTSUP && stat(pipe, &there) == 0 &&
               S_ISFIFO(there.st_mode),
           "a pipe was replaced");
    expect(tuning_write("/", set, 1) == -EISDIR, "a folder");
    expect(tuning_write(path, set, 1) == 0 && tuning_write(link, set, 1) == 0, "a link");
    expect(lstat(link, &there) == 0 && S_ISLNK(there.st_mode), "a link was replaced");
    expect(tuning_read(path, &file, why, sizeof why) == 0, "%s", why);
    tuning_free(&file);
    unlink(link);
    unlink(pipe);
}

/* A network may be there or not; the later one wins; what was not measured takes nothing away. */
static void networks(const struct tuning_set *set) {
    struct tuning_file file, more = {0};
    struct tuning_set bare = *set, newer = *set;
    bare.network = (struct network_facts){0};
    expect(tuning_write(path, &bare, 1) == 0 && tuning_read(path, &file, why, sizeof why) == 0,
           "%s", why);
    same_network(&file.sets->network, &bare.network);
    same_network(tuning_network(file.sets), &network_usual);
    same_network(tuning_network(NULL), &network_usual);
    expect(network_usual.pairs == 0, "nobody has measured what is usual");
    tuning_free(&file);
    newer.network = some_network(7e-6);
    /* Two nodes: no members. */
    newer.network.one_partner_ratio = newer.network.many_partners_ratio = 0;
    const struct tuning_set *order[] = {&bare, set, &bare, &newer, &bare};
    for (int i = 0; i < 5; i++) {
        struct tuning_file one = {(struct tuning_set *)order[i], 1};
        expect(tuning_merge(&more, &one) == 0 && more.count == 1, "merge %d", i);
        same_network(tuning_network(more.sets), i == 0  ? &network_usual
                                                : i < 3 ? &set->network
                                                        : &newer.network);
    }
    tuning_free(&more);
}

static void broken(const char *text, size_t length, uint64_t *random) {
    struct tuning_file file;
    size_t end = length;
    while (text[end - 1] != '}') end--;
    for (size_t cut = 0; cut < end; cut++)
        expect(parse(text, cut, &file) < 0, "cut at %zu and read", cut);
    static const char *const changes[][2] = {
        {"\"version\": 1", "\"version\": 2"},
        {"mortar tuning", "mortar toning"},
        {"\"ranks\": 4", "\"ranks\": \"4\""},
        {"\"ranks\": 4", "\"ranks\": 4.5"},
        {"\"ranks\": 4", "\"ranks\": 1"},
        {"\"ranks\": 4", "\"renks\": 4"},
        {"\"from\": 8", "\"from\": 8000"},
        {"\"from\": 8", "\"from\": -8"},
        {"\"from\": 8", "\"from\": null"},
        {"[1e-06, 2e-06]", "[1e-06]"},
        {"[1e-06, 2e-06]", "[2e-06, 1e-06]"},
        {"[1e-06, 2e-06]", "[1e-06, {}]"},
        {"\"heap\"", "\"heep\""},
        {"\"pull(rows)\"", "7"},
        {"\"pull(rows)\"", "\"\""},
        {"\"latency_seconds\": 2e-06", "\"latency_seconds\": 0"},
        {"\"latency_seconds\": 2e-06", "\"latency_seconds\": -2e-06"},
        {"\"receive_seconds\"", "\"receives\""},
        {"\"node_byte_seconds\": 1.25e-10", "\"node_byte_seconds\": \"1\""},
        {"\"one_partner_ratio\": 2.5", "\"one_partner_ratio\": 0.99"},
        {"\"one_partner_ratio\": 2.5", "\"one_partner_ratio\": 0"},
        {"\"one_partner_ratio\": 2.5", "\"one_partner_ratio\": -2.5"},
        {"\"one_partner_ratio\": 2.5", "\"one_partner_ratio\": 1e999"},
        {"\"many_partners_ratio\": 1.5", "\"many_partners_ratio\": \"1.5\""},
        {"\"pairs\": 16", "\"pairs\": 0"},
        {"\"pairs\": 16", "\"pairs\": 1.5"},
        {"\"between\": \"here", "\"between\": [\"here"},
        {"\"network\": {", "\"network\": 1, \"netwerk\": {"},
        {"\"entries\": [", "\"entries\": 3"},
        {"\"gain\": 2", "\"gain\": 1e999"},
        {"\n]}", "\n]} x"},
    };
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
        const char *at = strstr(text, changes[c][0]);
        char changed[1 << 16];
        expect(at != NULL, "no %s to change", changes[c][0]);
        int size = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text,
                            changes[c][1], at + strlen(changes[c][0]));
        expect(parse(changed, (size_t)size, &file) < 0, "%s was read", changes[c][1]);
        expect(strncmp(why, "line ", 5) == 0, "no place: %s", why);
        if (strstr(changes[c][0], "one_partner"))
            expect(strstr(why, "one_partner_ratio"), "no name: %s", why);
        if (strstr(changes[c][0], "latency"))
            expect(strstr(why, "latency_seconds"), "no name: %s", why);
    }
    for (int round = 0; round < 3000; round++) {
        char *changed = strdup(text);
        for (uint32_t i = draw_below(random, 6) + 1; i > 0; i--)
            changed[draw_below(random, (uint32_t)length)] =
                draw_below(random, 2) ? "{}[]\",:\\0e-. "[draw_below(random, 13)]
                                      : (char)draw_below(random, 256);
        if (parse(changed, length, &file) == 0) tuning_free(&file);
        free(changed);
    }
    char *huge = calloc(17, 1 << 20);
    expect(huge && tuning_parse(huge, 17 << 20, &file, why, sizeof why) < 0 &&
               strstr(why, "16 MiB"),
           "%s", why);
    free(huge);
}

static void fits(const struct tuning_set *set) {
    for (int which = 0; which < 9; which++) {
        struct tuning_set other = *set;
        if (which == 0) other.machine.cpu[0]++;
        if (which == 1) other.machine.l1d++;
        if (which == 2) other.machine.l2++;
        if (which == 3) other.machine.l3++;
        if (which == 4) other.machine.processors++;
        if (which == 5) other.machine.numa++;
        if (which == 6) other.machine.sockets++;
        if (which == 7) other.machine.l3s++;
        if (which == 8) other.mpi[0]++;
        expect(!tuning_fits(&other, set, why, sizeof why) && *why, "difference %d does not matter",
               which);
    }
    struct tuning_set other = *set;
    strcpy(other.kernel, "another"), strcpy(other.mortar, "9"), strcpy(other.date, "never");
    expect(tuning_fits(&other, set, why, sizeof why), "%s", why);
}

static void look_up(void) {
    struct tuning_set set = {0}, other = {0};
    struct tuning_entry wide = entry(8, 1023, "pull(rows)"), narrow = entry(64, 127, "cico"),
                        like = wide;
    expect(tuning_add(&set, &wide) == 0 && tuning_add(&set, &narrow) == 0 && set.count == 3,
           "%d entries", set.count);
    expect(strcmp(tuning_find(&set, &like, 63)->plan, "pull(rows)") == 0, "63");
    expect(strcmp(tuning_find(&set, &like, 64)->plan, "cico") == 0 &&
               strcmp(tuning_find(&set, &like, 127)->plan, "cico") == 0,
           "64");
    expect(strcmp(tuning_find(&set, &like, 1023)->plan, "pull(rows)") == 0, "1023");
    expect(!tuning_find(&set, &like, 7) && !tuning_find(&set, &like, 1024), "beyond the ranges");
    like.ranks = 5;
    expect(!tuning_find(&set, &like, 64), "other ranks");
    like = wide, like.fullest = 3;
    expect(tuning_find(&set, &like, 64), "on one node that says nothing");
    like = wide, like.domains = 2;
    expect(!tuning_find(&set, &like, 64), "other domains");
    like = wide, strcpy(like.buffers, "outside");
    expect(!tuning_find(&set, &like, 64), "other buffers");
    like.nodes = 2;
    expect(!tuning_find(&set, &like, 64), "other nodes");
    for (int e = 0; e < set.count; e++) set.entries[e].nodes = 2;
    expect(tuning_find(&set, &like, 64) != NULL,
           "over nodes it makes no difference where buffers lie");
    for (int e = 0; e < set.count; e++) set.entries[e].nodes = 1;
    struct tuning_file into = {0}, from = {&set, 1}, more = {&other, 1};
    expect(tuning_merge(&into, &from) == 0 && into.count == 1 && into.sets->count == 3, "merge");
    narrow = entry(64, 127, "cico(64)");
    expect(tuning_add(&other, &narrow) == 0 && tuning_merge(&into, &more) == 0 && into.count == 1,
           "merge again");
    expect(into.sets->count == 3 &&
               strcmp(tuning_find(into.sets, &wide, 100)->plan, "cico(64)") == 0,
           "the later one wins");
    strcpy(other.mpi, "another");
    expect(tuning_merge(&into, &more) == 0 && into.count == 2, "another MPI is another set");
    tuning_free(&into);
    free(set.entries), free(other.entries);
}

/* Processes that each add cells of their own to one file. None is lost. */
static void updates(void) {
    enum { writers = 4, turns = 25 };
    pid_t children[writers];
    unlink(path);
    for (int w = 0; w < writers; w++) {
        children[w] = fork();
        if (children[w] != 0) continue;
        struct tuning_set set = {.mpi = "M"};
        struct tuning_file news = {&set, 1};
        for (int turn = 0; turn < turns; turn++) {
            struct tuning_entry mine = entry((size_t)turn + 1, (size_t)turn + 1, "cico");
            mine.ranks = 2 + w;
            set.count = 0;
            if (tuning_add(&set, &mine) != 0 || tuning_update(path, &news, why, sizeof why) != 0)
                _exit(1);
        }
        _exit(0);
    }
    for (int w = 0, status; w < writers; w++)
        expect(children[w] > 0 && waitpid(children[w], &status, 0) == children[w] && status == 0,
               "writer %d", w);
    struct tuning_file file;
    expect(tuning_read(path, &file, why, sizeof why) == 0, "%s", why);
    expect(file.count == 1 && file.sets->count == writers * turns, "%d of %d cells are there",
           file.sets->count, writers * turns);
    FILE *other = fopen(path, "w");
    expect(other && fputs("mine", other) >= 0 && fclose(other) == 0, "another file");
    expect(tuning_update(path, &file, why, sizeof why) < 0 && strstr(why, "no tuning file"), "%s",
           why);
    tuning_free(&file);
}

/* The same ranks on the same number of nodes, spread in several ways. */
static void spread(void) {
    struct tuning_set set = {0};
    struct tuning_entry any = entry(8, 63, "direct"), even = any, uneven = any;
    any.nodes = even.nodes = uneven.nodes = 2;
    even.fullest = 2, uneven.fullest = 3;
    strcpy(even.plan, "pairwise"), strcpy(uneven.plan, "bruck");
    expect(tuning_add(&set, &even) == 0 && !tuning_find(&set, &uneven, 8), "a fuller node");
    expect(tuning_add(&set, &any) == 0 &&
               strcmp(tuning_find(&set, &uneven, 8)->plan, "direct") == 0,
           "one that fits any");
    expect(tuning_add(&set, &uneven) == 0 && set.count == 3, "%d entries", set.count);
    expect(strcmp(tuning_find(&set, &uneven, 8)->plan, "bruck") == 0, "uneven");
    struct tuning_file file;
    expect(tuning_write(path, &set, 1) == 0 && tuning_read(path, &file, why, sizeof why) == 0, "%s",
           why);
    expect(file.sets->entries[2].fullest == 3 && file.sets->entries[1].fullest == 0, "read back");
    tuning_free(&file);
    free(set.entries);
}

static void names(void) {
    char name[96];
    tuning_mpi("Open MPI v4.1.4, package: x", name);
    expect(strcmp(name, "Open MPI v4.1.4") == 0, "%s", name);
    tuning_mpi("MPICH Version:      4.0.2\nMPICH Release date: x", name);
    expect(strcmp(name, "MPICH 4.0.2") == 0, "%s", name);
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    size_t length;
    snprintf(path, sizeof path, "/tmp/mortar-unit-tuning.%d", (int)getpid());
    struct tuning_set set;
    tuning_here(&set, "Open MPI \"v4\" \\ x");
    set.network = some_network(2e-6);
    struct tuning_entry one = entry(8, 63, "pull(rows)"), two = entry(64, 4095, "native");
    expect(tuning_add(&set, &one) == 0 && tuning_add(&set, &two) == 0, "tuning_add");
    round_trip(&set);
    places(&set);
    networks(&set);
    fits(&set);
    char *text = text_of(&set, 1, &length);
    broken(text, length, &random);
    look_up();
    spread();
    updates();
    names();
    free(text);
    free(set.entries);
    unlink(path);
    return 0;
}
