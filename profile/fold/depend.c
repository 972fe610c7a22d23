// SPDX-License-Identifier: MIT
/* depend.c - see depend.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "core.h"
#include "fold/depend.h"
#include "fold/limits.h"

bool depends_create(struct depends *depends, struct profile *profile)
{
	depends->profile = profile;
	profile->edges = calloc(LIMIT_EDGES + 1, sizeof(*profile->edges));
	return profile->edges && table_create(&depends->edges, LIMIT_EDGES);
}

void depends_destroy(struct depends *depends)
{
	table_destroy(&depends->edges);
}

static struct edge *edge_get(struct depends *depends, uint32_t from, uint32_t to,
			     enum edge_kind kind, int64_t value)
{
	uint64_t hash = table_mix(table_mix(table_mix(4, from), to), kind);
	bool new;
	uint32_t number = table_add(&depends->edges, hash, &new);
	struct edge *edge = &depends->profile->edges[number];

	if (!number)
		return NULL;
	if (new) {
		depends->profile->n_edges = number;
		*edge = (struct edge){.from = from, .to = to, .kind = kind, .value = value};
	}
	if (edge->value != value)
		edge->varied = true;
	return edge;
}

static void edge_count(struct depends *depends, uint32_t from, uint32_t to, enum edge_kind kind,
		       int64_t value)
{
	struct edge *edge = edge_get(depends, from, to, kind, value);

	if (edge)
		edge->held++;
}

/* Returns the count that a call asks for: the argument after its buffer. */
static uint64_t asked_count(const struct event_call *call)
{
	int argument = call_made(call->nr);

	if (argument < 0)
		argument = call_given(call->nr);
	return argument < 0 ? 0 : call->args[argument + 1];
}

static const struct recent *recent_at(const struct depend *depend, uint32_t before)
{
	return before > DEPEND_WINDOW || before > depend->n
		       ? NULL
		       : &depend->recent[(depend->n - before) % DEPEND_WINDOW];
}

static void depend_descriptor(struct depends *depends, const struct depend *depend,
			      const struct event_call *call, uint32_t site)
{
	int argument = call_descriptor(call->nr);
	const struct recent *from;

	if (argument < 0)
		return;
	for (uint32_t i = 1; (from = recent_at(depend, i)); i++)
		if (from->fd >= 0 && from->fd == (int)call->args[argument]) {
			edge_count(depends, from->site, site, EDGE_DESCRIPTOR, from->fd);
			return;
		}
}

/* Counts a dependence on the last call that wrote where this one reads. */
static void depend_buffer(struct depends *depends, const struct depend *depend,
			  const struct event_call *call, uint32_t site)
{
	int argument = call_given(call->nr);
	const struct recent *from;
	struct edge *edge;
	uint64_t at;

	if (argument < 0 || call->ret <= 0)
		return;
	at = call->args[argument];
	for (uint32_t i = 1; (from = recent_at(depend, i)); i++) {
		if (at < from->buffer || at - from->buffer >= from->size)
			continue;
		edge = edge_get(depends, from->site, site, EDGE_BUFFER, at);
		if (!edge)
			return;
		/* Digests are of the same bytes where both begin there and neither ends early. */
		if (at == from->buffer && from->made && call->given && from->made != call->given &&
		    (from->size == call->args[argument + 1] ||
		     (from->size >= 64 && call->args[argument + 1] >= 64)))
			edge->broken++;
		else
			edge->held++;
		return;
	}
}

static void depend_count_of(struct depends *depends, const struct depend *depend,
			    const struct event_call *call, uint32_t site)
{
	int argument = call_given(call->nr);
	const struct recent *from;

	if (argument < 0)
		return;
	for (uint32_t i = 1; (from = recent_at(depend, i)); i++)
		if (from->count >= 0) {
			/*
			 * A full count proves little, because both counts may be one
			 * constant.
			 */
			if ((uint64_t)from->count == call->args[argument + 1]) {
				edge_count(depends, from->site, site, EDGE_COUNT, from->count);
				if ((uint64_t)from->count < from->asked) {
					struct edge *edge = edge_get(depends, from->site, site,
								     EDGE_COUNT, from->count);

					if (edge)
						edge->varied = true;
				}
			}
			return;
		}
}

/* Counts a dependence on an lseek of the same file, with nothing between. */
static void depend_position(struct depends *depends, const struct depend *depend,
			    const struct event_call *call, uint32_t site,
			    const struct open_file *file)
{
	const struct recent *from;

	if (!file || (call->nr != SYS_read && call->nr != SYS_write && call->nr != SYS_readv &&
		      call->nr != SYS_writev))
		return;
	for (uint32_t i = 1; (from = recent_at(depend, i)); i++)
		if (from->file == file->serial) {
			if (from->position)
				edge_count(depends, from->site, site, EDGE_POSITION, 0);
			return;
		}
}

static void depend_path(struct depends *depends, const struct depend *depend,
			const struct event_call *call, uint32_t site, uint64_t path)
{
	const struct recent *from;

	(void)call;
	for (uint32_t i = 1; path && (from = recent_at(depend, i)); i++)
		if (from->path == path) {
			edge_count(depends, from->site, site, EDGE_PATH, (int64_t)path);
			return;
		}
}

static uint64_t path_hash(const struct event_call *call)
{
	const char *path = event_path(&call->event);
	uint64_t hash = 5;

	if (!path || !*path)
		return 0;
	while (*path)
		hash = table_mix(hash, *path++);
	return hash | 1;
}

void depend_count(struct depends *depends, struct depend *depend, const struct event_call *call,
		  uint32_t site, const struct open_file *file)
{
	uint64_t path = path_hash(call);
	int argument = call_made(call->nr);
	struct recent *new;

	depend_descriptor(depends, depend, call, site);
	depend_buffer(depends, depend, call, site);
	depend_count_of(depends, depend, call, site);
	depend_position(depends, depend, call, site, file);
	depend_path(depends, depend, call, site, path);

	new = &depend->recent[depend->n++ % DEPEND_WINDOW];
	*new = (struct recent){.site = site,
			       .nr = call->nr,
			       .file = file ? file->serial : 0,
			       .position = call->nr == SYS_lseek && call->ret >= 0,
			       .fd = -1,
			       .count = -1,
			       .asked = asked_count(call),
			       .path = path};
	if (call->ret >= 0 && call_kind(call->nr)->flags & COSY_CALL_OPENS)
		new->fd = call->ret;
	if (call->ret > 0 && argument >= 0) {
		new->buffer = call->args[argument];
		new->size = call->ret;
		new->made = call->made;
		new->count = call->ret;
	}
}
