/* SPDX-License-Identifier: MIT */
/* op_numbers.h - COSY_OP_NUMBER_memcpy and so on: what a call of that operation has in its imm. */
#ifndef COSY_LIB_OP_NUMBERS_H
#define COSY_LIB_OP_NUMBERS_H

#include <linux/cosy.h>

enum libcosy_op_number {
#define COSY_OP(number, name, args, flags) COSY_OP_NUMBER_##name = COSY_OP_BASE + (number),
#include "../core/ops.def"
};

#endif /* COSY_LIB_OP_NUMBERS_H */
