/* SPDX-License-Identifier: BSD-3-Clause */
/* report_write - the report as JSON, for programs, or as a table, for people. */
#define _GNU_SOURCE
#include "mpi/report.h"

#include "include/mortar.h"
#include "tuning/tuning.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "Open MPI v4.1.4": as in a tuning file, in one short line. */
static const char *library_name(char name[96]) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    tuning_mpi(version, name);
    return name;
}

static const char *heap_state(void) {
    const char *(*why)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "mortar_heap_why");
    const char *reason = why ? why() : "libmortar-heap.so is not loaded";
    return reason ? reason : "on";
}

/* The smallest and the largest blocks of a record's size class, in bytes. */
static uint64_t smallest_of(const struct record *record) {
    return record->size_class == 0 ? 0 : 1ull << (record->size_class - 1);
}
static uint64_t largest_of(const struct record *record) {
    return record->size_class == 64 ? UINT64_MAX : (1ull << record->size_class) - 1;
}

/* Is the size class unknown? It is for barriers, and for calls whose ranks do not know each other's
 * counts. */
static bool is_unsized(const struct record *record) {
    return record->size_class == 0 && strcmp(record->reason, "no bytes") != 0;
}

/* The seconds without the waiting for ranks that had not entered the call. */
static double moving_seconds(const struct record *r) { return r->seconds - r->late_seconds; }

static void json_evidence(FILE *out, const struct evidence *e) {
    if (e->native_seconds <= 0) return;
    fprintf(
        out,
        ", \"call_seconds\": %.6g, \"native_call_seconds\": %.6g, \"gain\": %.4g, \"pairs\": %d",
        e->seconds, e->native_seconds, e->gain, e->pairs);
    if (e->pairs > 0) fprintf(out, ", \"gain_interval\": [%.4g, %.4g]", e->low, e->high);
    if (!*e->better) return;
    fprintf(out, ", \"better_seconds\": %.6g, \"better\": ", e->better_seconds);
    json_text(out, e->better);
}

static void json_waits(FILE *out, const struct record *r) {
    const char *comma = "";
    if (r->late_seconds < 0) {
        fputs(
            ", \"waiting_seconds\": null, \"moving_seconds\": null, \"inside_seconds\": null, \"late\": []",
            out);
        return;
    }
    fprintf(
        out,
        ", \"waiting_seconds\": %.6g, \"moving_seconds\": %.6g, \"inside_seconds\": %.6g, \"late\": [",
        r->late_seconds, moving_seconds(r), r->inside_seconds);
    for (int i = 0; i < r->late_count; i++) {
        const struct late_rank *late = &r->late[i];
        fprintf(out, "%s{\"rank\": %d, \"times\": %llu, \"seconds\": %.6g, \"share\": %.4g}", comma,
                late->rank, (unsigned long long)late->times, late->seconds, late->share);
        comma = ", ";
    }
    fputc(']', out);
}

static void json_traffic(FILE *out, const struct record *r) {
    const struct traffic *t = &r->traffic;
    if (r->nodes < 2 || strcmp(r->plan, "native") == 0) return;
    fprintf(
        out,
        ", \"messages\": %llu, \"message_bytes\": %llu, \"far_messages\": %llu, \"far_bytes\": %llu",
        (unsigned long long)t->messages, (unsigned long long)t->bytes,
        (unsigned long long)t->far_messages, (unsigned long long)t->far_bytes);
}

/* Calls that were verified, by option VERIFY, and those whose results differed. */
struct verified {
    uint64_t calls, different;
};
static struct verified verified_in(const struct record *records, int count) {
    struct verified all = {0};
    for (int i = 0; i < count; i++) {
        all.calls += records[i].verified;
        all.different += records[i].different;
    }
    return all;
}

static void json_verified(FILE *out, struct verified verified) {
    fprintf(out, "\"verified_calls\": %llu, \"differences\": %llu",
            (unsigned long long)verified.calls, (unsigned long long)verified.different);
}

/* The blocks that all ranks receive in a call, their own ones, too, but not what a root sends to
 * all. 0: not known, or of several lengths. */
static uint64_t blocks_received(const struct record *r) {
    const unsigned one_each =
        BIT(gather) | BIT(scatter) | BIT(allreduce) | BIT(reduce_scatter_block) | BIT(scan);
    uint64_t p = (uint64_t)r->ranks;
    int c = 0;
    while (strcmp(collective_names[c], r->collective) != 0) c++;
    if (is_unsized(r)) return 0;
    if (among((enum collective)c, POSTED)) return p * p;
    if (among((enum collective)c, one_each)) return p;
    if (among((enum collective)c, BIT(bcast) | BIT(exscan))) return p - 1;
    return among((enum collective)c, BIT(reduce)) ? 1 : 0;
}

static void json_bytes(FILE *out, const struct record *r) {
    uint64_t blocks = blocks_received(r);
    fputs(", \"bytes\": ", out);
    if (blocks == 0) fputs("null", out);
    else fprintf(out, "%llu", (unsigned long long)(r->bytes / (uint64_t)r->ranks * blocks));
}

static void json_record(FILE *out, const struct record *r) {
    fprintf(out, "{\"collective\": \"%s\", \"ranks\": %d, \"nodes\": %d, \"plan\": ", r->collective,
            r->ranks, r->nodes);
    json_text(out, r->plan);
    fputs(", \"reason\": ", out);
    json_text(out, r->reason);
    fputs(", \"source\": ", out);
    json_text(out, r->source);
    fprintf(out, ", \"from\": %llu, \"to\": %llu, \"calls\": %llu, \"most_calls\": %llu",
            (unsigned long long)smallest_of(r), (unsigned long long)largest_of(r),
            (unsigned long long)r->calls, (unsigned long long)r->most_calls);
    json_bytes(out, r);
    fprintf(out, ", \"seconds\": %.6g", r->seconds);
    json_traffic(out, r);
    if (r->verified > 0) fputs(", ", out), json_verified(out, verified_in(r, 1));
    json_waits(out, r);
    json_evidence(out, &r->evidence);
    fputc('}', out);
}

struct report_content {
    const struct record *records;
    int count, ranks;
    struct moves moves;
    struct lateness_found lateness;
    struct not_taken untaken;
};

static void json_untaken(FILE *out, const struct not_taken *all) {
    fputs(",\n \"not_taken\": ", out);
    if (!all->known) fputs("null", out);
    for (int i = 0; i < all->count; i++) {
        const struct untaken *row = &all->rows[i];
        fprintf(out,
                "%s\n  {\"function\": \"%s\", \"kind\": \"%s\", \"calls\": %llu, "
                "\"calls_of_all\": %llu, \"seconds\": %.6g}",
                i ? "," : "[", row->function, row->kind, (unsigned long long)row->calls,
                (unsigned long long)all->sums[i], row->seconds);
    }
    if (all->known) fputs(all->count ? "]" : "[]", out);
}

static void print_untaken(FILE *out, const struct not_taken *all) {
    if (all->count > 0)
        fprintf(out, "%-34s %10s %10s  not taken by mortar, with the waits for them\n", "function",
                "calls", "seconds");
    for (int i = 0; i < all->count; i++)
        fprintf(out, "%-34s %10llu %10.4g  %s\n", all->rows[i].function,
                (unsigned long long)all->rows[i].calls, all->rows[i].seconds, all->rows[i].kind);
}

/* Where the report has no row. */
static void print_nothing(FILE *out, const struct not_taken *untaken) {
    fputs("No blocking collective was called.", out);
    if (!untaken->known)
        fputs(" Nonblocking, persistent and one-sided calls go to the MPI library.", out);
    else if (untaken->count == 0)
        fputs(" Nor was any other collective, nor a one-sided call.", out);
    fputc('\n', out);
}

static void json_moves(FILE *out, const struct moves *moves) {
    fprintf(out,
            ",\n \"moved\": {\"buffers\": %llu, \"bytes\": %llu, \"seconds\": %.6g, "
            "\"repaid_after_calls\": %.3g, \"huge_pages_lost\": %s}",
            (unsigned long long)moves->buffers, (unsigned long long)moves->bytes, moves->seconds,
            moves->repaid, moves->huge_lost ? "true" : "false");
}

static void print_moves(FILE *out, const struct moves *moves) {
    fprintf(out,
            "moved %llu buffers, %.4g MiB, into shared memory: at most %.3g s on a rank, repaid "
            "after some %.0f calls on each%s\n",
            (unsigned long long)moves->buffers, (double)moves->bytes / (1 << 20), moves->seconds,
            moves->repaid + 0.5, moves->huge_lost ? "; shared memory gets no huge pages here" : "");
}

static void print_json(FILE *out, const void *what) {
    const struct report_content *content = what;
    const struct record *records = content->records;
    int count = content->count;
    char name[96];
    const char *comma = "";
    fprintf(out, "{\"mortar\": \"%s\",\n \"mpi\": ", MORTAR_VERSION);
    json_text(out, library_name(name));
    fprintf(out, ",\n \"ranks\": %d,\n \"heap\": ", content->ranks);
    json_text(out, heap_state());
    json_moves(out, &content->moves);
    lateness_json(out, &content->lateness);
    json_untaken(out, &content->untaken);
    fputs(",\n ", out);
    json_verified(out, verified_in(records, count));
    fputs(",\n \"teams\": [", out);
    for (int i = 0; i < count; i++) {
        const struct record *r = &records[i];
        if (*r->plan) continue;
        fprintf(out, "%s\n  {\"ranks\": %d, \"nodes\": %d, \"fullest\": %d, \"domains\": %d, ",
                comma, r->ranks, r->nodes, r->fullest, r->domains);
        fprintf(out, "\"count\": %llu, \"setup_seconds\": %.6g, \"native\": ",
                (unsigned long long)r->calls, r->seconds);
        json_text(out, r->reason);
        fputc('}', out);
        comma = ",";
    }
    fputs("],\n \"collectives\": [", out);
    comma = "";
    for (int i = 0; i < count; i++) {
        const struct record *r = &records[i];
        if (!*r->plan) continue;
        fprintf(out, "%s\n  ", comma);
        json_record(out, r);
        comma = ",";
    }
    fputs("]}\n", out);
}

/* Such as "8", "4K", "1M": in the largest unit of which it is a multiple. */
static char *size_text(uint64_t bytes, char text[24]) {
    const char *unit = "";
    if (bytes && bytes % (1 << 20) == 0) unit = "M", bytes >>= 20;
    else if (bytes && bytes % (1 << 10) == 0) unit = "K", bytes >>= 10;
    snprintf(text, 24, "%llu%s", (unsigned long long)bytes, unit);
    return text;
}

/* Under a row: the ranks for which the others waited at least a tenth of the row's seconds. */
static void table_late(FILE *out, const struct record *r) {
    const char *before = "                     waited for";
    for (int i = 0; i < r->late_count; i++) {
        const struct late_rank *late = &r->late[i];
        double each = late->seconds / (double)late->times;
        const char *unit = each < 1e-3 ? "us" : "ms";
        double shown = each < 1e-3 ? each * 1e6 : each * 1e3;
        if (late->seconds < 0.1 * r->seconds) continue;
        char times[32] = "once";
        if (late->times > 1)
            snprintf(times, sizeof times, "%llu times", (unsigned long long)late->times);
        fprintf(out, "%s rank %d: %s %.3g %s (%.0f %%)", before, late->rank, times, shown, unit,
                late->share * 100);
        before = ",";
    }
    if (*before == ',') fputc('\n', out);
}

static void table_row(FILE *out, const struct record *r) {
    const struct evidence *e = &r->evidence;
    char size[24], waiting[24] = "-", native[24] = "", gain[40] = "";
    if (r->late_seconds >= 0) snprintf(waiting, sizeof waiting, "%.4g", r->late_seconds);
    if (e->native_seconds > 0) snprintf(native, sizeof native, "%.4g", e->native_seconds * 1e6);
    /* One pair says nothing: whatever disturbed it may be its whole difference. */
    if (e->pairs > 1) snprintf(gain, sizeof gain, "%.2f (%.2f-%.2f)", e->gain, e->low, e->high);
    const char *bytes = is_unsized(r) ? "any" : strcat(size_text(smallest_of(r), size), "+");
    double each = r->calls ? r->seconds / (double)r->calls * 1e6 : 0;
    fprintf(out, "%-20s %5d %8s %10llu %10.4g %10s %10.4g %10s %-17s  %s%s%s\n", r->collective,
            r->ranks, bytes, (unsigned long long)r->calls, r->seconds, waiting, each, native, gain,
            r->plan, *r->reason ? ": " : "", r->reason);
    table_late(out, r);
    if (*e->better)
        fprintf(
            out,
            "                     faster: %s, %.4g us, but its sums may round differently (MORTAR_TUNE=online would take it)\n",
            e->better, e->better_seconds * 1e6);
}

static void table_teams(FILE *out, const struct record *r) {
    const char *over = r->domains > 1 ? " over several memory domains" : "";
    if (r->nodes > 1) over = " over several nodes";
    fprintf(out, "%-20s %5d %8s %10llu %10.4g %10s %10s %10s %-17s  communicators set up%s\n", "-",
            r->ranks, "", (unsigned long long)r->calls, r->seconds, "", "", "", "", over);
}

static void print_table(FILE *out, const void *what) {
    const struct report_content *content = what;
    const struct record *records = content->records;
    char name[96];
    fprintf(out, "mortar %s on %s, %d rank%s; shared heap: %s\n", MORTAR_VERSION,
            library_name(name), content->ranks, content->ranks == 1 ? "" : "s", heap_state());
    if (content->moves.buffers > 0) print_moves(out, &content->moves);
    struct verified verified = verified_in(records, content->count);
    if (verify_wanted())
        fprintf(out, "%llu calls verified against the MPI library, %llu difference%s\n",
                (unsigned long long)verified.calls, (unsigned long long)verified.different,
                verified.different == 1 ? "" : "s");
    if (content->count == 0) print_nothing(out, &content->untaken);
    else
        fprintf(out, "%-20s %5s %8s %10s %10s %10s %10s %10s %-17s  %s\n", "collective", "ranks",
                "bytes", "calls", "seconds", "waiting", "us/call", "native us", "gain (interval)",
                "plan");
    for (int i = 0; i < content->count; i++) {
        const struct record *r = &records[i];
        if (*r->plan) table_row(out, r);
        else if (!*r->reason) table_teams(out, r);
    }
    print_untaken(out, &content->untaken);
}

static int write_report(const char *path, struct record *records, struct report_content *content) {
    char *text;
    size_t bytes;
    bool table = strcmp(path, "-") == 0;
    if (!*path) {
        warn(
            "MORTAR_REPORT is not set on rank 0, which would write the report: give it as an option, "
            "mortar run --report FILE");
        return -ENOENT;
    }
    if (table) content->count = report_join(records, content->count);
    int error = file_print(table ? print_table : print_json, content, &text, &bytes);
    if (!error)
        error = table ? file_put(STDERR_FILENO, text, bytes) : file_write(path, text, bytes);
    if (error)
        warn("the report cannot be written to %s: %s", table ? "standard error" : path,
             file_why(error));
    free(text);
    return error;
}

int report_write(const char *path) {
    struct record *records;
    struct report_content content = {0};
    int me = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    int error = report_gather(&records, &content.count, &content.ranks);
    content.records = records;
    report_moves(&content.moves);
    report_lateness(&content.lateness);
    report_untaken(&content.untaken);
    if (error)
        warn(me != 0   ? "the report lacks what this rank did: %s"
             : records ? "the report lacks some rows: %s"
                       : "the report is not written: %s",
             file_why(error));
    if (records) error = write_report(path, records, &content);
    free(records);
    return error;
}
