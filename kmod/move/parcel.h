/* SPDX-License-Identifier: GPL-2.0 */
/* parcel.h - pages in a descriptor (UVM, USENIX '99, section 4.3: map-entry passing). */
#ifndef COSY_MOVE_PARCEL_H
#define COSY_MOVE_PARCEL_H

struct cosy_count;
struct cosy_move;

/* See the uapi header for what they do and for errors. */
long cosy_parcel_export(const struct cosy_move *move);
long cosy_parcel_import(const struct cosy_move *move);

/* Adds up parcels: 0: that was all; 1: the count is to go on. */
int cosy_parcels_count(struct cosy_count *count);

#endif /* COSY_MOVE_PARCEL_H */
