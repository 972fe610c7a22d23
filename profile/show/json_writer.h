/* SPDX-License-Identifier: MIT */
/*
 * json_writer.h - writes JSON: places commas and brackets by the depth of nesting, so that callers
 * name members only.
 *
 * `name` is a member's, and NULL for an element of a list.
 */
#ifndef COSY_PROFILE_JSON_WRITER_H
#define COSY_PROFILE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define JSON_DEPTH 8 /* of objects and lists in each other */

struct json_writer {
	FILE *to;
	unsigned int depth;
	struct {
		char end;  /* '}' or ']' */
		bool some; /* it has a member already */
	} open[JSON_DEPTH];
};

void json_object(struct json_writer *json, const char *name);
void json_list(struct json_writer *json, const char *name);
/* Ends the innermost object or list. */
void json_end(struct json_writer *json);

/* Writes a whole number, which may be larger than an int64_t. */
void json_number(struct json_writer *json, const char *name, double value);
/* Writes a number with four decimals. */
void json_share(struct json_writer *json, const char *name, double value);
void json_bool(struct json_writer *json, const char *name, bool value);
void json_null(struct json_writer *json, const char *name);
/* Writes any bytes as a valid string. */
void json_string(struct json_writer *json, const char *name, const char *value);

#endif /* COSY_PROFILE_JSON_WRITER_H */
