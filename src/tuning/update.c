/* SPDX-License-Identifier: BSD-3-Clause */
/* update - adds to a tuning file that others may be adding to. Who had read it long before would
 * undo what they have written since. */
#define _GNU_SOURCE
#include "tuning/tuning.h"

#include <stdio.h>
#include <unistd.h>

static int add(struct tuning_file *file, const char *path, const struct tuning_file *news) {
    int error = tuning_merge(file, news);
    return error ? error : tuning_write(path, file->sets, file->count);
}

int tuning_update(const char *path, const struct tuning_file *news, char *why, size_t size) {
    struct tuning_file file = {0};
    char wrong[256] = "";
    int held = file_hold(path);
    int error = access(path, F_OK) == 0 ? tuning_read(path, &file, wrong, sizeof wrong) : 0;
    if (!error) error = add(&file, path, news);
    if (held >= 0) close(held);
    tuning_free(&file);
    if (*wrong) snprintf(why, size, "it is there and is no tuning file: %s", wrong);
    else if (error) snprintf(why, size, "%s", file_why(error));
    return error;
}
