// SPDX-License-Identifier: MIT
/*
 * seek.c - wraps lseek.  A file on which it is called again and again gets its position kept in
 * user space, whether it has a window or not: lseek is then a change of the word, and
 * lseek and read are one pread ("Poking holes", §4.2).
 */
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file/lease.h"
#include "file/seeks.h"
#include "file/window.h"
#include "direct.h"
#include "next.h"
#include "relax/relax.h"
#include "stats.h"

/* Counts a seek of a plain file. */
static bool seek_earned(struct file *file)
{
	if (!file->price)
		file->price = SEEKS_PRICE;
	if (file->stays_plain || ++file->seeks < file->price)
		return false;
	return !__atomic_load_n(&file->inside, __ATOMIC_RELAXED) && !file_sharing();
}

/* Finds a file's position, under LOCKED.  False: its seeks may do more than set a number. */
static bool seek_prepare(struct file *file, int fd, int64_t *position)
{
	struct stat st;

	if (!window_policy(file, fd) || !window_filesystem(fd) ||
	    cosy_syscall3(SYS_fstat, fd, (unsigned long)&st, 0) || !S_ISREG(st.st_mode))
		return false;
	*position = cosy_syscall3(SYS_lseek, fd, 0, SEEK_CUR);
	if (*position < 0 || (uint64_t)*position > WORD_POSITION)
		return false;
	file->size = st.st_size;
	file->fd = fd;
	file->window = window_none();
	return true;
}

/* Makes the position of a plain file this library's.  Look again. */
static void seek_keep(struct file *file, int fd)
{
	uint64_t signals, word = file_lock(file, &signals);
	int64_t position;

	if ((word & WORD_PLAIN) && file_may_change(file, fd, word)) {
		if (seek_prepare(file, fd, &position))
			word = position;
		else
			file->price = SEEKS_MAX_PRICE;
	}
	file->seeks = 0;
	file_unlock(file, word, signals);
}

/* Returns the position that a seek goes to, or -1: let the kernel say. */
static int64_t seek_target(const struct file *file, uint64_t word, off64_t offset, int whence)
{
	int64_t from = whence == SEEK_SET		    ? 0
		       : whence == SEEK_CUR		    ? (int64_t)(word & WORD_POSITION)
		       : whence == SEEK_END && file->leased ? (int64_t)file->size
							    : -1;
	int64_t target;

	/*
	 * How far the kernel lets one seek beyond the end depends on the file system.  A word holds
	 * positions up to a tebibyte.
	 */
	if (from < 0 || __builtin_add_overflow(from, offset, &target) ||
	    target > (int64_t)file->size || target > (int64_t)WORD_POSITION)
		return -1;
	return target;
}

/*
 * Asks the kernel for a seek that only it can answer, though the position is kept.  False: look
 * again.
 */
static bool seek_asked(struct file *file, int fd, uint64_t word, off64_t offset, int whence,
		       long *ret)
{
	uint64_t signals, now = file_lock(file, &signals);

	if (now != word) {
		file_unlock(file, now, signals);
		return false;
	}
	if (whence == SEEK_CUR)
		cosy_syscall3(SYS_lseek, fd, word & WORD_POSITION, SEEK_SET);
	*ret = cosy_syscall3(SYS_lseek, fd, offset, whence);
	if (*ret > (long)WORD_POSITION) {
		now = file_replug(file, now, GUARD_KERNEL_POSITION);
		cosy_syscall3(SYS_lseek, fd, *ret, SEEK_SET);
	} else if (*ret >= 0) {
		now = *ret;
		if (!file->leased && (uint64_t)*ret > file->size)
			file->size = *ret;
	}
	file_unlock(file, now, signals);
	return true;
}

/* Respecialises SEQUENTIAL_ACCESS: the position is all that changes (Synthetix §3.3). */
off64_t lseek64(int fd, off64_t offset, int whence)
{
	relax_seek(fd, offset, whence);
	for (;;) {
		struct file *file = file_of(fd);
		uint64_t word;
		int64_t target;
		long ret;

		if (!file)
			return direct_lseek(fd, offset, whence);
		word = file_word(file);
		if (word & WORD_LOCKED) {
			file_wait(file, word);
		} else if (!(word & WORD_PLAIN) && file->leased && !lease_holds(file)) {
			lease_check(file);
		} else if (word & WORD_PLAIN) {
			if (seek_earned(file)) {
				seek_keep(file, fd);
			} else if (file_enter(file, word)) {
				ret = direct_lseek(fd, offset, whence);
				file_leave(file);
				return ret;
			}
		} else {
			target = seek_target(file, word, offset, whence);
			if (target < 0) {
				if (seek_asked(file, fd, word, offset, whence, &ret))
					return next_result(ret);
			} else if (file_exchange(file, word, (word & ~WORD_POSITION) | target)) {
				if (file->seeks < UINT16_MAX)
					file->seeks++;
				stats.seeks++;
				return target;
			}
		}
	}
}

off_t lseek(int fd, off_t offset, int whence) __attribute__((alias("lseek64")));

/* Other names of libc's; the second is for programs that were linked long ago. */
OTHER_NAME(__lseek, lseek64);
OTHER_NAME(llseek, lseek64);
