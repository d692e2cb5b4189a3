/* SPDX-License-Identifier: BSD-3-Clause */
/* network_tests - ping-pong, the overhead of calls, which messages leave without their receiver,
 * and streams of 1 to all pairs, each rank sending and receiving at once: the multi-pair
 * bidirectional bandwidth test of kumar2008 section 3. */
#include "bench/common/bench.h"
#include "network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { tag = 7, most_tries = 6, least_rounds = 5 };
enum { LEAVES_NOT, LEAVES, UNCLEAR };
/* Compilers take MPI_STATUSES_IGNORE for a mistake. */
static MPI_Status statuses[2 * network_window];
static const double eager_wait =
    /* Seconds that a sender gives its message to leave; its receiver stays away 3 times as long. */
    4e-3;

/* One row: the buffers for messages of a size, window_of of them. */
struct lane {
    const struct pairs *pairs;
    size_t bytes;
    int window;
    char *send, *recv;
    MPI_Request requests[2 * network_window];
};

int window_of(size_t bytes) {
    size_t window = ((size_t)8 << 20) / bytes;
    return window > network_window ? network_window : window < 4 ? 4 : (int)window;
}

double *figure(const struct figures *figures, int row, int column) {
    return figures->all + ((size_t)row * (size_t)(figures->columns + 1) + (size_t)column) *
                              (size_t)figures->rounds;
}

static void doze(double seconds) {
    nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL); /* less than a second */
}

/* ---- what is in the buffers ---- */

char content(int from, size_t i) { return (char)(draw((uint64_t)from, i / 8) >> (i % 8 * 8)); }

static void fill(struct lane *lane) {
    int me = lane->pairs->partner ^ 1;
    for (size_t i = 0; i < lane->bytes * (size_t)lane->window; i++) {
        lane->send[i] = content(me, i);
        lane->recv[i] = (char)~content(lane->pairs->partner, i);
    }
}

/* Has everything arrived, on all ranks? */
static bool check(const struct lane *lane) {
    size_t i = 0, all = lane->bytes * (size_t)lane->window;
    int partner = lane->pairs->partner;
    while (i < all && lane->recv[i] == content(partner, i)) i++;
    if (i < all)
        fprintf(
            stderr,
            "mortar bench network: WRONG RESULT: pair %d, node %d: byte %zu of a message of %zu bytes is 0x%02x, expected 0x%02x\n",
            lane->pairs->place, lane->pairs->side, i % lane->bytes, lane->bytes,
            (unsigned char)lane->recv[i], (unsigned char)content(partner, i));
    return most_of(lane->pairs->both, i < all) == 0;
}

/* ---- the tests: seconds of a batch, the same on all ranks of the communicator ---- */

/* `times` windows of messages in both directions of the first so many pairs. */
static double stream(struct lane *lane, MPI_Comm comm, long times) {
    int partner = lane->pairs->partner, window = lane->window, bytes = (int)lane->bytes;
    sharp_barrier(comm);
    double start = clock_seconds();
    for (long t = 0; t < times; t++) {
        for (int w = 0; w < window; w++)
            MPI_Irecv(lane->recv + (size_t)w * lane->bytes, bytes, MPI_BYTE, partner, tag, comm,
                      &lane->requests[w]);
        for (int w = 0; w < window; w++)
            MPI_Isend(lane->send + (size_t)w * lane->bytes, bytes, MPI_BYTE, partner, tag, comm,
                      &lane->requests[window + w]);
        MPI_Waitall(2 * window, lane->requests, statuses);
    }
    return most_of(comm, clock_seconds() - start);
}

static double ping_pong(struct lane *lane, MPI_Comm comm, long times) {
    int partner = lane->pairs->partner, bytes = (int)lane->bytes;
    sharp_barrier(comm);
    double start = clock_seconds();
    for (long t = 0; t < times; t++) {
        if (lane->pairs->side == 0) MPI_Send(lane->send, bytes, MPI_BYTE, partner, tag, comm);
        MPI_Recv(lane->recv, bytes, MPI_BYTE, partner, tag, comm, MPI_STATUS_IGNORE);
        if (lane->pairs->side == 1) MPI_Send(lane->send, bytes, MPI_BYTE, partner, tag, comm);
    }
    double seconds = clock_seconds() - start;
    return most_of(comm, lane->pairs->side == 0 ? seconds : 0);
}

/* Column 0 is ping-pong, the others are streams. */
static double batch(struct lane *lane, int column, long times) {
    if (column == 0) return ping_pong(lane, lane->pairs->of[0], times);
    return stream(lane, lane->pairs->of[column - 1], times);
}

static bool takes_part(const struct lane *lane, int column) {
    return lane->pairs->of[column ? column - 1 : 0] != MPI_COMM_NULL;
}

/* How many times last so many seconds? The first ones are slow. */
static long calibrate(struct lane *lane, int column, double seconds) {
    for (long times = 1;;) {
        double fit = seconds * (double)times / batch(lane, column, times);
        long wanted = fit < 1 ? 1 : fit > 1e6 ? 1000000 : (long)fit;
        if ((double)times >= fit / 4) return wanted;
        times = wanted > 8 * times ? 8 * times : wanted;
    }
}

/* One size: all columns in turns, beginning with another one in each round. */
static void measure_size(struct lane *lane, const struct network_settings *settings,
                         struct figures *figures, int row) {
    int columns = settings->columns + 1;
    long times[most_columns + 1] = {0};
    double seconds = settings->seconds / (columns * settings->rounds);
    for (int c = 0; c < columns; c++) {
        polite_barrier(lane->pairs->both);
        if (takes_part(lane, c)) times[c] = calibrate(lane, c, seconds > 1e-3 ? seconds : 1e-3);
    }
    double start = clock_seconds();
    int enough = 0;
    for (int r = 0; r < settings->rounds && !enough; r++) {
        for (int k = 0; k < columns; k++) {
            int c = (k + r) % columns;
            polite_barrier(lane->pairs->both);
            if (!takes_part(lane, c)) continue;
            double messages = c == 0 ? 2 : (double)settings->pairs[c - 1] * lane->window;
            figure(figures, row, c)[r] = batch(lane, c, times[c]) / (messages * (double)times[c]);
        }
        figures->done[row] = r + 1;
        polite_barrier(lane->pairs->both);
        /* Slower than it seemed. */
        enough = r + 1 >= least_rounds && clock_seconds() - start > 2 * settings->seconds;
        enough = most_of(lane->pairs->both, enough) > 0;
    }
}

/* What posting and completing costs: a burst of sends, and receives of what has come while their
 * rank slept. Of the first pair. */
static void overhead(const struct pairs *pairs, struct figures *figures, int row) {
    double *send = figure(figures, row, 0), *receive = figure(figures, row, 1);
    MPI_Comm comm = pairs->of[0];
    MPI_Request requests[network_burst];
    char room[network_burst][short_bytes] = {{0}};
    figures->done[row] = figures->rounds;
    for (int r = 0; r < figures->rounds; r++) {
        sharp_barrier(comm);
        if (pairs->side == 1) doze(1e-3);
        double start = clock_seconds();
        for (int i = 0; i < network_burst; i++)
            if (pairs->side == 0)
                MPI_Isend(room[i], short_bytes, MPI_BYTE, pairs->partner, tag, comm, &requests[i]);
            else MPI_Irecv(room[i], short_bytes, MPI_BYTE, pairs->partner, tag, comm, &requests[i]);
        MPI_Waitall(network_burst, requests, statuses);
        double each = (clock_seconds() - start) / network_burst;
        send[r] = most_of(comm, pairs->side == 0 ? each : 0);
        receive[r] = most_of(comm, pairs->side == 1 ? each : 0);
    }
}

/* One try: does a message of that size leave while its receiver is not in MPI? A sender that lost
 * its processor for so long that the receiver may have come cannot tell. */
static int try_to_leave(struct lane *lane, size_t bytes) {
    MPI_Comm comm = lane->pairs->of[0];
    int partner = lane->pairs->partner, done = 0;
    double answer = LEAVES_NOT;
    sharp_barrier(comm);
    if (lane->pairs->side == 0) {
        MPI_Request request;
        double start = clock_seconds(), spent = 0;
        MPI_Isend(lane->send, (int)bytes, MPI_BYTE, partner, tag, comm, &request);
        for (int tests = 0; !done && (tests < 100 || spent < eager_wait); tests++) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            spent = clock_seconds() - start;
        }
        if (done) answer = LEAVES;
        if (spent > 2 * eager_wait) answer = UNCLEAR;
        if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        doze(3 * eager_wait);
        MPI_Recv(lane->recv, (int)bytes, MPI_BYTE, partner, tag, comm, MPI_STATUS_IGNORE);
    }
    return (int)most_of(comm, answer);
}

/* What most of a few tries say. */
static bool leaves(struct lane *lane, size_t bytes) {
    int said[3] = {0};
    for (int t = 0; t < most_tries && said[LEAVES] < 2 && said[LEAVES_NOT] < 2; t++)
        said[try_to_leave(lane, bytes)]++;
    return said[LEAVES] > said[LEAVES_NOT];
}

/* The step from eager to rendezvous, among the powers of two that the buffers hold. Only of the
 * first pair. */
static void find_eager(struct lane *lane, double eager[2]) {
    size_t most = lane->bytes * (size_t)lane->window;
    int low = -1, high = 0; /* exponents; 2 to the low leaves, 2 to the high does not */
    while (most >> high > 0) high++;
    int all = high;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (leaves(lane, (size_t)1 << middle)) low = middle;
        else high = middle;
    }
    if (low >= 0) eager[0] = (double)((size_t)1 << low);
    if (high < all) eager[1] = (double)((size_t)1 << high);
}

static bool lane_open(struct lane *lane, const struct pairs *pairs, size_t bytes) {
    *lane = (struct lane){.pairs = pairs, .bytes = bytes, .window = window_of(bytes)};
    size_t all = bytes * (size_t)lane->window;
    lane->send = malloc(all);
    lane->recv = malloc(all);
    bool fine = most_of(pairs->both, !lane->send || !lane->recv) == 0;
    if (fine) fill(lane);
    else fprintf(stderr, "mortar bench network: no memory for messages of %zu bytes\n", bytes);
    return fine;
}

static void lane_close(struct lane *lane) {
    free(lane->send);
    free(lane->recv);
}

bool network_measure(const struct pairs *pairs, const struct network_settings *settings,
                     struct figures *figures) {
    int sizes = settings->sizes.sizes, all = settings->columns - 1;
    bool fine = true;
    for (int row = 0; row < sizes && fine; row++) {
        struct lane lane;
        fine = lane_open(&lane, pairs, settings->sizes.bytes[row]);
        if (fine) stream(&lane, pairs->of[all], 1);
        if (fine) fine = check(&lane);
        if (fine) measure_size(&lane, settings, figures, row);
        if (fine) fine = check(&lane);
        bool last = row == sizes - 1 && pairs->of[0] != MPI_COMM_NULL;
        if (fine && last) find_eager(&lane, figures->eager);
        lane_close(&lane);
    }
    if (fine && pairs->of[0] != MPI_COMM_NULL) overhead(pairs, figures, sizes);
    polite_barrier(pairs->both);
    return fine;
}
