/* SPDX-License-Identifier: BSD-3-Clause */
/* tags - the tags under which a rank receives the messages of its teams (src/reach/messenger.c): no
 * two teams have the same ones, all are the MPI library's, those used lately are used last, and
 * there are none only where there is no room. The MPI library is played here.
 * tags [SEED [STEPS]] */
#include "reach/host.h"

#include "reach/reach.h"
#include "reach/wire.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_living = 40, most_bound = 3000 };

struct host host;
static int ranks = 4, bound;
static bool refuses;

int PMPI_Comm_size(MPI_Comm comm, int *size) { return (void)comm, *size = ranks, MPI_SUCCESS; }
int PMPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found) {
    expect(comm == MPI_COMM_WORLD && key == MPI_TAG_UB, "another attribute");
    *(int **)value = &bound;
    *found = 1;
    return MPI_SUCCESS;
}
int comm_private(MPI_Comm comm, MPI_Comm *own) {
    (void)comm;
    *own = refuses ? MPI_COMM_NULL : MPI_COMM_SELF;
    return refuses ? -EIO : 0;
}
static int gone(MPI_Comm *comm) { return *comm = MPI_COMM_NULL, MPI_SUCCESS; }

static struct tags living[most_living];
static int count;
static bool used[most_bound + 1];

static void mark(const struct tags *tags, bool now) {
    for (int tag = tags->first; tag < tags->end; tag++) {
        expect(used[tag] != now, "tag %d twice", tag);
        used[tag] = now;
    }
}

/* The first of so many tags from `from` on that nobody has; 0: there are none. */
static int room_for(int wanted, int from) {
    for (int first = from, tag = from; tag <= bound; tag++) {
        if (used[tag]) first = tag + 1;
        else if (tag - first + 1 == wanted) return first;
    }
    return 0;
}

/* Returns how many were refused. The list is linked through the places, so they stay where they
 * are. */
static int play(uint64_t *random, int steps) {
    static int latest = TAG_FIRST; /* as messenger.c goes on */
    int refused = 0;
    for (int k = 0; k < steps; k++) {
        struct tags *mine = &living[draw_below(random, most_living)];
        if (mine->first) {
            mark(mine, false);
            tags_give(mine);
            *mine = (struct tags){0};
            count--;
            continue;
        }
        int wanted = 1 + (int)draw_below(random, 100);
        int first =
            room_for(wanted, latest) ? room_for(wanted, latest) : room_for(wanted, TAG_FIRST);
        int error = tags_take(mine, wanted);
        expect(error == (first ? 0 : -ENOSPC) && mine->first == first, "%d from %d instead of %d",
               wanted, mine->first, first);
        refused += error != 0;
        if (error) continue;
        expect(mine->end - first == wanted && mine->end - 1 <= bound, "%d to %d", first, mine->end);
        mark(mine, true);
        latest = mine->end;
        count++;
    }
    for (int i = 0; i < most_living; i++) {
        if (living[i].first) mark(&living[i], false);
        tags_give(&living[i]);
        living[i] = (struct tags){0};
    }
    return refused;
}

/* There is no messenger. */
static void lack(void) {
    struct tags tags = {.first = 7};
    messenger_open();
    expect(messenger_comm() == MPI_COMM_NULL && tags_take(&tags, 1) == -ENOSYS && tags.first == 0,
           "tags without a messenger");
}

int main(int arguments, char **words) {
    uint64_t random = seed_from(arguments, words);
    int steps = arguments > 2 ? atoi(words[2]) : 100000, refused = 0;
    host.comm_free = gone;
    refuses = true;
    lack();
    refuses = false;
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1); /* one node */
    lack();
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "3", 1);
    ranks = 1;
    lack();
    ranks = 4;
    for (bound = 300; bound <= most_bound; bound += 900) {
        messenger_open();
        expect(messenger_comm() != MPI_COMM_NULL, "no messenger");
        refused += play(&random, steps / 4);
        messenger_close();
        expect(messenger_comm() == MPI_COMM_NULL, "the messenger stays");
    }
    expect(refused > steps / 100, "only %d refused", refused);
    printf("%d steps, %d refused\n", steps, refused);
    return 0;
}
