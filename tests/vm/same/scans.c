// SPDX-License-Identifier: MIT
/*
 * scans.c - makes scan_dir by plain calls: getdents64, then newfstatat of each entry.
 *
 * Nobody knows beforehand how many entries getdents64 must be made to take: going back in a
 * directory by lseek shows other entries than going on does, where the file system reads ahead
 * (ext4) or remembers when the directory was opened (btrfs).  So the operation goes first, and
 * notes the bytes that its entries are for getdents64, which then gets a buffer of just that size:
 * the file system cannot tell the two apart.  The next scan shows that nothing was left out which
 * would have fitted.
 *
 * A plain round that finds no notes takes as many entries as are sure to fit, and notes that.
 * scan_tree's lists are made the same way: see walks.c.
 */
#include <dirent.h>
#include <sys/syscall.h>
#include "same.h"

enum {
	MIN_ENTRY = 24, /* bytes of the smallest entry of getdents64 */
	GROWTH = 152,	/* and what it grows by at most */
};

static size_t plain_size(const char *name)
{
	return (offsetof(struct dirent64, d_name) + strlen(name) + 8) & ~7ul;
}

static size_t scan_size(const char *name)
{
	return (sizeof(struct cosy_dirent) + strlen(name) + 8) & ~7ul;
}

/* Returns the scan just before `step`, at the same place of the same directory, or NULL. */
static const struct step *scan_before(const struct batch *batch, const struct step *step)
{
	const struct step *before = step - 1;

	while (before > batch->step && before->op == STEP_tick)
		before--;
	if (before < batch->step || before->op != STEP_scan_dir || before->result <= 0 ||
	    before->arg[0] != step->arg[0] || before->slots != step->slots)
		return NULL;
	return before;
}

long scan_plainly(struct batch *batch, struct step *step, int fd, char *to, size_t size, int flags)
{
	static char entries[2 * OUT];
	const struct step *before = scan_before(batch, step);
	size_t most = step->listed ? step->listed : size / (MIN_ENTRY + GROWTH) * MIN_ENTRY;
	long len = result_of(syscall(SYS_getdents64, fd, entries, most));
	char *start = to;

	for (long at = 0; at < len;) {
		const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
		size_t room = scan_size(entry->d_name);
		struct cosy_dirent *now = (struct cosy_dirent *)to;

		if (room > size)
			return -EOVERFLOW; /* the operation took more than fits */
		if (!at && step->listed && before &&
		    before->result + (int64_t)room <= before->arg[2])
			return -EPROTO; /* it took less here */
		memset(now, 0, room);
		*now = (struct cosy_dirent){
			.ino = entry->d_ino,
			.off = entry->d_off,
			.reclen = (uint16_t)room,
			.type = entry->d_type,
		};
		strcpy(now->name, entry->d_name);
		now->error = (int)result_of(
			syscall(SYS_newfstatat, fd, entry->d_name, now->stat, flags));
		size -= room;
		to += room;
		at += entry->d_reclen;
	}
	return len < 0 ? len : to - start;
}

/* Notes each scan of the batch before it is made. */
void scans_expect(struct round *round)
{
	struct batch *batch = round->batch;

	for (uint32_t i = 0; round->notes && i < batch->count; i++)
		if (batch->step[i].op == STEP_scan_dir)
			MUST(fscanf(round->notes, "%u", &batch->step[i].listed) == 1);
		else if (batch->step[i].op == STEP_scan_tree)
			walk_expect(round->notes, (struct walk *)batch->step[i].arg[1]);
}

/*
 * Notes each scan after it.  One that took nothing may find anything: then there is nothing, or an
 * error.
 */
void scans_note(struct round *round)
{
	const struct batch *batch = round->batch;

	for (uint32_t i = 0; round->noted && i < batch->count; i++) {
		const struct step *step = &batch->step[i];
		const char *out = (const char *)step->arg[1];
		size_t listed = 0;

		if (step->op == STEP_scan_tree)
			walk_note(round->noted, (struct walk *)step->arg[1]);
		if (step->op != STEP_scan_dir)
			continue;
		for (int64_t at = 0; at < step->result;) {
			const struct cosy_dirent *entry = (const struct cosy_dirent *)(out + at);

			listed += plain_size(entry->name);
			at += entry->reclen;
		}
		fprintf(round->noted, "%zu\n", listed ? listed : (size_t)OUT);
	}
}
