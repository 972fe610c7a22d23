// SPDX-License-Identifier: MIT
/* empty.c - an empty library, to measure the cost of any preloaded library at exec. */
