/* SPDX-License-Identifier: BSD-3-Clause */
/* fields - the members of the format's objects. */
#include "tuning/fields.h"

#include <stddef.h>

#define PLACE(struct_, member)                                                                     \
    offsetof(struct struct_, member), sizeof(((struct struct_ *)0)->member)

const struct field machine_fields[] = {
    {"cpu", FIELD_TEXT, PLACE(machine_facts, cpu)},
    {"l1d", FIELD_BYTES, PLACE(machine_facts, l1d)},
    {"l2", FIELD_BYTES, PLACE(machine_facts, l2)},
    {"l3", FIELD_BYTES, PLACE(machine_facts, l3)},
    {"processors", FIELD_COUNT, PLACE(machine_facts, processors)},
    {"numa", FIELD_COUNT, PLACE(machine_facts, numa)},
    {"sockets", FIELD_COUNT, PLACE(machine_facts, sockets)},
    {"l3s", FIELD_COUNT, PLACE(machine_facts, l3s)},
    {0},
};

const struct field set_fields[] = {
    {"mpi", FIELD_TEXT, PLACE(tuning_set, mpi)},
    {"kernel", FIELD_TEXT, PLACE(tuning_set, kernel)},
    {"mortar", FIELD_TEXT, PLACE(tuning_set, mortar)},
    {"date", FIELD_TEXT, PLACE(tuning_set, date)},
    {0},
};

const struct field network_fields[] = {
    {"latency_seconds", FIELD_SECONDS, PLACE(network_facts, latency_seconds)},
    {"send_seconds", FIELD_SECONDS, PLACE(network_facts, send_seconds)},
    {"receive_seconds", FIELD_SECONDS, PLACE(network_facts, receive_seconds)},
    {"message_seconds", FIELD_SECONDS, PLACE(network_facts, message_seconds)},
    {"node_message_seconds", FIELD_SECONDS, PLACE(network_facts, node_message_seconds)},
    {"byte_seconds", FIELD_SECONDS, PLACE(network_facts, byte_seconds)},
    {"node_byte_seconds", FIELD_SECONDS, PLACE(network_facts, node_byte_seconds)},
    {"one_partner_ratio", FIELD_RATIO, PLACE(network_facts, one_partner_ratio)},
    {"many_partners_ratio", FIELD_RATIO, PLACE(network_facts, many_partners_ratio)},
    {"pairs", FIELD_COUNT, PLACE(network_facts, pairs)},
    {"date", FIELD_TEXT, PLACE(network_facts, date)},
    {"between", FIELD_TEXT, PLACE(network_facts, between)},
    {0},
};

const struct field entry_fields[] = {
    {"collective", FIELD_TEXT, PLACE(tuning_entry, collective)},
    {"ranks", FIELD_COUNT, PLACE(tuning_entry, ranks)},
    {"nodes", FIELD_COUNT, PLACE(tuning_entry, nodes)},
    {"fullest", FIELD_EXTRA, PLACE(tuning_entry, fullest)},
    {"domains", FIELD_COUNT, PLACE(tuning_entry, domains)},
    {"buffers", FIELD_TEXT, PLACE(tuning_entry, buffers)},
    {"from", FIELD_BYTES, PLACE(tuning_entry, from)},
    {"to", FIELD_BYTES, PLACE(tuning_entry, to)},
    {"plan", FIELD_TEXT, PLACE(tuning_entry, plan)},
    {"seconds", FIELD_SECONDS, PLACE(tuning_entry, seconds)},
    {"interval", FIELD_PAIR, PLACE(tuning_entry, interval)},
    {"native_seconds", FIELD_SECONDS, PLACE(tuning_entry, native_seconds)},
    {"gain", FIELD_SECONDS, PLACE(tuning_entry, gain)},
    {"gain_interval", FIELD_PAIR, PLACE(tuning_entry, gain_interval)},
    {"repetitions", FIELD_COUNT, PLACE(tuning_entry, repetitions)},
    {0},
};
