/* SPDX-License-Identifier: BSD-3-Clause */
/* paths.h - a part of reach.h: the data paths, ways to a peer's memory (paths.c, list.h). */
#ifndef MORTAR_PATHS_H
#define MORTAR_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iovec;
struct team;

enum path_id {
#define PATH(name, about) PATH_##name,
#include "reach/list.h"
#undef PATH
    PATHS
};

/* What the file of a data path defines, for buffers outside the region. A path has either `read`,
 * which copies, or `hold`, which makes a peer's memory addressable. */
struct path_code {
    /* Sets the path up between every pair of ranks. Collective; 0 on all ranks, or -errno on all.
     * NULL: nothing to set up; plans do not name the path. */
    int (*open)(struct team *team, void **state);
    void (*close)(void *state);
    /* Called after the last MPI call of the program. NULL: nothing to do. */
    void (*finish)(void);
    /* Copies `count` pieces from a peer's addresses to mine; from[i] and to[i] have equal lengths.
     * Overwrites both lists. 0 or -errno. Local. */
    int (*read)(void *state, int rank, struct iovec *to, struct iovec *from, size_t count);
    /* Address of a peer's buffer in my address space, valid until drop; NULL: not available.
     * receives: its receive buffer, else its send buffer. The range of each must not change until
     * drop. Local. */
    char *(*hold)(void *state, int rank, bool receives, uint64_t address, size_t bytes);
    void (*drop)(void *state);
    /* Expected seconds to read a block of `bytes`, from memory or from caches. NULL: the same as
     * loads and stores. */
    double (*block_seconds)(size_t bytes, bool through_memory);
    /* True: all of this memory of mine is mapped, so that a peer can touch it safely. Local. */
    bool (*sound)(const void *memory, size_t bytes);
};
struct path {
    const char *name, *about;
    const struct path_code *code;
};
extern const struct path paths[PATHS];

struct reached {
    bool tried; /* open has been called */
    int error;  /* result of open, the same on all ranks, or -EPERM after team_loses_path */
    void *state;
};

/* Opens a data path between all ranks at first use. Collective; 0 or -errno, the same on all
 * ranks. */
int team_path(struct team *team, enum path_id path);
/* True: the path was opened and works. Local; the same on all ranks. */
bool team_has_path(const struct team *team, enum path_id path);
/* After trouble PATH_LOST: the team never uses the path again. Every rank must call it. Local. */
void team_loses_path(struct team *team, enum path_id path);
void team_close_paths(struct team *team);
/* After the host's MPI_Finalize. */
void paths_finish(void);

#endif
