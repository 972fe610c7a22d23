// SPDX-License-Identifier: MIT
/* mask.c - see mask.h. */
#include "mask.h"

uint64_t mask_handled;
