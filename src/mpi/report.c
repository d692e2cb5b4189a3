/* SPDX-License-Identifier: BSD-3-Clause */
/* report - what ran, per collective, communicator size and plan; gathered on rank 0, written as JSON or a table.
 * Each rank keeps records of its teams; records of several ranks with the same key are merged. */
#define _GNU_SOURCE
#include "mpi/report.h"

#include "include/mortar.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_records = 4096 };
static struct record *dead; /* of teams that are gone */
static int dead_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct record *gathering; /* where the visitors add */
static int *gathering_count;

HOT bool report_wanted(void) {
    static int wanted = -1;
    if (wanted < 0) wanted = *option_text(OPTION_REPORT) != 0;
    return wanted;
}

static bool same_key(const struct record *a, const struct record *b) {
    return a->ranks == b->ranks && a->size_class == b->size_class && a->domains == b->domains &&
           strcmp(a->collective, b->collective) == 0 && strcmp(a->plan, b->plan) == 0 && strcmp(a->reason, b->reason) == 0 &&
           strcmp(a->source, b->source) == 0;
}

/* One rank's records add up; between ranks, calls and seconds are those of the rank that has most, bytes are the sum. Setting a
 * team up counts as the rank that came last saw it: the others' time is mostly waiting for that one. */
static void merge(struct record *to, const struct record *from, bool same_rank) {
    to->bytes += from->bytes;
    if (from->evidence.native_seconds > 0 && (to->evidence.native_seconds <= 0 || from->evidence.pairs > to->evidence.pairs))
        to->evidence = from->evidence; /* of several communicators of this size: the one that knows most */
    if (same_rank) to->calls += from->calls, to->seconds += from->seconds;
    else {
        if (from->calls > to->calls) to->calls = from->calls;
        if (*to->plan ? from->seconds > to->seconds : from->seconds < to->seconds) to->seconds = from->seconds;
    }
}

static void add(struct record *list, int *count, const struct record *record, bool same_rank) {
    int i = 0;
    while (i < *count && !same_key(&list[i], record)) i++;
    if (i < *count) merge(&list[i], record, same_rank);
    else if (*count < most_records) list[(*count)++] = *record;
}

static void add_plan(const struct team *team, const struct plan *plan, const struct evidence *evidence) {
    struct record record = {.ranks = team->p,
                            .size_class = plan->size_class,
                            .domains = (int32_t)team->domains,
                            .calls = plan->tally.calls,
                            .bytes = plan->tally.bytes,
                            .seconds = plan->tally.seconds};
    if (evidence) record.evidence = *evidence;
    snprintf(record.source, sizeof record.source, "%s", plan->source ? plan->source : "");
    snprintf(record.collective, sizeof record.collective, "%s", collective_names[plan->collective]);
    snprintf(record.plan, sizeof record.plan, "%s", plan->text);
    snprintf(record.reason, sizeof record.reason, "%s", plan->reason ? plan->reason : "");
    add(gathering, gathering_count, &record, true);
}

static void add_team(struct team *team) {
    struct record record = {.ranks = team->p, .domains = (int32_t)team->domains, .calls = 1, .seconds = team->setup_seconds};
    snprintf(record.reason, sizeof record.reason, "%s", team->why_native ? team->why_native : "");
    add(gathering, gathering_count, &record, true);
    plan_visit(team, add_plan);
}

static void on_farewell(struct team *team) {
    pthread_mutex_lock(&lock);
    gathering = dead, gathering_count = &dead_count;
    add_team(team);
    pthread_mutex_unlock(&lock);
}

void report_start(void) {
    dead = calloc(most_records, sizeof *dead);
    if (dead) team_farewell = on_farewell;
}

/* ---- writing ---- */

static void json_text(FILE *out, const char *text) {
    if (!*text) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20) fprintf(out, "\\u%04x", (unsigned)*text);
        else fputc(*text, out);
    }
    fputc('"', out);
}

static const char *library_version(char *text) {
    int length = 0;
    PMPI_Get_library_version(text, &length);
    text[strcspn(text, "\n")] = 0;
    return text;
}

static const char *heap_state(void) {
    const char *(*why)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "mortar_heap_why");
    const char *reason = why ? why() : "libmortar-heap.so is not loaded";
    return reason ? reason : "on";
}

/* The smallest and the largest blocks of a record's class. */
static uint64_t first_of(const struct record *record) { return record->size_class == 0 ? 0 : 1ull << (record->size_class - 1); }
static uint64_t last_of(const struct record *record) {
    return record->size_class == 0 ? 0 : record->size_class == 64 ? UINT64_MAX : (1ull << record->size_class) - 1;
}

static void json_evidence(FILE *out, const struct evidence *e) {
    if (e->native_seconds <= 0) return;
    fprintf(out, ", \"call_seconds\": %.6g, \"native_call_seconds\": %.6g, \"gain\": %.4g, \"pairs\": %d", e->seconds,
            e->native_seconds, e->gain, e->pairs);
    if (e->pairs > 0) fprintf(out, ", \"gain_interval\": [%.4g, %.4g]", e->low, e->high);
}

static void write_json(FILE *out, const struct record *records, int count, int ranks) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *comma = "";
    fprintf(out, "{\"mortar\": \"%s\",\n \"mpi\": ", MORTAR_VERSION);
    json_text(out, library_version(version));
    fprintf(out, ",\n \"ranks\": %d,\n \"heap\": ", ranks);
    json_text(out, heap_state());
    fputs(",\n \"teams\": [", out);
    for (int i = 0; i < count; i++) {
        const struct record *r = &records[i];
        if (*r->plan) continue;
        fprintf(out, "%s\n  {\"ranks\": %d, \"domains\": %d, \"count\": %llu, \"setup_seconds\": %.6g, \"native\": ", comma,
                r->ranks, r->domains, (unsigned long long)r->calls, r->seconds);
        json_text(out, r->reason);
        fputc('}', out);
        comma = ",";
    }
    fputs("],\n \"collectives\": [", out);
    comma = "";
    for (int i = 0; i < count; i++) {
        const struct record *r = &records[i];
        if (!*r->plan) continue;
        fprintf(out, "%s\n  {\"collective\": \"%s\", \"ranks\": %d, \"plan\": ", comma, r->collective, r->ranks);
        json_text(out, r->plan);
        fputs(", \"reason\": ", out);
        json_text(out, r->reason);
        fputs(", \"source\": ", out);
        json_text(out, r->source);
        fprintf(out, ", \"from\": %llu, \"to\": %llu, \"calls\": %llu, \"bytes\": %llu, \"seconds\": %.6g",
                (unsigned long long)first_of(r), (unsigned long long)last_of(r), (unsigned long long)r->calls,
                (unsigned long long)r->bytes, r->seconds);
        json_evidence(out, &r->evidence);
        fputc('}', out);
        comma = ",";
    }
    fputs("]}\n", out);
}

/* "8" or "4K", "1M" where it is a whole number of them. */
static const char *size_text(uint64_t bytes, char text[24]) {
    int unit = bytes && bytes % (1 << 20) == 0 ? 20 : bytes && bytes % (1 << 10) == 0 ? 10 : 0;
    snprintf(text, 24, "%llu%s", (unsigned long long)(bytes >> unit), unit == 20 ? "M" : unit == 10 ? "K" : "");
    return text;
}

static void table_row(FILE *out, const struct record *r) {
    const struct evidence *e = &r->evidence;
    char size[24], native[24] = "", gain[40] = "";
    if (e->native_seconds > 0) snprintf(native, sizeof native, "%.4g", e->native_seconds * 1e6);
    if (e->pairs > 0) snprintf(gain, sizeof gain, "%.2f (%.2f-%.2f)", e->gain, e->low, e->high);
    else if (e->native_seconds > 0) snprintf(gain, sizeof gain, "about %.2g", e->gain);
    fprintf(out, "%-12s %5d %7s+ %10llu %10.4g %10.4g %10s %-17s  %s%s%s\n", r->collective, r->ranks, size_text(first_of(r), size),
            (unsigned long long)r->calls, r->seconds, r->calls ? r->seconds / (double)r->calls * 1e6 : 0, native, gain, r->plan,
            *r->reason ? ": " : "", r->reason);
}

static void write_table(FILE *out, const struct record *records, int count, int ranks) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    fprintf(out, "mortar %s on %s, %d ranks; shared heap: %s\n", MORTAR_VERSION, library_version(version), ranks, heap_state());
    fprintf(out, "%-12s %5s %8s %10s %10s %10s %10s %-17s  %s\n", "collective", "ranks", "bytes", "calls", "seconds", "us/call",
            "native us", "gain (interval)", "plan");
    for (int i = 0; i < count; i++) {
        const struct record *r = &records[i];
        if (*r->plan) table_row(out, r);
        else if (!*r->reason)
            fprintf(out, "%-12s %5d %8s %10llu %10.4g %10s %10s %-17s  communicators set up%s\n", "-", r->ranks, "",
                    (unsigned long long)r->calls, r->seconds, "", "", "", r->domains > 1 ? " over several memory domains" : "");
    }
}

static int write_report(const char *path, const struct record *records, int count, int ranks) {
    if (strcmp(path, "-") == 0) {
        write_table(stderr, records, count, ranks);
        return 0;
    }
    FILE *out = fopen(path, "w");
    if (!out) {
        int error = -errno;
        warn("the report cannot be written to %s: %s", path, strerror(errno));
        return error;
    }
    write_json(out, records, count, ranks);
    return fclose(out) == 0 ? 0 : -errno;
}

static struct record *own_records(int *count) {
    struct record *own = calloc(most_records, sizeof *own);
    *count = 0;
    if (!own) return NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; dead && i < dead_count; i++) own[(*count)++] = dead[i];
    gathering = own, gathering_count = count;
    teams_visit(add_team);
    pthread_mutex_unlock(&lock);
    return own;
}

int report_gather(struct record **records, int *count, int *ranks) {
    int me = 0;
    MPI_Comm comm; /* private: the program's own messages may be waiting on the world */
    *records = NULL;
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) return -EIO;
    PMPI_Comm_size(comm, ranks);
    PMPI_Comm_rank(comm, &me);
    struct record *own = own_records(count);
    if (me != 0) {
        PMPI_Send(own, *count * (int)sizeof *own, MPI_BYTE, 0, 0, comm);
        PMPI_Comm_free(&comm);
        free(own);
        return 0;
    }
    struct record *theirs = calloc(most_records, sizeof *theirs);
    for (int r = 1; r < *ranks; r++) {
        MPI_Status status;
        int bytes = 0;
        PMPI_Recv(theirs, theirs ? most_records * (int)sizeof *theirs : 0, MPI_BYTE, r, 0, comm, &status);
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        for (int i = 0; own && theirs && i < bytes / (int)sizeof *theirs; i++) add(own, count, &theirs[i], false);
    }
    PMPI_Comm_free(&comm);
    free(theirs);
    *records = own;
    return own ? 0 : -ENOMEM;
}

int report_write(const char *path) {
    struct record *records;
    int count = 0, ranks = 0, error = report_gather(&records, &count, &ranks);
    if (records) error = write_report(path, records, count, ranks);
    free(records);
    return error;
}
