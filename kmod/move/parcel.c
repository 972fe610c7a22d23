// SPDX-License-Identifier: GPL-2.0
/*
 * parcel.c - see parcel.h.
 *
 * A parcel refers to pages as a slot does, but has no page-table entries, and hands pages only to
 * slots.  Any number of importers get frozen pages, one importer gets donated ones.  Every step
 * that can fail precedes the first move, so no page is lost between two processes.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/cosy.h>
#include <asm/ioctls.h>
#include "compat/compat.h"
#include "load/locked.h"
#include "move/arena.h"
#include "move/by_file.h"
#include "move/huge.h"
#include "move/parcel.h"
#include "move/slots.h"
#include "stats.h"

struct cosy_parcel {
	struct cosy_counted counted; /* among the parcels */
	struct mutex lock;
	u32 how;	     /* SHARE, COPY, DONATE or DONATE_ZERO */
	unsigned long count; /* lock; pages; 0: taken */
	bool huge;	     /* lock; `huge_contents` has a word for each 2 MB */
	union {
		cosy_slot_t *contents;	    /* lock; else a slot for each page */
		cosy_huge_t *huge_contents; /* lock; if `huge` */
	};
	struct cosy_locked locked; /* lock; the pages */
};

static COSY_CENSUS(parcels);

static bool parcel_is_donation(const struct cosy_parcel *parcel)
{
	return parcel->how == COSY_MOVE_DONATE || parcel->how == COSY_MOVE_DONATE_ZERO;
}

/* --- Lifetime ------------------------------------------------------------------------------ */

/* Allocates other contents, which are empty: words, or pages. */
static int parcel_contents_new(struct cosy_parcel *parcel, bool huge)
{
	unsigned long words = huge ? parcel->count / COSY_HUGE_SLOTS : parcel->count;

	kvfree(parcel->contents);
	parcel->huge = huge;
	parcel->contents =
		kvcalloc(words, sizeof(*parcel->contents), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return parcel->contents ? 0 : -ENOMEM;
}

static struct cosy_parcel *parcel_alloc(u32 how, unsigned long count, bool huge)
{
	struct cosy_parcel *parcel = kzalloc(sizeof(*parcel), GFP_KERNEL_ACCOUNT);

	if (!parcel)
		return NULL;
	parcel->count = count;
	if (parcel_contents_new(parcel, huge) || cosy_locked_charge(&parcel->locked, count)) {
		kvfree(parcel->contents);
		kfree(parcel);
		return NULL;
	}
	mutex_init(&parcel->lock);
	parcel->how = how;
	cosy_census_enter(&parcels, &parcel->counted);
	cosy_stats_live(COSY_LIVE_PARCELS, 1);
	return parcel;
}

/* Returns how many contents there are. */
static unsigned long parcel_words(const struct cosy_parcel *parcel)
{
	return parcel->huge ? parcel->count / COSY_HUGE_SLOTS : parcel->count;
}

/* Returns page i; NULL: zeros. */
static struct page *parcel_page(const struct cosy_parcel *parcel, unsigned long i)
{
	const struct cosy_huge *huge;

	if (!parcel->huge)
		return cosy_slot_page(parcel->contents[i]);
	huge = cosy_huge_of(parcel->huge_contents[i / COSY_HUGE_SLOTS]);
	return huge ? huge->pages + i % COSY_HUGE_SLOTS : NULL;
}

/* Forgets the pages, whose references the caller has taken over. */
static void parcel_empty(struct cosy_parcel *parcel)
{
	WRITE_ONCE(parcel->count, 0);
	cosy_locked_uncharge(&parcel->locked);
}

/* Drops the pages. */
static void parcel_drop(struct cosy_parcel *parcel)
{
	unsigned long i;

	for (i = 0; parcel->contents && i < parcel_words(parcel); i++) {
		if (parcel->huge)
			cosy_huge_drop(&parcel->huge_contents[i]);
		else
			cosy_slot_put(parcel->contents[i]);
		if (!(i & 1023))
			cond_resched();
	}
	parcel_empty(parcel);
}

static void parcel_free(struct cosy_parcel *parcel)
{
	cosy_census_leave(&parcels, &parcel->counted);
	parcel_drop(parcel);
	kvfree(parcel->contents);
	kfree(parcel);
	cosy_stats_live(COSY_LIVE_PARCELS, -1);
}

static int parcel_release(struct inode *inode, struct file *file)
{
	parcel_free(file->private_data);
	return 0;
}

int cosy_parcels_count(struct cosy_count *count)
{
	struct cosy_counted *entry = NULL;

	spin_lock(&parcels.lock);
	while (count->left && (entry = cosy_census_find(&parcels, count))) {
		const struct cosy_parcel *parcel = container_of(entry, struct cosy_parcel, counted);

		count->sum->parcels++;
		count->sum->parcel_pages += READ_ONCE(parcel->count);
		cosy_count_pass(count, entry);
		count->left--;
	}
	spin_unlock(&parcels.lock);
	return entry || !count->left;
}

/* --- Read: for memory that is no arena's --------------------------------------------------- */

/*
 * A read fails after this many attempts in a row that copied nothing into memory just faulted in.
 */
#define FRUITLESS 16

/*
 * Copies bytes [position, ...) as far as both reach, and as no fault has to be served: the parcel
 * is locked, and its reader's memory may be any, such as one that a process is asked for.  Returns
 * how many.
 */
static size_t parcel_copy(const struct cosy_parcel *parcel, loff_t position, struct iov_iter *to)
{
	size_t length = parcel->count << PAGE_SHIFT, done = 0;

	while (position + done < length && iov_iter_count(to)) {
		unsigned long i = (position + done) >> PAGE_SHIFT,
			      within = (position + done) & ~PAGE_MASK;
		struct page *page = parcel_page(parcel, i);
		size_t part = min_t(size_t, PAGE_SIZE - within, iov_iter_count(to)), now;

		pagefault_disable();
		now = page ? copy_page_to_iter(page, within, part, to) : iov_iter_zero(part, to);
		pagefault_enable();
		done += now;
		if (now < part || fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return done;
}

/*
 * Does the part of a read that needs no fault: copies from `position` on, and drops donated pages
 * once all are copied.  Returns how many bytes are copied; *left: how many of the parcel's
 * follow.  An error for a donation for which there is not enough room.
 */
static ssize_t parcel_read_some(struct cosy_parcel *parcel, loff_t position, struct iov_iter *to,
				size_t *left)
{
	bool donation = parcel_is_donation(parcel);
	size_t length, done;

	if (mutex_lock_killable(&parcel->lock))
		return -EINTR;
	length = parcel->count << PAGE_SHIFT;
	if (donation && position + iov_iter_count(to) < length) {
		mutex_unlock(&parcel->lock);
		return -EMSGSIZE;
	}
	done = parcel_copy(parcel, position, to);
	*left = position + done < length ? length - (position + done) : 0;
	if (donation && !*left)
		parcel_drop(parcel);
	mutex_unlock(&parcel->lock);
	/* Somebody else has taken them, if only since the last piece. */
	return donation && !length ? 0 : done;
}

static ssize_t parcel_read(struct kiocb *call, struct iov_iter *to)
{
	struct cosy_parcel *parcel = call->ki_filp->private_data;
	bool donation = parcel_is_donation(parcel);
	loff_t start = donation ? 0 : call->ki_pos;
	size_t done = 0, left, fault;
	unsigned int fruitless = 0;
	ssize_t now;

	if (parcel->how == COSY_MOVE_SHARE)
		return -EOPNOTSUPP;
	for (;;) {
		now = parcel_read_some(parcel, start + done, to, &left);
		if (now < 0)
			return now;
		done += now;
		if (!left || !iov_iter_count(to))
			break;
		if (fatal_signal_pending(current))
			return -EINTR;
		fruitless = now ? 0 : fruitless + 1;
		fault = min3(left, iov_iter_count(to), (size_t)SZ_64K);
		if (fruitless < FRUITLESS && fault_in_iov_iter_writeable(to, fault) < fault)
			continue;
		if (donation || !done)
			return -EFAULT;
		break;
	}
	/* A donation whose pages were taken in the middle of its read has none. */
	if (donation)
		return now ? done : 0;
	call->ki_pos += done;
	return done;
}

static long parcel_ioctl(struct file *file, unsigned int command, unsigned long address)
{
	const struct cosy_parcel *parcel = file->private_data;

	switch (command) {
	case COSY_IOC_PARCEL:
		return parcel->how;
	case FIONREAD:
		return put_user((int)(READ_ONCE(parcel->count) << PAGE_SHIFT),
				(int __user *)address);
	default:
		return -ENOTTY;
	}
}

static void parcel_show(struct seq_file *to, struct file *file)
{
	static const char *const names[] = {
		[COSY_MOVE_SHARE] = "share",
		[COSY_MOVE_COPY] = "copy",
		[COSY_MOVE_DONATE] = "donate",
		[COSY_MOVE_DONATE_ZERO] = "donate_zero",
	};
	const struct cosy_parcel *parcel = file->private_data;

	seq_printf(to, "cosy-how:\t%s\ncosy-pages:\t%lu\n", names[parcel->how],
		   READ_ONCE(parcel->count));
}

static const struct file_operations parcel_fops = {
	.owner = THIS_MODULE,
	.read_iter = parcel_read,
	.unlocked_ioctl = parcel_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = parcel_release,
	.show_fdinfo = parcel_show,
	.llseek = noop_llseek,
};

/* --- Export ---------------------------------------------------------------------------------- */

static int parcel_fill(struct cosy_parcel *parcel, const struct cosy_slots *s)
{
	cosy_slot_t left = parcel->how == COSY_MOVE_DONATE ? COSY_SLOT_GONE : COSY_SLOT_EMPTY;

	if (parcel->huge)
		return parcel->how == COSY_MOVE_COPY
			       ? cosy_huge_copy(s, parcel->huge_contents)
			       : cosy_huge_donate(s, parcel->huge_contents, left);
	switch (parcel->how) {
	case COSY_MOVE_SHARE:
		return cosy_slots_share(s, parcel->contents);
	case COSY_MOVE_COPY:
		return cosy_slots_copy(s, parcel->contents);
	default:
		return cosy_slots_donate(s, parcel->contents, left);
	}
}

static int parcel_fill_from(struct cosy_parcel *parcel, u64 address)
{
	unsigned long rights = parcel->how == COSY_MOVE_COPY ? VM_READ : VM_READ | VM_WRITE;
	struct cosy_slots s;
	int ret;

	ret = cosy_slots_begin_all(address, parcel->count, rights, &s);
	if (ret)
		return ret;
	ret = parcel_fill(parcel, &s);
	cosy_slots_end(&s);
	return ret;
}

long cosy_parcel_export(const struct cosy_move *move)
{
	unsigned long count = move->length >> PAGE_SHIFT;
	struct cosy_parcel *parcel;
	struct file *file;
	long fd, ret;

	if (move->length > COSY_MAX_ARENA)
		return -EINVAL;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	ret = -ENOMEM;
	parcel = parcel_alloc(move->operation, count,
			      move->operation != COSY_MOVE_SHARE &&
				      !((move->address | move->length) & ~PMD_MASK));
	if (!parcel)
		goto no_parcel;
	file = anon_inode_getfile("[cosy parcel]", &parcel_fops, parcel, O_RDONLY);
	ret = PTR_ERR_OR_ZERO(file);
	if (ret)
		goto no_file;
	file->f_mode |= FMODE_PREAD;
	ret = parcel_fill_from(parcel, move->address);
	if (ret == -EAGAIN) {
		ret = parcel_contents_new(parcel, false);
		if (!ret)
			ret = parcel_fill_from(parcel, move->address);
	}
	if (ret)
		goto not_filled;
	fd_install(fd, file);
	return fd;

not_filled:
	fput(file);
	put_unused_fd(fd);
	return ret;
no_file:
	parcel_free(parcel);
no_parcel:
	put_unused_fd(fd);
	return ret;
}

/* --- Import ---------------------------------------------------------------------------------- */

/* Takes references for one more holder of the pages. */
static void parcel_get(const struct cosy_parcel *parcel)
{
	unsigned long i;

	for (i = 0; i < parcel_words(parcel); i++) {
		if (parcel->huge && parcel->huge_contents[i])
			cosy_huge_loan(cosy_huge_of(parcel->huge_contents[i]));
		else if (!parcel->huge && parcel->contents[i])
			get_page(cosy_slot_page(parcel->contents[i]));
		if (i % 1024 == 1023)
			cond_resched();
	}
}

/* Copies 2 MB into pages, frozen ones if others are to have them as well. */
static int parcel_copy_huge(const struct cosy_parcel *parcel, const struct cosy_huge *huge,
			    cosy_slot_t *slots)
{
	unsigned long k;

	for (k = 0; k < COSY_HUGE_SLOTS; k++) {
		struct page *copy = cosy_slot_page_alloc(0);

		if (!copy)
			return -ENOMEM;
		copy_highpage(copy, huge->pages + k);
		if (!parcel_is_donation(parcel))
			cosy_page_freeze(copy);
		slots[k] = cosy_slot_of(copy);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* Makes pages of a huge page that nobody else has; the same as above. */
static void parcel_split(const struct cosy_parcel *parcel, struct cosy_huge *huge,
			 cosy_slot_t *slots)
{
	unsigned long k;

	cosy_huge_split(huge, slots);
	for (k = 0; k < COSY_HUGE_SLOTS && !parcel_is_donation(parcel); k++)
		cosy_page_freeze(cosy_slot_page(slots[k]));
}

/*
 * Makes pages of the parcel's huge pages, for a place that they do not fit.  Pages with other
 * holders are copied before the first one is split, so it is done whole or not at all.
 */
static int parcel_to_pages(struct cosy_parcel *parcel)
{
	unsigned long i, words = parcel_words(parcel), k;
	cosy_slot_t *pages =
		kvcalloc(parcel->count, sizeof(*pages), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	int error = pages ? 0 : -ENOMEM;

	for (i = 0; i < words && !error; i++) {
		const struct cosy_huge *huge = cosy_huge_of(parcel->huge_contents[i]);

		if (huge && atomic_read(&huge->holders) > 1)
			error = parcel_copy_huge(parcel, huge, pages + i * COSY_HUGE_SLOTS);
	}
	if (error) {
		for (k = 0; pages && k < parcel->count; k++)
			cosy_slot_put(pages[k]);
		kvfree(pages);
		return error;
	}
	for (i = 0; i < words; i++) {
		struct cosy_huge *huge = cosy_huge_of(parcel->huge_contents[i]);

		if (huge && !pages[i * COSY_HUGE_SLOTS])
			parcel_split(parcel, huge, pages + i * COSY_HUGE_SLOTS);
		else if (huge)
			cosy_huge_put(huge);
	}
	kvfree(parcel->contents);
	parcel->contents = pages;
	parcel->huge = false;
	return 0;
}

static long parcel_move(struct cosy_parcel *parcel, const struct cosy_slots *s, u32 flags)
{
	int error = parcel->huge && !cosy_huge_fits(s) ? parcel_to_pages(parcel) : 0;

	if (error)
		return error;
	cosy_slots_lock(s);
	if (!parcel_is_donation(parcel))
		parcel_get(parcel);
	if (parcel->huge) {
		cosy_slots_clear(s, s->count);
		cosy_huge_import(s, parcel->huge_contents);
	} else {
		cosy_slots_import(s, parcel->contents);
	}
	/* Without memory for this the next access faults. */
	if (flags & (COSY_MOVE_POPULATE | COSY_MOVE_WILL_WRITE))
		cosy_slots_present(s, flags & COSY_MOVE_WILL_WRITE);
	cosy_slots_unlock(s);
	if (parcel_is_donation(parcel))
		parcel_empty(parcel);
	return s->count << PAGE_SHIFT;
}

static long parcel_import(struct cosy_parcel *parcel, const struct cosy_move *move)
{
	struct cosy_slots s;
	long ret;

	if (!parcel->count)
		return -ENODATA;
	if (move->length >> PAGE_SHIFT < parcel->count)
		return -EMSGSIZE;
	ret = cosy_slots_find(move->address, parcel->count, VM_READ | VM_WRITE, &s);
	if (!ret && s.count < parcel->count)
		ret = -EFAULT;
	if (!ret)
		ret = parcel_move(parcel, &s, move->flags);
	return ret;
}

/*
 * Locks the parcel last: its holder waits for no process's mmap lock.  Nobody waits for it with an
 * mmap lock held either, because its holder may get the processor late.
 */
static int parcel_lock(struct cosy_parcel *parcel)
{
	for (;;) {
		if (mmap_read_lock_killable(current->mm))
			return -EINTR;
		if (mutex_trylock(&parcel->lock))
			return 0;
		mmap_read_unlock(current->mm);
		if (mutex_lock_killable(&parcel->lock))
			return -EINTR;
		mutex_unlock(&parcel->lock);
	}
}

static long import_from(struct file *file, const struct cosy_move *move)
{
	struct cosy_parcel *parcel = file->private_data;
	long ret = parcel_lock(parcel);

	if (ret)
		return ret;
	ret = parcel_import(parcel, move);
	mutex_unlock(&parcel->lock);
	mmap_read_unlock(current->mm);
	return ret;
}

long cosy_parcel_import(const struct cosy_move *move)
{
	return cosy_move_by_file(move, &parcel_fops, READ, import_from);
}
