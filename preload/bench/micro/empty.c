// SPDX-License-Identifier: MIT
/* empty.c - a library that does nothing: what any preloaded library costs an exec. */
