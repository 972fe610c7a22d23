/* SPDX-License-Identifier: MIT */
/*
 * rules.h - applies the rules of cosy-run.conf(5) to a file that is not open, for a program that
 * does not run.  In a running program the library applies them (run/file/policy.c).
 */
#ifndef COSY_COMMON_RULES_H
#define COSY_COMMON_RULES_H

#include <stdbool.h>
#include <stdint.h>

/* A program and a file that it reads. */
struct rules_subject {
	const char *program, *file; /* absolute paths, without links */
	const char *name;	    /* the last part of the program's argv[0] */
	const char *started;	    /* the path that it is started by; NULL: by `cosy run` itself */
	uint32_t type;		    /* the file system, by statfs(2)'s f_type */
};

/* True if the rules `text` (policy.h) leave the program, or the file in it, to ordinary calls. */
bool rules_leave(const char *text, const struct rules_subject *subject);

#endif /* COSY_COMMON_RULES_H */
