/* SPDX-License-Identifier: BSD-3-Clause */
/* options - settings from the environment; see options.h. */
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct option_row option_rows[OPTIONS] = {
#define OPTION(name, value, unit, meaning) {"MORTAR_" #name, value, unit, meaning},
#include "base/options.h"
#undef OPTION
};

static bool warned[OPTIONS];

static void warn_once(enum option option, const char *expected) {
    const struct option_row *row = &option_rows[option];
    if (!warned[option]) warn("%s=%s: expected %s; using %s", row->name, option_text(option), expected, row->value);
    warned[option] = true;
}

const char *option_text(enum option option) {
    const char *text = getenv(option_rows[option].name);
    return text && *text ? text : option_rows[option].value;
}

int parse_bytes(const char *text, uint64_t *bytes) {
    uint64_t value = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; c++) {
        if (value > UINT64_MAX / 16) return -EINVAL;
        value = value * 10 + (uint64_t)(*c - '0');
    }
    if (c == text) return -EINVAL;
    int shift = *c == 'K' || *c == 'k' ? 10 : *c == 'M' || *c == 'm' ? 20 : *c == 'G' || *c == 'g' ? 30 : 0;
    if (c[shift > 0] != 0 || (shift > 0 && value > UINT64_MAX >> shift)) return -EINVAL;
    *bytes = value << shift;
    return 0;
}

uint64_t option_number(enum option option) {
    uint64_t value;
    if (parse_bytes(option_text(option), &value) == 0) return value;
    warn_once(option, "a number with an optional K, M or G");
    return parse_bytes(option_rows[option].value, &value) == 0 ? value : 0;
}

static int index_of(const char *text, const char *words) {
    size_t length = strlen(text);
    for (int index = 0; *words; index++) {
        size_t word = strcspn(words, "|");
        if (word == length && memcmp(words, text, word) == 0) return index;
        words += word + (words[word] == '|');
    }
    return -1;
}

int option_choice(enum option option, const char *words) {
    int index = index_of(option_text(option), words);
    if (index >= 0) return index;
    warn_once(option, words);
    return index_of(option_rows[option].value, words);
}
