/* SPDX-License-Identifier: BSD-3-Clause */
/* write - writes a tuning file as JSON. */
#define _GNU_SOURCE
#include "tuning/fields.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Writes a string. Control characters, which the reader refuses, become blanks. */
static void text(FILE *out, const char *from) {
    fputc('"', out);
    for (; *from; from++) {
        if (*from == '"' || *from == '\\') fputc('\\', out);
        fputc((unsigned char)*from < 0x20 ? ' ' : *from, out);
    }
    fputc('"', out);
}

static void write_members(FILE *out, const struct field *fields, const void *from,
                          const char *between) {
    for (const struct field *field = fields; field->name; field++) {
        const void *place = (const char *)from + field->place;
        const double *real = place;
        if (field->kind == FIELD_RATIO && *real < 1) continue;
        if (field->kind == FIELD_EXTRA && *(const int *)place == 0) continue;
        fprintf(out, "%s\"%s\": ", field == fields ? "" : between, field->name);
        switch (field->kind) {
        case FIELD_TEXT: text(out, place); break;
        case FIELD_EXTRA:
        case FIELD_COUNT: fprintf(out, "%d", *(const int *)place); break;
        case FIELD_BYTES: fprintf(out, "%zu", *(const size_t *)place); break;
        case FIELD_SECONDS:
        case FIELD_RATIO: fprintf(out, "%.9g", *real); break;
        case FIELD_PAIR: fprintf(out, "[%.9g, %.9g]", real[0], real[1]); break;
        }
    }
}

struct file_content {
    const struct tuning_set *sets;
    int count;
};

static void write_print(FILE *out, const void *what) {
    const struct file_content *content = what;
    const struct tuning_set *sets = content->sets;
    int count = content->count;
    fprintf(out, "{\"format\": \"%s\", \"version\": %d, \"sets\": [", tuning_format,
            tuning_version);
    for (int s = 0; s < count; s++) {
        fprintf(out, "%s\n {\"machine\": {", s ? "," : "");
        write_members(out, machine_fields, &sets[s].machine, ", ");
        fputs("},\n  ", out);
        write_members(out, set_fields, &sets[s], ",\n  ");
        if (sets[s].network.pairs > 0) {
            fputs(",\n  \"network\": {", out);
            write_members(out, network_fields, &sets[s].network, ", ");
            fputc('}', out);
        }
        fputs(",\n  \"entries\": [", out);
        for (int e = 0; e < sets[s].count; e++) {
            fputs(e ? ",\n   {" : "\n   {", out);
            write_members(out, entry_fields, &sets[s].entries[e], ", ");
            fputc('}', out);
        }
        fputs("]}", out);
    }
    fputs("\n]}\n", out);
}

int tuning_writable(const char *path) {
    char place[PATH_MAX];
    int error = file_place(path, place);
    if (error) return error;
    return access(dirname(place), W_OK | X_OK) == 0 ? 0 : -errno;
}

int tuning_write(const char *path, const struct tuning_set *sets, int count) {
    char *text;
    size_t bytes;
    int error = file_print(write_print, &(struct file_content){sets, count}, &text, &bytes);
    if (!error) error = file_replace(path, text, bytes);
    free(text);
    return error;
}
