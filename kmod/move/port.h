/* SPDX-License-Identifier: GPL-2.0 */
/* port.h - descriptors that only pass pages into a window of memory. */
#ifndef COSY_MOVE_PORT_H
#define COSY_MOVE_PORT_H

struct cosy_count;
struct cosy_move;

/* Serve the requests, as the uapi header documents them. */
long cosy_port_create(const struct cosy_move *move);
long cosy_port_pass(const struct cosy_move *move);
long cosy_port_take(const struct cosy_move *move);

/* Adds up ports: 0: that was all; 1: the count is to go on. */
int cosy_ports_count(struct cosy_count *count);

#endif /* COSY_MOVE_PORT_H */
