// SPDX-License-Identifier: MIT
/* json_writer.c - see json_writer.h. */
#include <stdlib.h>

#include "show/json_writer.h"
#include "show/show.h"

/* Begins a member or an element: on a line of its own, if `line`. */
static void json_next(struct json_writer *json, const char *name, bool line)
{
	bool first = true;

	if (json->depth) {
		first = !json->open[json->depth - 1].some;
		json->open[json->depth - 1].some = true;
	}
	if (line)
		fprintf(json->to, "%s\n%*s", first ? "" : ",", 2 * (int)json->depth, "");
	else if (!first)
		fputs(", ", json->to);
	if (name)
		fprintf(json->to, "\"%s\": ", name);
}

static void json_begin(struct json_writer *json, const char *name, char begin, char end, bool line)
{
	if (json->depth == JSON_DEPTH)
		abort();
	json_next(json, name, line);
	putc(begin, json->to);
	json->open[json->depth].end = end;
	json->open[json->depth++].some = false;
}

static bool json_in_list(const struct json_writer *json)
{
	return json->depth && json->open[json->depth - 1].end == ']';
}

/* Objects in a list and parts of the whole document begin a line. */
void json_object(struct json_writer *json, const char *name)
{
	json_begin(json, name, '{', '}', json->depth == 1 || json_in_list(json));
}

void json_list(struct json_writer *json, const char *name)
{
	json_begin(json, name, '[', ']', json->depth == 1);
}

void json_end(struct json_writer *json)
{
	json->depth--;
	fprintf(json->to, "%s%c", json->depth ? "" : "\n", json->open[json->depth].end);
	if (!json->depth)
		putc('\n', json->to);
}

void json_number(struct json_writer *json, const char *name, double value)
{
	json_next(json, name, false);
	fprintf(json->to, "%.0f", value);
}

void json_share(struct json_writer *json, const char *name, double value)
{
	json_next(json, name, false);
	fprintf(json->to, "%.4f", value);
}

void json_bool(struct json_writer *json, const char *name, bool value)
{
	json_next(json, name, false);
	fputs(value ? "true" : "false", json->to);
}

void json_null(struct json_writer *json, const char *name)
{
	json_next(json, name, false);
	fputs("null", json->to);
}

void json_string(struct json_writer *json, const char *name, const char *value)
{
	json_next(json, name, false);
	putc('"', json->to);
	show_text(json->to, value, SHOW_JSON, 0);
	putc('"', json->to);
}
