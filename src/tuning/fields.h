/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.h - private to tuning/: the members of the format's objects, for reading and writing
 * alike. */
#ifndef MORTAR_TUNING_FIELDS_H
#define MORTAR_TUNING_FIELDS_H

#include "tuning/tuning.h"

#define tuning_format "mortar tuning"
enum { tuning_version = 1 };

/* A ratio is at least 1; one that was not measured is 0, and no member. An extra count is none
 * either where it is 0. */
struct field {
    const char *name;
    enum {
        FIELD_TEXT,
        FIELD_COUNT,
        FIELD_EXTRA,
        FIELD_BYTES,
        FIELD_SECONDS,
        FIELD_RATIO,
        FIELD_PAIR
    } kind;
    size_t place, size; /* in its struct; size: of a text */
};

/* Each ends with a row whose name is NULL. */
extern const struct field machine_fields[], set_fields[], network_fields[], entry_fields[];

#endif
