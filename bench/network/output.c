/* SPDX-License-Identifier: BSD-3-Clause */
/* network_output - the tables of `mortar bench network`, what they mean, and the CSV file. */
#include "bench/common/bench.h"
#include "commit.h"
#include "network.h"

#include "tuning/tuning.h"

#include <stdio.h>
#include <string.h>

const char network_header[] =
    "test,pairs,bytes,window,round,seconds,between,mpi,machine,date,commit\n";

/* The verdict on one size. */
static struct verdict verdict_of(const struct figures *figures, int row) {
    const double *seconds[most_columns];
    for (int c = 0; c < figures->columns; c++) seconds[c] = figure(figures, row, c + 1);
    return judge(seconds, figures->columns, figures->done[row]);
}

static void print_head(const struct network_settings *settings, const char *title,
                       const char *first) {
    printf("\n%s\n%9s %12s", title, "bytes", first);
    for (int c = 0; c < settings->columns; c++)
        printf(" %6d pair%c", settings->pairs[c], settings->pairs[c] == 1 ? ' ' : 's');
    printf("  senders\n");
}

/* A row for each size: latency, a figure for each number of pairs, and how many of them are
 * enough. */
static void print_table(const struct network_settings *settings, const struct figures *figures,
                        bool rate) {
    char text[32], cell[32];
    print_head(settings,
               rate ? "messages that leave a node, while as many reach it: thousands per second"
                    : "bandwidth in both directions together: MB/s",
               rate ? "" : "latency us");
    for (int row = 0; row < settings->sizes.sizes; row++) {
        double bytes = (double)settings->sizes.bytes[row];
        snprintf(cell, sizeof cell, "%.2f", network_middle(figures, row, 0) * 1e6);
        printf("%9s %12s", size_text(settings->sizes.bytes[row], text, sizeof text),
               rate ? "" : cell);
        for (int c = 0; c < settings->columns; c++) {
            double seconds = network_middle(figures, row, c + 1),
                   value = rate ? 1e-3 / seconds : 2e-6 * bytes / seconds;
            printf(" %12.*f", value < 10 ? 2 : value < 1000 ? 1 : 0, value);
        }
        printf("  %7d\n", settings->pairs[verdict_of(figures, row).least]);
    }
}

/* "short messages (1 byte): 4 pairs reach 3.20 (3.00-3.40) times the message rate of one pair:
 * aggregation over all ranks" */
static void print_verdict(const struct network_settings *settings, const struct pairs *pairs,
                          const struct figures *figures, bool is_short) {
    int row = is_short ? 0 : settings->sizes.sizes - 1;
    struct verdict verdict = verdict_of(figures, row);
    char text[64], bytes[32];
    const char *what = is_short ? "message rate" : "bandwidth";
    int best = settings->pairs[verdict.best];
    printf("%s messages (bytes: %s): ", is_short ? "short" : "long",
           size_text(settings->sizes.bytes[row], bytes, sizeof bytes));
    if (settings->columns == 1) printf("only one pair was measured");
    else if (verdict.best == 0) printf("several pairs reach no more than one");
    else
        printf("%d pairs reach %.2f (%.2f-%.2f) times the %s of one pair", best,
               verdict.gain.median, verdict.gain.low, verdict.gain.high, what);
    verdict_text(settings->pairs[verdict.least], settings->pairs[settings->columns - 1],
                 pairs->most, text, sizeof text);
    printf(": %s\n", text);
}

/* With as many digits as mean something. */
static int digits(double us) { return us < 10 ? 2 : us < 100 ? 1 : 0; }

static void print_estimate(const char *name, const struct figures *figures, int row, int column,
                           const char *after) {
    struct estimate found = estimate_ratio(figure(figures, row, column), NULL, figures->done[row]);
    double median = found.median * 1e6, low = found.low * 1e6, high = found.high * 1e6;
    printf("%s %.*f us (%.*f-%.*f)%s", name, digits(median), median, digits(low), low, digits(high),
           high, after);
}

void network_print(const struct world *world, const struct network_settings *settings,
                   const struct pairs *pairs, const struct figures *figures) {
    char text[32], more[32];
    int sizes = settings->sizes.sizes;
    printf("mortar bench network: node %d and node %d of %d, up to %d pair%s; %s, %s\n",
           settings->nodes[0], settings->nodes[1], pairs->nodes,
           settings->pairs[settings->columns - 1], plural(settings->pairs[settings->columns - 1]),
           world->mpi, library_file());
    printf("between %s\n", pairs->between);
    if (nodes_pretended())
        printf("the nodes are pretended: all figures are those of shared memory\n");
    printf("medians of up to %d rounds, in brackets their 95 %% intervals\n\n", figures->rounds);
    print_estimate("latency", figures, 0, 0, ", half a round trip of ");
    printf("%s-byte messages, both overheads included\n",
           size_text(settings->sizes.bytes[0], text, sizeof text));
    print_estimate("overhead of a send", figures, sizes, 0, ", ");
    print_estimate("of a receive whose message is there", figures, sizes, 1, "\n");
    size_t eager[2] = {(size_t)figures->eager[0], (size_t)figures->eager[1]};
    if (eager[0])
        printf("%s-byte messages leave without their receiver (eager)",
               size_text(eager[0], text, sizeof text));
    if (eager[0] && eager[1]) printf(", ");
    if (eager[1])
        printf("%s-byte messages wait for it (rendezvous)", size_text(eager[1], more, sizeof more));
    printf("\n");
    print_table(settings, figures, false);
    print_table(settings, figures, true);
    printf(
        "senders: the fewest pairs of which no other number of pairs is clearly faster, by a tenth\n\n");
    print_verdict(settings, pairs, figures, true);
    if (sizes > 1) print_verdict(settings, pairs, figures, false);
    nodes_print(settings, pairs, figures);
    fflush(stdout);
}

/* ---- the CSV file ---- */

static void csv_rows(FILE *csv, const char *test, int pairs, size_t bytes, int window,
                     const double *seconds, int rounds, const char *behind) {
    for (int r = 0; r < rounds; r++)
        fprintf(csv, "%s,%d,%zu,%d,%d,%.9g,%s", test, pairs, bytes, window, r, seconds[r], behind);
}

/* What all rows end with. */
static void describe(FILE *out, const struct world *world, const struct pairs *pairs) {
    struct tuning_set here;
    tuning_here(&here, world->mpi);
    csv_text(out, pairs->between);
    fputc(',', out);
    csv_text(out, world->mpi);
    fputc(',', out);
    csv_text(out, world->machine);
    fprintf(out, ",%s,%s\n", here.date, BENCH_COMMIT);
}

int network_csv(const struct world *world, const struct network_settings *settings,
                const struct pairs *pairs, const struct figures *figures) {
    char behind[768] = "";
    FILE *csv = csv_open(settings->csv, network_header),
         *memory = csv ? fmemopen(behind, sizeof behind, "w") : NULL;
    if (!csv) return 2;
    if (memory) describe(memory, world, pairs), fclose(memory);
    int sizes = settings->sizes.sizes, rounds = figures->done[sizes];
    for (int row = 0; row < sizes; row++) {
        size_t bytes = settings->sizes.bytes[row];
        csv_rows(csv, "latency", 1, bytes, 1, figure(figures, row, 0), figures->done[row], behind);
        for (int c = 0; c < settings->columns; c++)
            csv_rows(csv, "stream", settings->pairs[c], bytes, window_of(bytes),
                     figure(figures, row, c + 1), figures->done[row], behind);
    }
    csv_rows(csv, "send", 1, short_bytes, network_burst, figure(figures, sizes, 0), rounds, behind);
    csv_rows(csv, "receive", 1, short_bytes, network_burst, figure(figures, sizes, 1), rounds,
             behind);
    for (int w = 0; w < 2; w++) {
        int row = sizes + 1 + w, window = nodes_windows[w];
        csv_rows(csv, "alone", 1, nodes_bytes(settings), window, figure(figures, row, 0),
                 figures->done[row], behind);
        csv_rows(csv, "all", pairs->nodes, nodes_bytes(settings), window, figure(figures, row, 1),
                 figures->done[row], behind);
    }
    return csv_close(csv);
}
