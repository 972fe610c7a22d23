/* SPDX-License-Identifier: MIT */
/* filter.h - what tests of seccomp filters share: arming them. */
#ifndef COSY_TESTS_GUEST_FILTER_H
#define COSY_TESTS_GUEST_FILTER_H

#include "../../filter_arm.h"
#include "check.h"

#endif /* COSY_TESTS_GUEST_FILTER_H */
