// SPDX-License-Identifier: GPL-2.0
/* users.c - per-user accounts.  Memory itself is charged to memory cgroups. */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
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
	u8 attached[] __aligned(8); /* the attachment; its owner's locks */
};

static struct cosy_attachment attachment __ro_after_init;

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

void __init cosy_users_init(struct cosy_attachment attached)
{
	attachment = attached;
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

	fresh = kzalloc(sizeof(*fresh) + attachment.size, GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	fresh->uid = uid;
	attachment.create(fresh->attached);

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

void *cosy_user_attached(struct cosy_user *user)
{
	return user->attached;
}

struct cosy_user *cosy_user_of_attached(void *attached)
{
	return container_of(attached, struct cosy_user, attached);
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

/* Charges as cosy_user_charge does, from what is left now. */
static int user_charge_now(struct cosy_user *user, enum cosy_charge what, long amount)
{
	ulong now = atomic_long_add_return(amount, &user->charged[what]);

	if (now <= charge_limit(what))
		return 0;
	atomic_long_sub(amount, &user->charged[what]);
	return -EDQUOT;
}

int cosy_user_charge(struct cosy_user *user, enum cosy_charge what, long amount)
{
	int error = user_charge_now(user, what, amount);

	if (error && what == COSY_CHARGE_CODE && attachment.reclaim(user))
		error = user_charge_now(user, what, amount);
	return error;
}

void cosy_user_uncharge(struct cosy_user *user, enum cosy_charge what, long amount)
{
	atomic_long_sub(amount, &user->charged[what]);
}
