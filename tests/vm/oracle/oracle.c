// SPDX-License-Identifier: GPL-2.0
/*
 * oracle.c - a module for tests.  It checks the promise of metadata windows without cosy.ko's hooks:
 * the attributes that a READ gave out are the inode's, as long as the entry's word and the way's are
 * what the READ said.
 *
 * It makes a *record* of each entry of each READ: the attributes as they were copied to the process,
 * and the words' values.  It compares a record with its inode
 *
 *  - at each tick of the clock, some records at a time;
 *  - when the kernel begins to change an attribute of the inode (`changes` below).  The words must have
 *    changed before.
 *
 * `wrong` counts records whose words had not changed; the kernel's log has the first of them.  To show
 * that a difference would be noticed, one record of each READ is spoilt for a moment: `noticed`.
 */
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/stat.h>
#include <linux/timer.h>
#include <linux/user_namespace.h>
#include "watch/reading.h"
#include "watch/watcher.h"

enum { RECORDS = 1024, BUCKET_BITS = 10, READINGS = 16, CHECKED_AT_ONCE = 128, MAX_REPORTS = 20 };

/* What a READ gave out. */
struct record {
	struct hlist_node node; /* in the inode's bucket, or unhashed: free */
	const struct inode *inode;
	const struct cosy_watcher *watcher;
	u32 word;
	u64 value, way;
	bool has_owners; /* by the numbers of the first user namespace */
	struct stat stat;
};

/* A READ under way: the inodes of its entries. */
struct reading {
	const struct cosy_watch_reading *of; /* NULL: free */
	u32 count;
	const struct inode *inodes[COSY_WATCH_COUNT];
};

/* All below is under the lock. */
static DEFINE_RAW_SPINLOCK(lock);
static struct record records[RECORDS];
static struct hlist_head buckets[1 << BUCKET_BITS];
static struct reading readings[READINGS];
static u32 next_record, next_check;

static unsigned long served;   /* records made */
static unsigned long missed;   /* READs without records, because there was no room for them */
static unsigned long compared; /* comparisons of a record with its inode */
static unsigned long
	announced;	      /* changes of an inode with a record whose word had changed before */
static unsigned long noticed; /* spoilt records that were noticed */
static unsigned long wrong;
module_param(served, ulong, 0400);
module_param(missed, ulong, 0400);
module_param(compared, ulong, 0400);
module_param(announced, ulong, 0400);
module_param(noticed, ulong, 0400);
module_param(wrong, ulong, 0400);

/* --- Records --------------------------------------------------------------------------------- */

static struct hlist_head *bucket_of(const struct inode *inode)
{
	return &buckets[hash_ptr(inode, BUCKET_BITS)];
}

static void record_drop(struct record *record)
{
	hlist_del_init(&record->node);
}

static bool word_is(const struct record *record, u32 word, u64 value)
{
	return atomic64_read(cosy_watch_word(record->watcher, word)) == value;
}

/* Returns whether the process may use the answer. */
static bool record_holds(const struct record *record)
{
	return word_is(record, COSY_WATCH_WAY, record->way) &&
	       word_is(record, record->word, record->value);
}

static bool time_is(struct timespec64 time, u64 seconds, u64 nanoseconds)
{
	return time.tv_sec == seconds && time.tv_nsec == nanoseconds;
}

/* Returns the name of an attribute that differs from the inode's, or NULL. */
static const char *record_differs(const struct record *record)
{
	const struct inode *inode = record->inode;
	const struct stat *stat = &record->stat;

	if (stat->st_ino != inode->i_ino)
		return "number";
	if (stat->st_mode != READ_ONCE(inode->i_mode))
		return "mode";
	if (stat->st_nlink != READ_ONCE(inode->i_nlink))
		return "links";
	if (record->has_owners && (stat->st_uid != from_kuid(&init_user_ns, inode->i_uid) ||
				   stat->st_gid != from_kgid(&init_user_ns, inode->i_gid)))
		return "owners";
	if (stat->st_size != i_size_read(inode))
		return "size";
	if (stat->st_blocks != READ_ONCE(inode->i_blocks))
		return "blocks";
	if (!time_is(inode_get_atime(inode), stat->st_atime, stat->st_atime_nsec))
		return "time of access";
	if (!time_is(inode_get_mtime(inode), stat->st_mtime, stat->st_mtime_nsec))
		return "time of modification";
	if (!time_is(inode_get_ctime(inode), stat->st_ctime, stat->st_ctime_nsec))
		return "time of change";
	return NULL;
}

static void record_report(const struct record *record, const char *what, const char *how)
{
	if (wrong++ < MAX_REPORTS)
		pr_err("oracle: %s %s of inode %llu of %s, which was served; word %u; %s\n", what,
		       how, (u64)record->inode->i_ino, record->inode->i_sb->s_id, record->word,
		       current->comm);
}

/* Returns false, and frees the record, if the inode differs from it. */
static bool record_check(struct record *record)
{
	const char *attribute = record_differs(record);

	compared++;
	if (!attribute)
		return true;
	/* Pairs with the hook, which changes the word before the inode changes. */
	smp_rmb();
	if (record_holds(record))
		record_report(record, attribute, "has changed");
	record_drop(record);
	return false;
}

/* A difference in the record has to be found as one in the inode would be. */
static void record_spoil(struct record *record)
{
	record->stat.st_nlink++;
	noticed += record_differs(record) && record_holds(record);
	record->stat.st_nlink--;
}

static struct record *record_find(const struct inode *inode, const struct cosy_watcher *watcher,
				  u32 word)
{
	struct record *record;

	hlist_for_each_entry(record, bucket_of(inode), node) {
		if (record->inode == inode && record->watcher == watcher && record->word == word)
			return record;
	}
	record = &records[next_record];
	next_record = (next_record + 1) % RECORDS;
	if (!hlist_unhashed(&record->node))
		record_drop(record);
	hlist_add_head(&record->node, bucket_of(inode));
	return record;
}

static struct record *record_make(const struct cosy_watch_reading *of, const struct inode *inode,
				  const struct cosy_watch_entry *entry)
{
	struct record *record = record_find(inode, of->watcher, entry->word);

	record->inode = inode;
	record->watcher = of->watcher;
	record->word = entry->word;
	record->value = entry->value;
	record->way = of->ret->way;
	record->has_owners = current_user_ns() == &init_user_ns;
	memcpy(&record->stat, entry->stat, sizeof(entry->stat));
	served++;
	return record_check(record) ? record : NULL;
}

/* --- READs ----------------------------------------------------------------------------------- */

static struct reading *reading_find(const struct cosy_watch_reading *of)
{
	u32 i;

	for (i = 0; i < READINGS; i++) {
		if (readings[i].of == of)
			return &readings[i];
	}
	return NULL;
}

/* cosy_watcher_register_entries (r): the entries' inodes; their directory's lock keeps them. */
static int entries_register(struct kprobe *probe, struct pt_regs *regs)
{
	const struct cosy_watch_reading *of = (void *)regs->di;
	struct reading *reading;
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&lock, flags);
	reading = reading_find(NULL);
	if (reading) {
		reading->of = of;
		reading->count = of->count;
		for (i = 0; i < of->count; i++)
			reading->inodes[i] = d_inode(of->found[i].child);
	} else {
		missed++;
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return 0;
}

/* cosy_watch_read (watcher, read) begins: its watcher. */
static int read_begin(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	*(const struct cosy_watcher **)instance->data = (void *)regs->di;
	return 0;
}

/* It ends, still under the watcher's lock: its entries are what the process gets. */
static int read_end(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct cosy_watcher *watcher = *(const struct cosy_watcher **)instance->data;
	const struct cosy_watch_reading *of = watcher->reading;
	struct record *record;
	struct reading *reading;
	unsigned long flags;
	bool spoilt = false;
	u32 i;

	raw_spin_lock_irqsave(&lock, flags);
	reading = of ? reading_find(of) : NULL;
	for (i = 0; reading && !regs_return_value(regs) && i < reading->count; i++) {
		if (!of->found[i].entry->word || !reading->inodes[i])
			continue;
		record = record_make(of, reading->inodes[i], of->found[i].entry);
		if (record && !spoilt)
			record_spoil(record);
		spoilt = true;
	}
	if (reading)
		reading->of = NULL;
	raw_spin_unlock_irqrestore(&lock, flags);
	return 0;
}

/* cosy_watcher_destroy (watcher) */
static int watcher_destroy(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&lock, flags);
	for (i = 0; i < RECORDS; i++) {
		if (!hlist_unhashed(&records[i].node) && records[i].watcher == (void *)regs->di)
			record_drop(&records[i]);
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return 0;
}

/* --- Inodes ---------------------------------------------------------------------------------- */

/* __destroy_inode (inode): its memory is freed. */
static int inode_destroy(struct kprobe *probe, struct pt_regs *regs)
{
	const struct inode *inode = (void *)regs->di;
	struct hlist_node *next;
	struct record *record;
	unsigned long flags;
	u32 i, k;

	raw_spin_lock_irqsave(&lock, flags);
	hlist_for_each_entry_safe(record, next, bucket_of(inode), node)
	{
		if (record->inode == inode)
			record_drop(record);
	}
	for (i = 0; i < READINGS; i++) {
		for (k = 0; readings[i].of && k < readings[i].count; k++) {
			if (readings[i].inodes[k] == inode)
				readings[i].inodes[k] = NULL;
		}
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return 0;
}

static void inode_change(const struct inode *inode, const char *function)
{
	struct hlist_node *next;
	struct record *record;
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	hlist_for_each_entry_safe(record, next, bucket_of(inode), node)
	{
		if (record->inode != inode)
			continue;
		if (record_holds(record))
			record_report(record, function, "begins to change an attribute");
		else
			announced += !word_is(record, record->word, record->value);
		record_drop(record);
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

static int change_first(struct kprobe *probe, struct pt_regs *regs)
{
	inode_change((void *)regs->di, probe->symbol_name);
	return 0;
}

static int change_second(struct kprobe *probe, struct pt_regs *regs)
{
	inode_change((void *)regs->si, probe->symbol_name);
	return 0;
}

/* --- Places ---------------------------------------------------------------------------------- */

static struct kretprobe reads = {
	.kp.symbol_name = "cosy_watch_read",
	.entry_handler = read_begin,
	.handler = read_end,
	.data_size = sizeof(struct cosy_watcher *),
	.maxactive = 64,
};

static struct kprobe needed[] = {
	{ .symbol_name = "cosy_watcher_register_entries", .pre_handler = entries_register },
	{ .symbol_name = "cosy_watcher_destroy", .pre_handler = watcher_destroy },
	{ .symbol_name = "__destroy_inode", .pre_handler = inode_destroy },
	{ .symbol_name = "inode_set_ctime_current", .pre_handler = change_first },
	{ .symbol_name = "setattr_copy", .pre_handler = change_second }, /* (idmap, inode, ...) */
};

/* Functions that change an inode's attributes, of which kernels have different ones. */
static struct kprobe changes[] = {
	{ .symbol_name = "generic_update_time", .pre_handler = change_first },
	{ .symbol_name = "inode_update_time", .pre_handler = change_first },
	{ .symbol_name = "set_nlink", .pre_handler = change_first },
	{ .symbol_name = "inc_nlink", .pre_handler = change_first },
	{ .symbol_name = "drop_nlink", .pre_handler = change_first },
	{ .symbol_name = "clear_nlink", .pre_handler = change_first },
	{ .symbol_name = "inode_add_bytes", .pre_handler = change_first },
	{ .symbol_name = "__inode_add_bytes", .pre_handler = change_first },
	{ .symbol_name = "inode_sub_bytes", .pre_handler = change_first },
	{ .symbol_name = "__inode_sub_bytes", .pre_handler = change_first },
	{ .symbol_name = "inode_set_bytes", .pre_handler = change_first },
	{ .symbol_name = "inode_set_flags", .pre_handler = change_first },
};

static void records_check(struct timer_list *unused);
static DEFINE_TIMER(checks, records_check);

static void records_check(struct timer_list *unused)
{
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&lock, flags);
	for (i = 0; i < CHECKED_AT_ONCE; i++) {
		if (!hlist_unhashed(&records[next_check].node))
			record_check(&records[next_check]);
		next_check = (next_check + 1) % RECORDS;
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	mod_timer(&checks, jiffies + 1);
}

static void places_leave(u32 count)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		/* Else it was not found. */
		if (changes[i].addr)
			unregister_kprobe(&changes[i]);
	}
	while (count)
		unregister_kprobe(&needed[--count]);
}

static int __init oracle_init(void)
{
	int error = 0;
	u32 i, found = 0;

	for (i = 0; !error && i < ARRAY_SIZE(needed); i++)
		error = register_kprobe(&needed[i]);
	if (error) {
		pr_err("oracle: %s: %d\n", needed[i - 1].symbol_name, error);
		places_leave(i - 1);
		return error;
	}
	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		if (register_kprobe(&changes[i]))
			changes[i].addr = NULL;
		else
			found++;
	}
	error = register_kretprobe(&reads);
	if (error) {
		pr_err("oracle: %s: %d\n", reads.kp.symbol_name, error);
		places_leave(ARRAY_SIZE(needed));
		return error;
	}
	pr_info("oracle: %u of %zu further functions that change attributes\n", found,
		ARRAY_SIZE(changes));
	mod_timer(&checks, jiffies + 1);
	return 0;
}

static void __exit oracle_exit(void)
{
	/* The timer starts itself again. */
	timer_shutdown_sync(&checks);
	unregister_kretprobe(&reads);
	missed += reads.nmissed;
	places_leave(ARRAY_SIZE(needed));
}

module_init(oracle_init);
module_exit(oracle_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Checks what metadata windows serve, for tests of cosy.ko");
