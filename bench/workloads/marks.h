/* SPDX-License-Identifier: MIT */
/* marks.h - tells where bench.c puts the code whose execution split.c notices. */
#ifndef MARKS_H
#define MARKS_H

#define MARK_PAGE   0x13370000ul
#define MARK_START  MARK_PAGE
#define MARK_STOP   (MARK_PAGE + 16)
#define MARK_REPORT (MARK_PAGE + 32)

#endif /* MARKS_H */
