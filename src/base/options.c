/* SPDX-License-Identifier: BSD-3-Clause */
/* options - settings from the environment; see options.h. */
#define _GNU_SOURCE
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct option_row option_rows[OPTIONS] = {
#define OPTION(name, whose, value, unit, meaning) {"MORTAR_" #name, whose, value, unit, meaning},
#include "base/options.h"
#undef OPTION
};

/* A text that was taken over is never freed: callers may still hold it after the next one. */
struct copy {
    struct copy *before;
    char text[];
};
static _Atomic(struct copy *) taken_over[OPTIONS];

int option_take_over(enum option option, const char *text) {
    struct copy *copy = malloc(sizeof *copy + strlen(text) + 1);
    if (!copy) return -ENOMEM;
    copy->before = taken_over[option];
    strcpy(copy->text, text);
    taken_over[option] = copy;
    return 0;
}

uint64_t hash_text(uint64_t hash, const char *text) {
    do hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    while (*text++);
    return hash;
}

const char *option_text(enum option option) {
    if (taken_over[option]) return taken_over[option]->text;
    const char *text = getenv(option_rows[option].name);
    return text && *text ? text : option_rows[option].value;
}

/* Reads "8", "64K", "1M". Returns the text after it; NULL: not a number, or too large. */
static const char *options_number(const char *text, uint64_t *bytes) {
    static const char units[] = "KMGT";
    uint64_t value = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; c++) {
        if (value > UINT64_MAX / 16) return NULL;
        value = value * 10 + (uint64_t)(*c - '0');
    }
    const char *unit = *c ? strchr(units, toupper((unsigned char)*c)) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (c == text || (shift > 0 && value > UINT64_MAX >> shift)) return NULL;
    *bytes = value << shift;
    return unit ? c + 1 : c;
}

int parse_bytes(const char *text, uint64_t *bytes) {
    uint64_t value;
    const char *end = options_number(text, &value);
    if (!end || *end) return -EINVAL;
    *bytes = value;
    return 0;
}

static int options_index_of(const char *text, const char *words) {
    size_t length = strlen(text);
    for (int index = 0; *words; index++) {
        size_t word = strcspn(words, "|");
        if (word == length && memcmp(words, text, word) == 0) return index;
        words += word + (words[word] == '|');
    }
    return -1;
}

/* True: the unit is a range, "least-most what". */
static bool has_range(const char *unit, uint64_t *least, uint64_t *most) {
    const char *end = options_number(unit, least);
    return end && *end == '-' && options_number(end + 1, most);
}

static bool options_fits(enum option option, const char *text) {
    const char *unit = option_rows[option].unit;
    uint64_t least, most, value;
    if (strchr(unit, '|')) return options_index_of(text, unit) >= 0;
    return !has_range(unit, &least, &most) ||
           (parse_bytes(text, &value) == 0 && value >= least && value <= most);
}

uint64_t option_number(enum option option) {
    const char *text = option_text(option);
    uint64_t value;
    if (!options_fits(option, text)) text = option_rows[option].value;
    return parse_bytes(text, &value) == 0 ? value : 0;
}

int option_choice(enum option option, const char *words) {
    int index = options_index_of(option_text(option), words);
    return index >= 0 ? index : options_index_of(option_rows[option].value, words);
}

/* ---- warnings ---- */

/* The edit distance of two names: letters to insert, delete or replace (Wagner and Fischer
 * 1974). */
static int options_distance(const char *a, const char *b) {
    enum { most = 32 };
    int row[most + 1], length = (int)strlen(b);
    if (length > most) return most;
    for (int j = 0; j <= length; j++) row[j] = j;
    for (int i = 1; *a; i++, a++) {
        int before = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int least = before + (toupper((unsigned char)*a) != b[j - 1]);
            before = row[j];
            if (row[j] + 1 < least) least = row[j] + 1;
            if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
            row[j] = least;
        }
    }
    return row[length];
}

/* name: without MORTAR_. Ignores variables of mortar's own scripts, and those that the environment
 * modules of computing centres set. */
static void check_name(const char *name) {
    static const char others[] = "BENCH|BUILD|FLAVOURS|MPIS|SIM|SIM_PRICES|TEST_SEED|"
                                 "BASE|BIN|DIR|HOME|INC|INCLUDE|LIB|PATH|PREFIX|ROOT|VERSION";
    int nearest = 0, least = INT32_MAX;
    for (int o = 0; o < OPTIONS; o++) {
        int far = options_distance(name, option_rows[o].name + 7);
        if (far < least) {
            least = far;
            nearest = o;
        }
    }
    if (strcmp(name, option_rows[nearest].name + 7) == 0 || options_index_of(name, others) >= 0)
        return;
    if (least <= 1 + (int)strlen(name) / 4)
        warn("MORTAR_%s is no option: did you mean %s?", name, option_rows[nearest].name);
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
