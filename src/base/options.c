/* SPDX-License-Identifier: BSD-3-Clause */
/* options - settings from the environment; see options.h. */
#define _GNU_SOURCE
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct option_row option_rows[OPTIONS] = {
#define OPTION(name, whose, value, unit, meaning) {"MORTAR_" #name, whose, value, unit, meaning},
#include "base/options.h"
#undef OPTION
};

/* Texts that the environment no longer decides. Copies are never freed: callers may still hold one
 * after the next. */
static _Atomic(const char *) taken[OPTIONS];
struct copy {
    struct copy *before;
    char text[];
};
static _Atomic(struct copy *) copies;

int option_take_over(enum option option, const char *text) {
    struct copy *copy = malloc(sizeof *copy + strlen(text) + 1);
    if (!copy) return -ENOMEM;
    strcpy(copy->text, text);
    copy->before = copies;
    while (!atomic_compare_exchange_weak(&copies, &copy->before, copy)) continue;
    taken[option] = copy->text;
    return 0;
}

int options_take(const char *folder) {
    char path[2 * PATH_MAX];
    int error = 0;
    for (int o = 0; o < OPTIONS && !error; o++) {
        const struct option_row *row = &option_rows[o];
        const char *text = option_text((enum option)o);
        bool is_path = strcmp(row->unit, "path") == 0 && strcmp(text, "-") != 0;
        if (is_path && folder && *text && *text != '/') {
            int length = snprintf(path, sizeof path, "%s/%s", folder, text);
            if ((size_t)length < sizeof path) text = path;
        }
        if (text == row->value) taken[o] = text;
        else error = option_take_over((enum option)o, text);
    }
    return error;
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ at[i]) * 1099511628211u;
    return hash;
}

uint64_t hash_text(uint64_t hash, const char *text) {
    return hash_bytes(hash, text, strlen(text) + 1);
}

const char *option_text(enum option option) {
    const char *text = taken[option];
    if (text) return text;
    text = getenv(option_rows[option].name);
    return text && *text ? text : option_rows[option].value;
}

/* Reads "8", "64K", "1M". Returns the text after it; NULL: not a number, or too large. */
static const char *options_number(const char *text, uint64_t *bytes) {
    static const char units[] = "KMGT";
    uint64_t value = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        if (value > (UINT64_MAX - digit) / 10) return NULL;
        value = value * 10 + digit;
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

int options_index_of(const char *text, const char *words) {
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

bool options_fits(enum option option, const char *text) {
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
