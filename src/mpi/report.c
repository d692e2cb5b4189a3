/* SPDX-License-Identifier: BSD-3-Clause */
/* report - what ran, by collective, communicator size and plan; gathered on rank 0. Each rank makes
 * records of its teams and plans; rank 0 merges records with the same key. */
#include "mpi/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What ranks waited for a late one in all, and how many ranks did. */
struct waited {
    struct lateness late;
    int waiters;
};
struct book {
    int count, room;
    bool full;              /* a record found no memory */
    struct record *records; /* [room] */
    struct waited **late;   /* [room][ranks of the world]; late[i] NULL: nobody was late */
};
static struct book dead; /* of freed teams */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct book *gathering; /* where add_team and add_plan add; under the lock */

HOT bool report_wanted(void) {
    static int wanted = -1;
    if (wanted < 0) wanted = *option_text(OPTION_REPORT) != 0;
    return wanted;
}

static int world_size(void) {
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

/* ---- books ---- */

static void book_close(struct book *book) {
    for (int i = 0; book->late && i < book->count; i++) free(book->late[i]);
    free(book->late);
    free(book->records);
    *book = (struct book){0};
}

/* False: no memory; the book is as before. */
static bool book_widen(struct book *book) {
    size_t room = book->room ? 2 * (size_t)book->room : 4096, count = (size_t)book->count;
    struct record *records = calloc(room, sizeof *records);
    struct waited **late = calloc(room, sizeof *late);
    if (!records || !late) {
        free(records);
        free(late);
        return false;
    }
    if (count > 0) {
        memcpy(records, book->records, count * sizeof *records);
        memcpy(late, book->late, count * sizeof *late);
    }
    free(book->records);
    free(book->late);
    book->records = records;
    book->late = late;
    book->room = (int)room;
    return true;
}

static bool book_open(struct book *book) {
    *book = (struct book){0};
    return book_widen(book);
}

static bool same_key(const struct record *a, const struct record *b) {
    return a->ranks == b->ranks && a->size_class == b->size_class && a->domains == b->domains &&
           a->nodes == b->nodes && a->fullest == b->fullest &&
           strcmp(a->collective, b->collective) == 0 && strcmp(a->plan, b->plan) == 0 &&
           strcmp(a->reason, b->reason) == 0 && strcmp(a->source, b->source) == 0;
}

static void take_calls(struct record *to, const struct record *from) {
    to->calls = from->calls;
    to->seconds = from->seconds;
    to->late_seconds = from->late_seconds;
    to->inside_seconds = from->inside_seconds;
}

/* Records of one rank add up. Between ranks, bytes are the sum, and calls and times are those of
 * the rank with the most seconds, else of that with most calls. Teams are counted by their ranks 0;
 * the time of their set-up is that of the rank with the fewest seconds: it came last, and the
 * others' time is mostly waiting for it. */
static void merge(struct record *to, const struct record *from, bool same_rank) {
    to->bytes += from->bytes;
    to->traffic.messages += from->traffic.messages;
    to->traffic.bytes += from->traffic.bytes;
    to->traffic.far_messages += from->traffic.far_messages;
    to->traffic.far_bytes += from->traffic.far_bytes;
    if (from->evidence.native_seconds > 0 &&
        (to->evidence.native_seconds <= 0 || from->evidence.pairs > to->evidence.pairs))
        /* The communicator with most pairs of trials, if several have this size. */
        to->evidence = from->evidence;
    if (same_rank) {
        to->calls += from->calls;
        to->most_calls += from->most_calls;
        to->verified += from->verified;
        to->different += from->different;
        to->seconds += from->seconds;
        to->late_seconds += from->late_seconds;
        to->inside_seconds += from->inside_seconds;
        return;
    }
    to->members += from->members;
    if (from->most_calls > to->most_calls) to->most_calls = from->most_calls;
    if (from->verified > to->verified) to->verified = from->verified;
    if (from->different > to->different) to->different = from->different;
    if (!*to->plan) {
        to->calls += from->calls;
        if (from->seconds < to->seconds) to->seconds = from->seconds;
    } else if (from->seconds > to->seconds ||
               (from->seconds >= to->seconds && from->calls > to->calls)) {
        take_calls(to, from);
    }
}

/* Returns the index of the record; -1: no memory. */
static int report_add(struct book *book, const struct record *record, bool same_rank) {
    int i = 0;
    while (i < book->count && !same_key(&book->records[i], record)) i++;
    if (i == book->room && !book_widen(book)) {
        book->full = true;
        return -1;
    }
    if (i < book->count) merge(&book->records[i], record, same_rank);
    else book->records[book->count++] = *record;
    return i;
}

/* Adds what others waited for a rank of the world. */
static void add_late(struct book *book, int record, int rank, struct lateness late,
                     bool same_rank) {
    int ranks = world_size();
    /* A rank that was spawned belongs to another world. */
    if (record < 0 || rank >= ranks || late.times == 0) return;
    if (!book->late[record]) book->late[record] = calloc((size_t)ranks, sizeof **book->late);
    if (!book->late[record]) return;
    struct waited *to = &book->late[record][rank];
    to->late.seconds += late.seconds;
    to->late.times += late.times;
    if (!same_rank || to->waiters == 0) to->waiters++;
}

/* ---- the records of this rank ---- */

static void add_plan(const struct team *team, const struct plan *plan,
                     const struct evidence *evidence) {
    const struct tally *tally = &plan->tally;
    bool known = report_wanted() && plan->algorithm->code->run;
    struct record record = record_on(&team->figures);
    record.size_class = plan->size_class;
    record.members = 1;
    record.calls = record.most_calls = tally->calls;
    record.bytes = tally->bytes;
    record.verified = tally->verified;
    record.different = tally->different;
    record.traffic = tally->traffic;
    record.seconds = tally->seconds;
    record.late_seconds = record.inside_seconds = -1;
    if (known) {
        record.late_seconds = tally->late_seconds;
        record.inside_seconds = tally->inside_seconds;
    }
    if (evidence) record.evidence = *evidence;
    snprintf(record.source, sizeof record.source, "%s", plan->source ? plan->source : "");
    snprintf(record.collective, sizeof record.collective, "%s", collective_names[plan->collective]);
    snprintf(record.plan, sizeof record.plan, "%s", plan->text);
    snprintf(record.reason, sizeof record.reason, "%s", plan->reason ? plan->reason : "");
    int at = report_add(gathering, &record, true);
    for (int r = 0; tally->late && r < team->p; r++)
        add_late(gathering, at, team->world[r], tally->late[r], true);
}

static void add_team(struct team *team) {
    struct record record = record_on(&team->figures);
    record.calls = team->me == 0;
    record.seconds = team->setup_seconds;
    snprintf(record.reason, sizeof record.reason, "%s", team->why_native ? team->why_native : "");
    report_add(gathering, &record, true);
    plan_visit(team, add_plan);
}

static void add_met(struct met met) {
    if (met.team) {
        add_team(met.team);
    } else if (met.young) {
        struct record record = young_record(met.young);
        report_add(gathering, &record, true);
    }
}

static void on_farewell(struct met met) {
    if (met.young) young_goes(met.young);
    if (!met.team) return;
    pthread_mutex_lock(&lock);
    gathering = &dead;
    add_team(met.team);
    pthread_mutex_unlock(&lock);
}

void report_keep(const struct record *record) {
    pthread_mutex_lock(&lock);
    if (dead.records) report_add(&dead, record, true);
    pthread_mutex_unlock(&lock);
}

void report_start(void) {
    if (book_open(&dead)) team_farewell = on_farewell;
}

static bool own_book(struct book *own) {
    if (!book_open(own)) return false;
    young_settle();
    pthread_mutex_lock(&lock);
    for (int i = 0; i < dead.count; i++) {
        int at = report_add(own, &dead.records[i], true);
        for (int r = 0; dead.late[i] && r < world_size(); r++)
            add_late(own, at, r, dead.late[i][r].late, true);
    }
    own->full |= dead.full;
    gathering = own;
    teams_visit(add_met);
    pthread_mutex_unlock(&lock);
    return true;
}

/* ---- the records of all ranks ---- */

/* How a late rank is sent to rank 0. record: its index among the sender's records. */
struct sent_late {
    int32_t record, rank;
    struct lateness late;
};

static void send_book(const struct book *own, MPI_Comm comm) {
    int ranks = world_size(), count = 0;
    for (int i = 0; i < own->count; i++)
        for (int r = 0; own->late[i] && r < ranks; r++) count += own->late[i][r].waiters > 0;
    struct sent_late *sent = malloc(((size_t)count + 1) * sizeof *sent);
    count = 0;
    for (int i = 0; sent && i < own->count; i++)
        for (int r = 0; own->late[i] && r < ranks; r++)
            if (own->late[i][r].waiters > 0)
                sent[count++] = (struct sent_late){i, r, own->late[i][r].late};
    PMPI_Send(own->records, own->count * (int)sizeof *own->records, MPI_BYTE, 0, 0, comm);
    PMPI_Send(sent, count * (int)sizeof *sent, MPI_BYTE, 0, 0, comm);
    free(sent);
}

/* The next message from a rank; the caller frees it. NULL: no memory; the message was received and
 * lost. */
static void *receive(int rank, MPI_Comm comm, int *bytes) {
    MPI_Status status;
    PMPI_Probe(rank, 0, comm, &status);
    PMPI_Get_count(&status, MPI_BYTE, bytes);
    void *message = malloc((size_t)*bytes + 1);
    PMPI_Recv(message, message ? *bytes : 0, MPI_BYTE, rank, 0, comm, &status);
    return message;
}

static void receive_book(struct book *own, int rank, MPI_Comm comm) {
    int bytes, late_bytes;
    struct record *records = receive(rank, comm, &bytes);
    struct sent_late *sent = receive(rank, comm, &late_bytes);
    int *at = malloc((size_t)bytes + 1); /* the index of each record in `own` */
    int count = own->records && records && at ? bytes / (int)sizeof *records : 0;
    for (int i = 0; i < count; i++) at[i] = report_add(own, &records[i], false);
    for (int i = 0; count > 0 && sent && i < late_bytes / (int)sizeof *sent; i++)
        add_late(own, at[sent[i].record], sent[i].rank, sent[i].late, false);
    free(at);
    free(sent);
    free(records);
}

/* Names the ranks that stand out in the record, the largest share first. A rank stands out if its
 * share of the waiting time is at least a tenth, and at least 1.5 times what it would be if all
 * ranks were equally late. */
static void name_late(struct record *record, const struct waited *waited, int ranks) {
    double all = 0, least = 1.5 / record->members;
    if (least < 0.1) least = 0.1;
    for (int r = 0; r < ranks; r++) all += waited[r].late.seconds;
    for (int r = 0; r < ranks; r++) {
        const struct lateness *late = &waited[r].late;
        double share = all > 0 ? late->seconds / all : 0;
        if (share < least) continue;
        uint64_t waiters = (uint64_t)waited[r].waiters;
        int at = record->late_count < most_late ? record->late_count++ : most_late;
        for (; at > 0 && record->late[at - 1].share < share; at--)
            if (at < most_late) record->late[at] = record->late[at - 1];
        if (at < most_late)
            record->late[at] = (struct late_rank){.rank = r,
                                                  .times = (late->times + waiters / 2) / waiters,
                                                  .seconds = late->seconds / (double)waiters,
                                                  .share = share};
    }
}

void report_moves(struct moves *moves) {
    uint64_t mine[2] = {shown_moves.count, shown_moves.bytes}, all[2] = {0};
    double seconds[2] = {shown_moves.seconds, shown_moves.saves}, sums[2] = {0};
    MPI_Comm comm;
    *moves = (struct moves){.huge_lost = shown_moves.huge_lost};
    if (comm_private(MPI_COMM_WORLD, &comm) != 0) return;
    host.reduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, 0, comm);
    host.reduce(seconds, sums, 2, MPI_DOUBLE, MPI_SUM, 0, comm);
    host.reduce(&shown_moves.seconds, &moves->seconds, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
    moves->buffers = all[0];
    moves->bytes = all[1];
    moves->repaid = sums[1] > 0 ? sums[0] / sums[1] : 0;
    host.comm_free(&comm);
}

static bool shown_alike(const struct record *a, const struct record *b) {
    bool teams = !*a->plan;
    return a->ranks == b->ranks && a->size_class == b->size_class &&
           strcmp(a->collective, b->collective) == 0 && strcmp(a->plan, b->plan) == 0 &&
           strcmp(a->reason, b->reason) == 0 && (!teams || (a->nodes > 1) == (b->nodes > 1)) &&
           (!teams || (a->domains > 1) == (b->domains > 1));
}

int report_join(struct record *records, int count) {
    int left = 0;
    for (int i = 0; i < count; i++) {
        int at = 0;
        while (at < left && !shown_alike(&records[at], &records[i])) at++;
        if (at == left) {
            records[left++] = records[i];
            continue;
        }
        if (records[i].seconds > records[at].seconds) { /* the ranks that were late there */
            memcpy(records[at].late, records[i].late, sizeof records[at].late);
            records[at].late_count = records[i].late_count;
        }
        merge(&records[at], &records[i], true);
    }
    return left;
}

int report_gather(struct record **records, int *count, int *ranks) {
    int me = 0;
    MPI_Comm comm; /* private: messages of the program may be pending on the world */
    struct book own;
    *records = NULL;
    if (comm_private(MPI_COMM_WORLD, &comm) != 0) return -EIO;
    PMPI_Comm_size(comm, ranks);
    PMPI_Comm_rank(comm, &me);
    bool fine = own_book(&own);
    if (me != 0) {
        send_book(&own, comm);
    } else {
        for (int r = 1; r < *ranks; r++) receive_book(&own, r, comm);
        for (int i = 0; i < own.count; i++)
            if (own.late[i]) name_late(&own.records[i], own.late[i], *ranks);
        *count = own.count;
        *records = own.records;
        own.records = NULL;
    }
    host.comm_free(&comm);
    fine = fine && !own.full;
    book_close(&own);
    return fine ? 0 : -ENOMEM;
}
