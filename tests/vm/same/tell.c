// SPDX-License-Identifier: MIT
/*
 * tell.c - tells in words what came of a batch.  Values that may differ from run to run are told by
 * their meaning: times by the batch that they lie in, inodes by who else has the same, clocks by
 * whether they went on.
 */
#include <dirent.h>
#include <sys/syscall.h>
#include "same.h"

static const char *const arguments[STEP_CALLS] = {
#define STEP(call, arguments, weight)	   arguments,
#define OPERATION(name, arguments, weight) arguments,
#include "steps.def"
};

static uint64_t digest_of(const void *memory, size_t size)
{
	uint64_t digest = 0xcbf29ce484222325, word;
	const unsigned char *bytes = memory;

	for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		digest = (digest ^ word) * MIX;
		digest ^= digest >> 32;
	}
	for (size_t i = 0; i < size; i++)
		digest = (digest ^ bytes[i]) * MIX;
	return digest;
}

const char *tell_time(struct round *round, int64_t sec, uint32_t nsec)
{
	static char text[4][40];
	static unsigned int turn;
	char *ret = text[turn++ % 4];
	int number = (int)round->number;

	while (number >= 0 &&
	       (sec < round->start[number].tv_sec ||
		(sec == round->start[number].tv_sec && nsec < round->start[number].tv_nsec)))
		number--;
	if (llabs(sec - round->start[0].tv_sec) > 100000)
		snprintf(ret, 40, "%lld.%09u", (long long)sec, nsec);
	else
		snprintf(ret, 40, "batch%d", number); /* -1: before the round */
	return ret;
}

/* --- Who is who, within a batch ------------------------------------------------------ */

static struct {
	uint64_t device, inode;
} known[STEPS * 24];
static uint32_t known_count;

static uint32_t who(uint64_t device, uint64_t inode)
{
	uint32_t i = 0;

	while (i < known_count && (known[i].device != device || known[i].inode != inode))
		i++;
	if (i == known_count && known_count < sizeof(known) / sizeof(known[0])) {
		known[i].device = device;
		known[i].inode = inode;
		known_count++;
	}
	return i;
}

/* --- What a step is told -------------------------------------------------------------- */

static void tell_stat(struct round *round, const struct stat *st)
{
	TELL(round, " {file%u mode %o nlink %u uid %u gid %u rdev %lu size %lld blksize %ld",
	     who(st->st_dev, st->st_ino), st->st_mode, (unsigned int)st->st_nlink, st->st_uid,
	     st->st_gid, st->st_rdev, (long long)st->st_size, st->st_blksize);
	if (S_ISSOCK(
		    st->st_mode)) /* nobody sets a socket's times: they are of whatever was there before */
		TELL(round, "}");
	else
		TELL(round, " atime %s mtime %s ctime %s}",
		     tell_time(round, st->st_atim.tv_sec, (uint32_t)st->st_atim.tv_nsec),
		     tell_time(round, st->st_mtim.tv_sec, (uint32_t)st->st_mtim.tv_nsec),
		     tell_time(round, st->st_ctim.tv_sec, (uint32_t)st->st_ctim.tv_nsec));
}

static void tell_statx(struct round *round, const struct statx *st)
{
	TELL(round,
	     " {file%u mask %#x attributes %#llx/%#llx mode %o nlink %u uid %u gid %u size %llu "
	     "blksize %u",
	     who(st->stx_dev_major * 1000 + st->stx_dev_minor, st->stx_ino), st->stx_mask,
	     (unsigned long long)st->stx_attributes, (unsigned long long)st->stx_attributes_mask,
	     st->stx_mode, st->stx_nlink, st->stx_uid, st->stx_gid,
	     (unsigned long long)st->stx_size, st->stx_blksize);
	if (S_ISSOCK(st->stx_mode))
		TELL(round, "}");
	else
		TELL(round, " atime %s mtime %s ctime %s btime %s}",
		     tell_time(round, st->stx_atime.tv_sec, st->stx_atime.tv_nsec),
		     tell_time(round, st->stx_mtime.tv_sec, st->stx_mtime.tv_nsec),
		     tell_time(round, st->stx_ctime.tv_sec, st->stx_ctime.tv_nsec),
		     tell_time(round, st->stx_btime.tv_sec, st->stx_btime.tv_nsec));
}

static void tell_entries(struct round *round, const char *entries, int64_t len)
{
	for (int64_t at = 0; at < len;) {
		const struct dirent64 *entry = (const void *)(entries + at);

		TELL(round, " {%s type %u off %lld len %u}", entry->d_name, entry->d_type,
		     (long long)entry->d_off, entry->d_reclen);
		at += entry->d_reclen;
	}
}

static void tell_scan(struct round *round, const char *entries, int64_t len)
{
	for (int64_t at = 0; at < len;) {
		const struct cosy_dirent *entry = (const void *)(entries + at);

		TELL(round, " {%s type %u off %lld len %u error %d", entry->name, entry->type,
		     (long long)entry->off, entry->reclen, entry->error);
		tell_stat(round, (const struct stat *)entry->stat);
		TELL(round, "}");
		at += entry->reclen;
	}
}

static void tell_walk(struct round *round, const struct walk *walk)
{
	static const char *const kinds[] = { "entry", "enter", "leave", "failed" };
	size_t told = walk_told(walk);

	TELL(round, " calls");
	for (uint32_t i = 0; i < WALK_CALLS && walk->length[i]; i++)
		TELL(round, " %u", walk->length[i]);
	for (size_t at = 0; at < told;) {
		const struct cosy_dirent *entry = (const void *)(walk->stream + at);
		const struct stat *st = (const void *)entry->stat;

		TELL(round, "\n  %s %s type %u off %lld len %u error %d ino%u",
		     kinds[entry->kind & 3], entry->name, entry->type, (long long)entry->off,
		     entry->reclen, entry->error, who(0, entry->ino));
		tell_stat(round, st);
		at += entry->reclen;
	}
}

/* Tells a clock: it goes on, and not far. */
static void tell_clock(struct round *round, const struct step *step, const int64_t *time)
{
	static int64_t last[16];
	int64_t *before = &last[step->op == STEP_gettimeofday ? 15 : step->arg[0] & 7];

	if (time[0] < before[0] || (*before && time[0] > *before + 1000) || time[1] < 0 ||
	    time[1] > 999999999)
		TELL(round, " {from %lld to %lld.%lld}", (long long)*before, (long long)time[0],
		     (long long)time[1]);
	*before = time[0];
}

/* Tells a process's or thread's number by what it is. */
static void tell_who(struct round *round, const struct step *step)
{
	TELL(round, " = %s",
	     step->result == getpid()	 ? "this"
	     : step->result == getppid() ? "parent"
					 : "another");
}

static size_t tell_out(struct round *round, const struct step *step, char letter, const char *out)
{
	switch (letter) {
	case 'S':
		tell_stat(round, (const struct stat *)out);
		return sizeof(struct stat);
	case 'X':
		tell_statx(round, (const struct statx *)out);
		return sizeof(struct statx);
	case 'D':
		if (step->op == STEP_scan_dir)
			tell_scan(round, out, step->result);
		else
			tell_entries(round, out, step->result);
		return OUT; /* the kernel may leave anything beyond the entries */
	default:
		tell_clock(round, step, (const int64_t *)out);
		return step->op == STEP_gettimeofday ? sizeof(struct timeval)
						     : sizeof(struct timespec);
	}
}

static void tell_step(struct round *round, uint32_t index)
{
	const struct step *step = &round->batch->step[index];
	const char *letters = step->op < STEP_CALLS ? arguments[step->op] : "";

	TELL(round, "%u.%u %s", round->number, index, round->text[index]);
	if (step->op == STEP_getpid || step->op == STEP_gettid || step->op == STEP_getppid) {
		tell_who(round, step);
	} else if (step->op == STEP_other) {
		TELL(round, " = %lld", (long long)round->changes[step->arg[0]].result);
		CHECK(round->changes[step->arg[0]].made, "nobody made the change");
	} else if (step->op < STEP_CALLS) {
		TELL(round, " = %lld", (long long)step->result);
		if (!strpbrk(letters, "E"))
			TELL(round, " %016llx", (unsigned long long)step->digest);
	}
	for (uint32_t i = 0; letters[i]; i++) {
		const char *out = (const char *)step->arg[i];
		size_t used = 0;

		if (letters[i] == 'G')
			tell_walk(round, (const struct walk *)step->arg[i]);
		if (!strchr("SXDE", letters[i]))
			continue;
		if (out != round->out_shared + index * OUT &&
		    out != round->out_ordinary + index * OUT)
			continue;
		if (step->result >= 0 && (letters[i] != 'D' || step->result <= OUT))
			used = tell_out(round, step, letters[i], out);
		else if (letters[i] == 'D' && step->times > 1)
			used = OUT; /* leave out earlier entries, with numbers of inodes */
		TELL(round, " rest %016llx", (unsigned long long)digest_of(out + used, OUT - used));
	}
	TELL(round, "\n");
}

/* --- What the kernel says of the process ----------------------------------------------- */

static void tell_descriptors(struct round *round)
{
	char path[40], text[512];

	for (int fd = FD_FIRST; fd < FD_LAST; fd++) {
		ssize_t len;
		int info;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
		info = open(path, O_RDONLY);
		if (info < 0)
			continue;
		len = read(info, text, sizeof(text) - 1);
		close(info);
		text[len < 0 ? 0 : len] = 0;
		/* Take the position and the flags; the rest names mounts and inodes. */
		for (char *at = text; *at; at++)
			if (*at == '\n')
				*at = strncmp(at + 1, "mnt_id", 6) ? ' ' : 0;
		TELL(round, "fd %d %s\n", fd, text);
	}
}

void tell_batch(struct round *round)
{
	known_count = 0;
	for (uint32_t i = 0; i < round->batch->count; i++)
		tell_step(round, i);
	TELL(round, "memory %016llx %016llx %016llx\n",
	     (unsigned long long)digest_of(round->shared, MEMORY),
	     (unsigned long long)digest_of(round->ordinary, MEMORY),
	     (unsigned long long)digest_of(round->half, HALF));
	watch_tell(round);
	tell_descriptors(round);
}

/* --- The tree ---------------------------------------------------------------------------- */

static void tell_file(struct round *round, int directory, const char *name, int depth);

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void tell_directory(struct round *round, int fd, int depth)
{
	struct dirent **entries;
	char path[40];
	int count;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	count = scandir(path, &entries, NULL, by_name);
	for (int i = 0; i < count; i++) {
		if (strcmp(entries[i]->d_name, ".") && strcmp(entries[i]->d_name, ".."))
			tell_file(round, fd, entries[i]->d_name, depth);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void tell_content(struct round *round, int fd)
{
	static char data[65536];
	uint64_t digest = 0;
	ssize_t len;

	while ((len = read(fd, data, sizeof(data))) > 0)
		digest = digest * 31 + digest_of(data, (size_t)len);
	TELL(round, " content %016llx", (unsigned long long)digest);
}

static void tell_file(struct round *round, int directory, const char *name, int depth)
{
	struct stat st;
	int fd = -1;

	TELL(round, "tree %*s%s", depth, "", name);
	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW)) {
		TELL(round, " %s\n", strerror(errno));
		return;
	}
	tell_stat(round, &st);
	if (!S_ISLNK(st.st_mode))
		fd = openat(directory, name, O_RDONLY | O_NOATIME | O_NOFOLLOW);
	if (fd >= 0 && S_ISREG(st.st_mode))
		tell_content(round, fd);
	TELL(round, "\n");
	if (fd >= 0 && S_ISDIR(st.st_mode))
		tell_directory(round, fd, depth + 1);
	if (fd >= 0)
		close(fd);
}

void tell_tree(struct round *round)
{
	known_count = 0;
	tell_directory(round, round->root, 0);
}
