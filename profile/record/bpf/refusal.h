/* SPDX-License-Identifier: MIT */
/* refusal.h - says to a person why cosy-observe does not observe. */
#ifndef COSY_PROFILE_REFUSAL_H
#define COSY_PROFILE_REFUSAL_H

/* The reason of a -errno that OBSERVE_READY has, and what to do; NULL: it has none of its own. */
const char *observe_refusal(int error);

#endif /* COSY_PROFILE_REFUSAL_H */
