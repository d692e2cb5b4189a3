/* SPDX-License-Identifier: BSD-3-Clause */
/* read - reads a tuning file from JSON. jsmn cuts the text into tokens; the tables of fields.h say
 * which members there are. A member that is missing, of the wrong kind or out of range makes the
 * whole file unusable. Unknown members are skipped. */
#define _GNU_SOURCE
#include "tuning/fields.h"

#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#include <jsmn.h>

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_bytes = 16 << 20 };

struct file_reader {
    const char *text;
    const jsmntok_t *tokens;
    int count;
    locale_t plain; /* "C": the program's own locale may have another decimal point */
    char *why;      /* [size] what is wrong */
    size_t size;
};

/* Writes into `why` what is wrong at a place of the text. Returns -EINVAL. */
static int wrong(const struct file_reader *reader, int place, const char *what, const char *name) {
    int line = 1, column = 1;
    for (int i = 0; i < place; i++) {
        column++;
        if (reader->text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    snprintf(reader->why, reader->size, "line %d, column %d: %s%s", line, column, what, name);
    return -EINVAL;
}

static int no_memory(const struct file_reader *reader) {
    snprintf(reader->why, reader->size, "out of memory");
    return -ENOMEM;
}

/* The first token after t and all that is inside it. */
static int behind(const struct file_reader *reader, int t) {
    int end = reader->tokens[t].end;
    do t++; /* at least one: an empty string has start == end */
    while (t < reader->count && reader->tokens[t].start < end);
    return t;
}

static bool is(const struct file_reader *reader, int t, const char *name) {
    size_t length = (size_t)(reader->tokens[t].end - reader->tokens[t].start);
    return reader->tokens[t].type == JSMN_STRING && strlen(name) == length &&
           memcmp(reader->text + reader->tokens[t].start, name, length) == 0;
}

/* The token of the value of a member of object t; 0: it has no such member; -1: the object is
 * malformed. */
static int read_member(const struct file_reader *reader, int t, const char *name) {
    int found = 0, end = behind(reader, t);
    for (int key = t + 1; key < end;) {
        if (reader->tokens[key].type != JSMN_STRING || reader->tokens[key].size != 1 ||
            key + 1 >= end)
            return -1;
        if (is(reader, key, name)) found = key + 1;
        key = behind(reader, key + 1);
    }
    return found;
}

static bool read_number(const struct file_reader *reader, int t, double *value) {
    char text[40], *end;
    const jsmntok_t *token = &reader->tokens[t];
    int length = token->end - token->start;
    if (token->type != JSMN_PRIMITIVE || length <= 0 || length >= (int)sizeof text) return false;
    memcpy(text, reader->text + token->start, (size_t)length);
    text[length] = 0;
    if (strspn(text, "0123456789+-.eE") != (size_t)length) return false;
    *value = strtod_l(text, &end, reader->plain);
    return *end == 0 && isfinite(*value) && *value >= 0;
}

/* Copies a string. Of all escapes it accepts only \" and \\, which mortar writes. */
static bool plain_text(const struct file_reader *reader, int t, char *to, size_t size) {
    const jsmntok_t *token = &reader->tokens[t];
    size_t used = 0;
    if (token->type != JSMN_STRING) return false;
    for (int i = token->start; i < token->end; i++) {
        bool escaped = reader->text[i] == '\\' && ++i < token->end;
        char c = reader->text[i];
        if (escaped ? c != '"' && c != '\\' : (unsigned char)c < 0x20) return false;
        if (used + 1 >= size) return false;
        to[used++] = c;
    }
    to[used] = 0;
    return true;
}

static bool read_take(const struct file_reader *reader, int t, const struct field *field,
                      char *to) {
    double value;
    if (field->kind == FIELD_TEXT) return plain_text(reader, t, to, field->size);
    if (field->kind == FIELD_PAIR) {
        double *pair = (double *)(void *)to;
        if (reader->tokens[t].type != JSMN_ARRAY || reader->tokens[t].size != 2 ||
            behind(reader, t) != t + 3)
            return false;
        return read_number(reader, t + 1, &pair[0]) && read_number(reader, t + 2, &pair[1]) &&
               pair[0] <= pair[1];
    }
    if (!read_number(reader, t, &value)) return false;
    if (field->kind == FIELD_SECONDS || field->kind == FIELD_RATIO) *(double *)(void *)to = value;
    else if (value > (field->kind == FIELD_BYTES ? 9e15 : 1e9) || value != (double)(int64_t)value)
        return false;
    else if (field->kind == FIELD_BYTES) *(size_t *)(void *)to = (size_t)value;
    else *(int *)(void *)to = (int)value;
    return true;
}

static int take_all(const struct file_reader *reader, int t, const struct field *fields, void *to) {
    if (reader->tokens[t].type != JSMN_OBJECT)
        return wrong(reader, reader->tokens[t].start, "expected an object", "");
    for (const struct field *field = fields; field->name; field++) {
        int value = read_member(reader, t, field->name);
        if (value < 0)
            return wrong(reader, reader->tokens[t].start,
                         "an object whose members are not \"name\": value", "");
        if (value == 0 && (field->kind == FIELD_RATIO || field->kind == FIELD_EXTRA)) continue;
        if (value == 0)
            return wrong(reader, reader->tokens[t].start, "an object without ", field->name);
        if (!read_take(reader, value, field, (char *)to + field->place))
            return wrong(reader, reader->tokens[value].start, "not a possible value of ",
                         field->name);
        if (field->kind == FIELD_RATIO &&
            *(const double *)(const void *)((char *)to + field->place) < 1)
            return wrong(reader, reader->tokens[value].start,
                         "not a ratio of at least 1: ", field->name);
    }
    return 0;
}

static int read_entry(const struct file_reader *reader, int t, struct tuning_entry *entry) {
    int error = take_all(reader, t, entry_fields, entry), start = reader->tokens[t].start;
    if (error) return error;
    if (strcmp(entry->buffers, "heap") != 0 && strcmp(entry->buffers, "outside") != 0)
        return wrong(reader, start, "buffers are heap or outside", "");
    if (entry->from == 0 || entry->from > entry->to)
        return wrong(reader, start, "no range of sizes: from .. to", "");
    if (entry->ranks < 2 || entry->nodes < 1 || entry->domains < 1 || entry->fullest > entry->ranks)
        return wrong(reader, start, "no possible number of ranks", "");
    if (!*entry->plan || !*entry->collective)
        return wrong(reader, start, "an entry without plan or collective", "");
    return 0;
}

/* The token of an array that is a member of object t, and the number of its elements. */
static int array(const struct file_reader *reader, int t, const char *name, int *count) {
    int value = reader->tokens[t].type == JSMN_OBJECT ? read_member(reader, t, name) : -1;
    if (value <= 0 || reader->tokens[value].type != JSMN_ARRAY)
        return wrong(reader, reader->tokens[t].start, "an object without the array ", name);
    *count = reader->tokens[value].size;
    return value;
}

/* All figures must be above 0, because the cost model divides by some, and would choose nonsense
 * where one is 0. And they must be figures of a network: costs that overflow are no numbers, and
 * cannot be sorted. */
static int read_network(const struct file_reader *reader, int t, struct network_facts *network) {
    static const double most = 1e6; /* seconds, or a ratio */
    int error = take_all(reader, t, network_fields, network);
    for (const struct field *field = network_fields; field->name && error == 0; field++) {
        const char *place = (const char *)network + field->place;
        bool real = field->kind == FIELD_SECONDS || field->kind == FIELD_RATIO, above = true;
        if (field->kind == FIELD_SECONDS) above = *(const double *)(const void *)place > 0;
        if (field->kind == FIELD_COUNT) above = *(const int *)(const void *)place >= 1;
        if (above && (!real || *(const double *)(const void *)place <= most)) continue;
        error = wrong(reader, reader->tokens[read_member(reader, t, field->name)].start,
                      above ? "not a possible value of " : "not above 0: ", field->name);
    }
    return error;
}

static int read_set(const struct file_reader *reader, int t, struct tuning_set *set) {
    int count, error = take_all(reader, t, set_fields, set);
    int machine = error ? 0 : read_member(reader, t, "machine");
    if (error) return error;
    if (machine <= 0)
        return wrong(reader, reader->tokens[t].start, "an object without ", "machine");
    if ((error = take_all(reader, machine, machine_fields, &set->machine)) != 0) return error;
    int network = read_member(reader, t, "network");
    if (network > 0 && (error = read_network(reader, network, &set->network)) != 0) return error;
    int entries = array(reader, t, "entries", &count);
    if (entries < 0) return entries;
    set->entries = calloc((size_t)count + 1, sizeof *set->entries);
    if (!set->entries) return no_memory(reader);
    for (int e = entries + 1; set->count < count && error == 0; e = behind(reader, e))
        error = read_entry(reader, e, &set->entries[set->count++]);
    return error;
}

static int read_root(const struct file_reader *reader, struct tuning_file *file) {
    struct {
        char format[32];
        int version;
    } head;
    static const struct field fields[] = {{"format", FIELD_TEXT, 0, sizeof head.format},
                                          {"version", FIELD_COUNT, sizeof head.format, 0},
                                          {0}};
    int count, error = take_all(reader, 0, fields, &head);
    if (error) return error;
    if (strcmp(head.format, tuning_format) != 0)
        return wrong(reader, 0, "this is no ", "\"mortar tuning\"");
    if (head.version != tuning_version)
        return wrong(reader, 0, "a version of the format that this mortar does not know", "");
    int sets = array(reader, 0, "sets", &count);
    if (sets < 0) return sets;
    file->sets = calloc((size_t)count + 1, sizeof *file->sets);
    if (!file->sets) return no_memory(reader);
    for (int s = sets + 1; file->count < count && error == 0; s = behind(reader, s))
        error = read_set(reader, s, &file->sets[file->count++]);
    return error;
}

/* Cuts the text into tokens, first only to count them. */
static int cut(struct file_reader *reader, size_t length, jsmntok_t **tokens) {
    jsmn_parser parser;
    jsmn_init(&parser);
    int count = jsmn_parse(&parser, reader->text, length, NULL, 0);
    if (count > 0) {
        *tokens = calloc((size_t)count, sizeof **tokens);
        if (!*tokens) return no_memory(reader);
        jsmn_init(&parser);
        count = jsmn_parse(&parser, reader->text, length, *tokens, (unsigned)count);
    }
    if (count == JSMN_ERROR_PART || count == 0)
        return wrong(reader, (int)length, "the file ends too early", "");
    if (count < 0)
        return wrong(reader, (int)(parser.pos < length ? parser.pos : length), "this is not JSON",
                     "");
    for (int i = (*tokens)->end; i < (int)length; i++) /* a zero is none of them */
        if (!memchr(" \t\r\n", reader->text[i], 4))
            return wrong(reader, i, "something behind the end", "");
    reader->tokens = *tokens;
    reader->count = count;
    return 0;
}

int tuning_parse(const char *text, size_t length, struct tuning_file *file, char *why,
                 size_t size) {
    struct file_reader reader = {.text = text, .why = why, .size = size};
    jsmntok_t *tokens = NULL;
    *file = (struct tuning_file){0};
    if (length > most_bytes) {
        snprintf(why, size, "it is larger than 16 MiB");
        return -EFBIG;
    }
    reader.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    int error = reader.plain ? cut(&reader, length, &tokens) : -ENOMEM;
    if (error == 0) error = read_root(&reader, file);
    if (reader.plain) freelocale(reader.plain);
    else snprintf(why, size, "out of memory");
    free(tokens);
    if (error) tuning_free(file);
    return error;
}

int tuning_read(const char *path, struct tuning_file *file, char *why, size_t size) {
    char *text;
    size_t length;
    *file = (struct tuning_file){0};
    int error = file_read(path, most_bytes + 1, &text, &length);
    if (error) {
        snprintf(why, size, "%s", file_why(error));
        return error;
    }
    error = tuning_parse(text, length, file, why, size);
    free(text);
    return error;
}

void tuning_free(struct tuning_file *file) {
    for (int s = 0; s < file->count; s++) free(file->sets[s].entries);
    free(file->sets);
    *file = (struct tuning_file){0};
}
