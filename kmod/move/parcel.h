/* SPDX-License-Identifier: GPL-2.0 */
/* parcel.h - pages in a descriptor (UVM, USENIX '99, section 4.3: map-entry passing). */
#ifndef COSY_MOVE_PARCEL_H
#define COSY_MOVE_PARCEL_H

struct cosy_count;
struct cosy_move;

/* Serve the requests, as the uapi header documents them. */
long cosy_parcel_export(const struct cosy_move *move);
long cosy_parcel_import(const struct cosy_move *move);

/* Adds up parcels: 0: that was all; 1: the count is to go on. */
int cosy_parcels_count(struct cosy_count *count);

#endif /* COSY_MOVE_PARCEL_H */
