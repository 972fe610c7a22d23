// SPDX-License-Identifier: GPL-2.0
/* census.c - see census.h. */
#include <linux/cred.h>
#include "move/census.h"

static bool entry_is_before(const struct cosy_counted *entry, kuid_t uid, u64 serial)
{
	if (!uid_eq(entry->uid, uid))
		return uid_lt(entry->uid, uid);
	return entry->serial < serial;
}

void cosy_census_enter(struct cosy_census *census, struct cosy_counted *entry)
{
	struct rb_node **at = &census->entries.rb_node, *parent = NULL;

	entry->uid = current_uid();
	spin_lock(&census->lock);
	entry->serial = ++census->last;
	while (*at) {
		parent = *at;
		if (entry_is_before(rb_entry(parent, struct cosy_counted, node), entry->uid,
				    entry->serial))
			at = &parent->rb_right;
		else
			at = &parent->rb_left;
	}
	rb_link_node(&entry->node, parent, at);
	rb_insert_color(&entry->node, &census->entries);
	spin_unlock(&census->lock);
}

void cosy_census_leave(struct cosy_census *census, struct cosy_counted *entry)
{
	if (RB_EMPTY_NODE(&entry->node))
		return;
	spin_lock(&census->lock);
	rb_erase(&entry->node, &census->entries);
	spin_unlock(&census->lock);
}

struct cosy_counted *cosy_census_find(const struct cosy_census *census, struct cosy_count *count)
{
	struct rb_node *at = census->entries.rb_node;
	struct cosy_counted *found = NULL;

	while (at) {
		struct cosy_counted *entry = rb_entry(at, struct cosy_counted, node);

		if (entry_is_before(entry, count->uid, count->serial)) {
			at = at->rb_right;
		} else {
			found = entry;
			at = at->rb_left;
		}
	}
	if (!found || (count->only && !uid_eq(found->uid, *count->only)))
		return NULL;
	/* A place within an arena that is gone is no place in the next one. */
	if (!uid_eq(found->uid, count->uid) || found->serial != count->serial)
		count->slot = 0;
	count->uid = found->uid;
	count->serial = found->serial;
	return found;
}

void cosy_count_pass(struct cosy_count *count, const struct cosy_counted *entry)
{
	count->serial = entry->serial + 1;
	count->slot = 0;
}
