/* SPDX-License-Identifier: BSD-3-Clause */
/* options_check - what a user has misspelt: a line for each, with what was probably meant. */
#define _GNU_SOURCE
#include "base/base.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* The algorithm is Wagner and Fischer's (1974). */
int word_distance(const char *a, const char *b) {
    enum { most = 32 };
    int row[most + 1], length = (int)strlen(b);
    if (length > most) return most;
    for (int j = 0; j <= length; j++) row[j] = j;
    for (int i = 1; *a; i++, a++) {
        int before = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int least = before + (tolower((unsigned char)*a) != tolower((unsigned char)b[j - 1]));
            before = row[j];
            if (row[j] + 1 < least) least = row[j] + 1;
            if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
            row[j] = least;
        }
    }
    return row[length];
}

int likely_distance(const char *typed) { return 1 + (int)strlen(typed) / 4; }

enum option options_nearest(const char *name, bool *alike) {
    int nearest = 0, least = INT32_MAX;
    for (int o = 0; o < OPTIONS; o++) {
        int far = word_distance(name, option_rows[o].name + 7);
        if (far < least) {
            least = far;
            nearest = o;
        }
    }
    *alike = least <= likely_distance(name);
    return (enum option)nearest;
}

/* name: without MORTAR_. Ignores variables of mortar's own scripts, and those that the environment
 * modules of computing centres set. */
static void check_name(const char *name) {
    static const char others[] = "BUILD|FLAVOURS|MPI|MPICC|MPIS|SIM|SIM_PRICES|TEST_SEED|"
                                 "BASE|BIN|DIR|HOME|INC|INCLUDE|LIB|PATH|PREFIX|ROOT|VERSION";
    bool alike;
    enum option nearest = options_nearest(name, &alike);
    if (strcmp(name, option_rows[nearest].name + 7) == 0 || options_index_of(name, others) >= 0)
        return;
    if (alike) warn("MORTAR_%s is no option: did you mean %s?", name, option_rows[nearest].name);
    else warn("MORTAR_%s is no option (`mortar info` lists them)", name);
}

void options_check(void) {
    for (int o = 0; o < OPTIONS; o++) {
        const struct option_row *row = &option_rows[o];
        const char *text = option_text((enum option)o);
        if (!options_fits((enum option)o, text))
            warn("%s=%s: expected %s; using %s", row->name, text, row->unit, row->value);
    }
    for (char **variable = environ; variable && *variable; variable++) {
        char name[64];
        size_t length = strcspn(*variable, "=");
        if (strncmp(*variable, "MORTAR_", 7) != 0 || length - 7 >= sizeof name) continue;
        memcpy(name, *variable + 7, length - 7);
        name[length - 7] = 0;
        check_name(name);
    }
}
