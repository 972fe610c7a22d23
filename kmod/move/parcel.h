/* SPDX-License-Identifier: GPL-2.0 */
/* parcel.h - pages in a descriptor (UVM, USENIX '99, section 4.3: map-entry passing). */
#ifndef COSY_MOVE_PARCEL_H
#define COSY_MOVE_PARCEL_H

#include <linux/uidgid.h>

struct cosy_move;
struct cosy_moving;

/* See the uapi header for what they do and for errors. */
long cosy_parcel_export(const struct cosy_move *move);
long cosy_parcel_import(const struct cosy_move *move);

/* Adds up the parcels that a user has made, or all users if `uid` is NULL. */
void cosy_parcels_count(const kuid_t *uid, struct cosy_moving *sum);

#endif /* COSY_MOVE_PARCEL_H */
