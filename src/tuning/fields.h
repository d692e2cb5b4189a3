/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.h - private to tuning/: the members of the format's objects, for reading and writing. */
#ifndef MORTAR_TUNING_FIELDS_H
#define MORTAR_TUNING_FIELDS_H

#include "tuning/tuning.h"

#define tuning_format "mortar tuning"
enum { tuning_version = 1 };

/* One member of an object. */
struct field {
    const char *name;
    enum {
        FIELD_TEXT,
        FIELD_COUNT,
        FIELD_EXTRA, /* a count; the file omits it if 0 */
        FIELD_BYTES,
        FIELD_SECONDS,
        FIELD_RATIO, /* at least 1; the file omits it if 0: not measured */
        FIELD_PAIR
    } kind;
    size_t place; /* offset in its struct */
    size_t size;  /* bytes of the struct's member */
};

/* Each table ends with a row whose name is NULL. */
extern const struct field machine_fields[], set_fields[], network_fields[], entry_fields[];

#endif
