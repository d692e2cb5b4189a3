/* SPDX-License-Identifier: BSD-3-Clause */
/* options - any environment: each line of the input is a variable, without its MORTAR_. Options
 * have values in their ranges, numbers are those that were written, and what is not right counts as
 * the default; lists of collectives name those that they name. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "coll/coll.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { most_variables = 32 };

/* A number as docs/guide.md describes it: digits, and K, M, G or T. False: it is none, or too
 * large. */
static bool plain_number(const char *text, uint64_t *number) {
    static const char *const units = "kmgt";
    bool zero = *text == '0';
    while (*text == '0' && text[1] == '0') text++;
    text += zero && text[1] >= '1' && text[1] <= '9';
    size_t digits = strspn(text, "0123456789");
    unsigned __int128 value = 0;
    for (size_t i = 0; i < digits && i <= 25; i++) value = value * 10 + (unsigned)(text[i] - '0');
    const char *end = text + digits;
    for (int u = 0; *end && u < 4; u++)
        if ((*end | 0x20) == units[u] && (value <<= 10 * (u + 1), true)) {
            end++;
            break;
        }
    *number = (uint64_t)value;
    return digits > 0 && *end == 0 && digits <= 25 && value <= UINT64_MAX;
}

static void check_bytes(const char *text) {
    uint64_t wanted, found = 42;
    bool fine = plain_number(text, &wanted);
    int error = parse_bytes(text, &found);
    must(fine ? error == 0 && found == wanted : error != 0 && found == 42,
         "\"%s\": error %d, number %llu", text, error, (unsigned long long)found);
}

/* The words of a|b|c: how many, and word `which`. */
static int words_of(const char *unit, int which, char word[64]) {
    int count = 0;
    for (const char *at = unit; *at; count++) {
        size_t length = strcspn(at, "|");
        if (count == which) snprintf(word, 64, "%.*s", (int)length, at);
        at += length + (at[length] == '|');
    }
    return count;
}

static void check_choice(enum option o, const char *text) {
    char word[64] = "";
    const char *unit = option_rows[o].unit;
    int choice = option_choice(o, unit), count = words_of(unit, choice, word);
    must(choice >= 0 && choice < count, "%s=%s: word %d", option_rows[o].name, text, choice);
    bool right = strcmp(word, text) == 0;
    must(right || strcmp(word, option_rows[o].value) == 0, "%s=%s: %s", option_rows[o].name, text,
         word);
    must(options_fits(o, text) == right, "%s=%s fits: %d", option_rows[o].name, text, !right);
}

static void check_range(enum option o, const char *text) {
    char least[32];
    const char *unit = option_rows[o].unit, *dash = strchr(unit, '-');
    uint64_t low, high, wanted, usual, number = option_number(o);
    snprintf(least, sizeof least, "%.*s", (int)(dash - unit), unit);
    char most[32];
    snprintf(most, sizeof most, "%.*s", (int)strcspn(dash + 1, " "), dash + 1);
    must(plain_number(least, &low) && plain_number(most, &high) &&
             plain_number(option_rows[o].value, &usual),
         "the range of %s", option_rows[o].name);
    bool right = plain_number(text, &wanted) && wanted >= low && wanted <= high;
    must(number == (right ? wanted : usual) && options_fits(o, text) == right, "%s=%s is %llu",
         option_rows[o].name, text, (unsigned long long)number);
}

static void check_option(enum option o) {
    const char *text = option_text(o), *unit = option_rows[o].unit;
    must(text != NULL, "no text");
    size_t digits = strspn(unit, "0123456789");
    if (strchr(unit, '|')) check_choice(o, text);
    else if (digits > 0 && strchr(unit, '-')) check_range(o, text);
    else must(options_fits(o, text), "%s takes any text", option_rows[o].name);
}

static void check_words(const char *a, const char *b) {
    int far = word_distance(a, b), back = word_distance(b, a);
    size_t x = strlen(a), y = strlen(b), longer = x > y ? x : y, shorter = x + y - longer;
    if (longer > 32) return; /* only one of the two is cut */
    must(far == back && (size_t)far <= longer && (size_t)far >= longer - shorter,
         "\"%s\", \"%s\": %d and %d", a, b, far, back);
    must((far == 0) == (strcasecmp(a, b) == 0), "\"%s\", \"%s\": %d", a, b, far);
}

/* The first name that is none, as far as there is room for it. */
static void check_collectives(const char *list) {
    char wrong[32], first[32] = "", *copy = strdup(list), *rest = copy, *name;
    uint32_t wanted = 0, found = collectives_in(list, wrong);
    while (copy && (name = strsep(&rest, ",")) != NULL) {
        name += strspn(name, " ");
        bool known = !*name || strcmp(name, "all") == 0;
        for (int c = 0; c < COLLECTIVES; c++)
            if (strcmp(name, "all") == 0 || strcmp(name, collective_names[c]) == 0) {
                wanted |= 1u << c;
                known = true;
            }
        if (!known && !*first) snprintf(first, sizeof first, "%s", name);
    }
    must(copy && found == wanted && strcmp(first, wrong) == 0, "\"%s\": %x, \"%s\"", list, found,
         wrong);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char silent[] = "MORTAR_VERBOSE=0";
    struct food food = {data, size};
    char *text = eat_text(&food), *variables[most_variables + 1], *rest = text, *line;
    char **outside = environ;
    int count = 0;
    while (count < most_variables && (line = strsep(&rest, "\n")) != NULL)
        must(asprintf(&variables[count++], "MORTAR_%s", line) > 0, "no memory");
    variables[count] = NULL;
    environ = variables;
    for (int o = 0; o < OPTIONS; o++) check_option((enum option)o);
    for (int i = 0; i < count; i++) {
        char *value = strchr(variables[i], '=');
        bool alike;
        value = value ? value + 1 : variables[i] + 7;
        check_bytes(value);
        check_collectives(value);
        check_words(value, i > 0 ? variables[i - 1] + 7 : option_rows[size % OPTIONS].name + 7);
        enum option nearest = options_nearest(value, &alike);
        for (int o = 0; o < OPTIONS; o++)
            must(strcmp(value, option_rows[o].name + 7) != 0 || (alike && nearest == (unsigned)o),
                 "%s is not itself", value);
    }
    options_check(); /* warns no more than a few times in all */
    char *kept = count > 0 ? variables[0] : NULL;
    if (kept) variables[0] = silent;
    options_check();
    if (kept) variables[0] = kept;
    environ = outside;
    while (count-- > 0) free(variables[count]);
    free(text);
    return 0;
}
