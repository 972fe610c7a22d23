/* SPDX-License-Identifier: MIT */
/* log.h - writes lines to standard error, which a service's journal keeps. */
#ifndef COSYD_LOG_H
#define COSYD_LOG_H

#include "../common/say.h"

/* Writes a line by one call, so that lines of both processes and of threads stay whole. */
#define log_line(format, ...) say("cosyd: " format __VA_OPT__(, ) __VA_ARGS__)

#endif /* COSYD_LOG_H */
