/* SPDX-License-Identifier: MIT */
/* build.h - builds the program with the suggested loop marked. */
#ifndef COSY_PROFILE_BUILD_H
#define COSY_PROFILE_BUILD_H

#include "advise/advise.h"
#include "advise/place.h"

/*
 * Runs a command for sh that builds the program with cosycc, FILE:LINE of the best region in
 * COSY_SUGGEST for -fcosy-suggest.  Sets *finding to that region.  Returns NULL, or the error.
 */
const char *build_suggested(const struct advice *advice, struct places *places, const char *command,
			    const struct finding **finding);

#endif /* COSY_PROFILE_BUILD_H */
