/* SPDX-License-Identifier: BSD-3-Clause */
/* paths - the table of data paths, and which of them a team can use. A path is opened when a plan
 * first needs it, at a point that all ranks reach together. So programs whose buffers lie in the
 * heap never pay for it. */
#include "reach/reach.h"

#include <errno.h>

#define PATH(name, about) extern const struct path_code path_##name;
#include "reach/list.h"
#undef PATH

const struct path paths[PATHS] = {
#define PATH(name, about) {#name, about, &path_##name},
#include "reach/list.h"
#undef PATH
};

int team_path(struct team *team, enum path_id path) {
    const struct path_code *code = paths[path].code;
    struct reached *reached = &team->reached[path];
    if (!code->open) return 0;
    if (reached->tried) return reached->error;
    reached->error = code->open(team, &reached->state);
    reached->tried = true;
    if (reached->error)
        note("the data path %s does not work between these %d ranks", paths[path].name, team->p);
    return reached->error;
}

HOT bool team_has_path(const struct team *team, enum path_id path) {
    return team->reached[path].tried && team->reached[path].error == 0;
}

void team_loses_path(struct team *team, enum path_id path) {
    team->reached[path].error = -EPERM;
    note(
        "the data path %s stopped working between these %d ranks: their buffers are staged from now on",
        paths[path].name, team->p);
}

void team_close_paths(struct team *team) {
    for (int path = 0; path < PATHS; path++)
        if (team->reached[path].state) paths[path].code->close(team->reached[path].state);
}

void paths_finish(void) {
    for (int path = 0; path < PATHS; path++)
        if (paths[path].code->finish) paths[path].code->finish();
}
