// SPDX-License-Identifier: GPL-2.0
/* users.c - per-user accounts.  Memory itself is charged to memory cgroups. */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include "load/cache.h"
#include "users.h"

static ulong max_user_contexts = 1024;
module_param(max_user_contexts, ulong, 0644);
MODULE_PARM_DESC(max_user_contexts, "open descriptors of /dev/cosy that each user may have");

static ulong max_user_programs = 4096;
module_param(max_user_programs, ulong, 0644);
MODULE_PARM_DESC(max_user_programs, "loaded compounds that each user may have");

static ulong max_user_watchers = 256;
module_param(max_user_watchers, ulong, 0644);
MODULE_PARM_DESC(max_user_watchers, "processes of each user that may watch attributes of files");

/* The kernel's JIT has one limit for all (net.core.bpf_jit_limit), which no user may use up. */
static ulong max_user_code = 16UL << 20;
module_param(max_user_code, ulong, 0644);
MODULE_PARM_DESC(max_user_code, "bytes of compiled compounds that each user may have");

struct cosy_user {
	kuid_t uid;
	unsigned int references; /* accounts_lock */
	struct hlist_node node;	 /* accounts_lock */
	atomic_long_t charged[COSY_CHARGE_CNT];
	struct cosy_cache cache;
};

static DEFINE_HASHTABLE(accounts, 6);
static DEFINE_SPINLOCK(accounts_lock);

static struct cosy_user *user_find(kuid_t uid)
{
	struct cosy_user *user;

	hash_for_each_possible(accounts, user, node, __kuid_val(uid)) {
		if (uid_eq(user->uid, uid))
			return user;
	}
	return NULL;
}

struct cosy_user *cosy_user_get(void)
{
	struct cosy_user *user, *fresh;
	kuid_t uid = current_uid();

	/* Mostly the user has other contexts, or a cache. */
	spin_lock(&accounts_lock);
	user = user_find(uid);
	if (user)
		user->references++;
	spin_unlock(&accounts_lock);
	if (user)
		return user;

	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	fresh->uid = uid;
	cosy_cache_create(&fresh->cache);

	spin_lock(&accounts_lock);
	user = user_find(uid);
	if (!user) {
		user = fresh;
		fresh = NULL;
		hash_add(accounts, &user->node, __kuid_val(uid));
	}
	user->references++;
	spin_unlock(&accounts_lock);

	kfree(fresh);
	return user;
}

struct cosy_user *cosy_user_hold(struct cosy_user *user)
{
	spin_lock(&accounts_lock);
	user->references++;
	spin_unlock(&accounts_lock);
	return user;
}

struct cosy_user *cosy_user_any(void)
{
	struct cosy_user *user, *found = NULL;
	int bucket;

	spin_lock(&accounts_lock);
	hash_for_each(accounts, bucket, user, node) {
		found = user;
		found->references++;
		break;
	}
	spin_unlock(&accounts_lock);
	return found;
}

kuid_t cosy_user_uid(const struct cosy_user *user)
{
	return user->uid;
}

struct cosy_cache *cosy_user_cache(struct cosy_user *user)
{
	return &user->cache;
}

struct cosy_user *cosy_user_of_cache(struct cosy_cache *cache)
{
	return container_of(cache, struct cosy_user, cache);
}

void cosy_user_put(struct cosy_user *user)
{
	bool last;

	spin_lock(&accounts_lock);
	last = --user->references == 0;
	if (last)
		hash_del(&user->node);
	spin_unlock(&accounts_lock);
	if (last)
		kfree(user);
}

static ulong charge_limit(enum cosy_charge what)
{
	switch (what) {
	case COSY_CHARGE_CONTEXTS:
		return READ_ONCE(max_user_contexts);
	case COSY_CHARGE_PROGRAMS:
		return READ_ONCE(max_user_programs);
	case COSY_CHARGE_WATCHERS:
		return READ_ONCE(max_user_watchers);
	default:
		return READ_ONCE(max_user_code);
	}
}

int cosy_user_charge(struct cosy_user *user, enum cosy_charge what, long amount)
{
	ulong now = atomic_long_add_return(amount, &user->charged[what]);

	if (now <= charge_limit(what))
		return 0;
	atomic_long_sub(amount, &user->charged[what]);
	return -EDQUOT;
}

void cosy_user_uncharge(struct cosy_user *user, enum cosy_charge what, long amount)
{
	atomic_long_sub(amount, &user->charged[what]);
}
