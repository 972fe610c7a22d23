// SPDX-License-Identifier: MIT
/*
 * watch_same DIR ROUNDS SEED [USER [PASSES]]: another process makes a random change and reports it.
 * Then this one, as root or as nobody, asks everything about every name by libc's functions, which a
 * library may stand before: the answers must be the system calls', the whole structure and errno.
 *
 * PASSES times, each answer that a library may give is compared with a *truth*, which a system call
 * gave after the change.  If they differ, because the kernel wrote a file back since, only another
 * system call counts.  At last each answer is compared with a system call's that follows it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "watch_changes.h"

/* What is asked about a name. */
enum ask {
	ASK_STAT_AT, /* fstatat by a descriptor */
	ASK_LSTAT,
	ASK_STAT,
	ASK_STATX_AT,
	ASK_STATX,
	ASK_ACCESS,
	ASK_LGETXATTR, /* one for each attribute */
	ASK_GETXATTR = ASK_LGETXATTR + COSY_WATCH_XATTR_COUNT,
	ASK_LLISTXATTR = ASK_GETXATTR + COSY_WATCH_XATTR_COUNT,
	ASK_LISTXATTR,
	ASKS,
};

static const char *const ask_names[ASKS] = {
	[ASK_STAT_AT] = "fstatat",
	[ASK_LSTAT] = "lstat",
	[ASK_STAT] = "stat",
	[ASK_STATX_AT] = "statx by a descriptor",
	[ASK_STATX] = "statx",
	[ASK_ACCESS] = "access",
	[ASK_LGETXATTR] = "lgetxattr 0",
	"lgetxattr 1",
	"lgetxattr 2",
	"lgetxattr 3",
	[ASK_GETXATTR] = "getxattr 0",
	"getxattr 1",
	"getxattr 2",
	"getxattr 3",
	[ASK_LLISTXATTR] = "llistxattr",
	[ASK_LISTXATTR] = "listxattr",
};

/*
 * Programs query attributes after each stat of a name, and the library answers them by that; so what
 * comes after the same stat is a group.
 */
static const struct {
	enum ask first, attribute, list; /* no attributes: ASKS */
} groups[] = {
	{ ASK_STAT_AT, ASKS, ASKS },
	{ ASK_LSTAT, ASK_LGETXATTR, ASK_LLISTXATTR },
	{ ASK_STAT, ASK_GETXATTR, ASK_LISTXATTR },
	{ ASK_STATX_AT, ASKS, ASKS },
	{ ASK_STATX, ASKS, ASKS },
	{ ASK_ACCESS, ASKS, ASKS },
};

enum { GROUPS = sizeof(groups) / sizeof(*groups) };

struct answer {
	ssize_t value;
	int error;
	union {
		struct stat stat;
		struct statx statx;
		char text[256];
	};
};

static struct name {
	char path[64];
	const char *base;
	struct answer truths[ASKS];
} names[NAMES];

static int directory, access_mode;
static unsigned long asked; /* answers that were compared */
static unsigned long moved; /* truths that were another one without a change */
static unsigned long wrong;
static const unsigned int *shown; /* the number of the last change */

static unsigned int statx_mask(unsigned int i)
{
	static const unsigned int masks[] = { STATX_BASIC_STATS, STATX_SIZE | STATX_MODE,
					      STATX_CTIME | STATX_INO,
					      STATX_BASIC_STATS | STATX_MNT_ID,
					      STATX_BASIC_STATS | STATX_BTIME };

	return masks[i % (sizeof(masks) / sizeof(*masks))];
}

/* Asks libc, or the library that stands before it. */
static ssize_t libc_ask(unsigned int i, enum ask ask, struct answer *ret)
{
	const char *path = names[i].path, *base = names[i].base;

	switch (ask) {
	case ASK_STAT_AT:
		return fstatat(directory, base, &ret->stat, AT_SYMLINK_NOFOLLOW);
	case ASK_LSTAT:
		return lstat(path, &ret->stat);
	case ASK_STAT:
		return stat(path, &ret->stat);
	case ASK_STATX_AT:
		return statx(directory, base, AT_SYMLINK_NOFOLLOW, statx_mask(i), &ret->statx);
	case ASK_STATX:
		return statx(AT_FDCWD, path, 0, statx_mask(i), &ret->statx);
	case ASK_ACCESS:
		return i & 8 ? faccessat(directory, base, access_mode, 0)
			     : access(path, access_mode);
	case ASK_LLISTXATTR:
		return llistxattr(path, ret->text, sizeof(ret->text));
	case ASK_LISTXATTR:
		return listxattr(path, ret->text, sizeof(ret->text));
	default:
		return ask < ASK_GETXATTR ? lgetxattr(path, attributes[ask - ASK_LGETXATTR],
						      ret->text, sizeof(ret->text))
					  : getxattr(path, attributes[ask - ASK_GETXATTR],
						     ret->text, sizeof(ret->text));
	}
}

/* Asks the kernel. */
static ssize_t kernel_ask(unsigned int i, enum ask ask, struct answer *ret)
{
	const char *path = names[i].path, *base = names[i].base;

	switch (ask) {
	case ASK_STAT_AT:
		return syscall(SYS_newfstatat, directory, base, &ret->stat, AT_SYMLINK_NOFOLLOW);
	case ASK_LSTAT:
		return syscall(SYS_newfstatat, AT_FDCWD, path, &ret->stat, AT_SYMLINK_NOFOLLOW);
	case ASK_STAT:
		return syscall(SYS_newfstatat, AT_FDCWD, path, &ret->stat, 0);
	case ASK_STATX_AT:
		return syscall(SYS_statx, directory, base, AT_SYMLINK_NOFOLLOW, statx_mask(i),
			       &ret->statx);
	case ASK_STATX:
		return syscall(SYS_statx, AT_FDCWD, path, 0, statx_mask(i), &ret->statx);
	case ASK_ACCESS:
		return syscall(SYS_faccessat, i & 8 ? directory : AT_FDCWD, i & 8 ? base : path,
			       access_mode);
	case ASK_LLISTXATTR:
		return syscall(SYS_llistxattr, path, ret->text, sizeof(ret->text));
	case ASK_LISTXATTR:
		return syscall(SYS_listxattr, path, ret->text, sizeof(ret->text));
	default:
		return ask < ASK_GETXATTR
			       ? syscall(SYS_lgetxattr, path, attributes[ask - ASK_LGETXATTR],
					 ret->text, sizeof(ret->text))
			       : syscall(SYS_getxattr, path, attributes[ask - ASK_GETXATTR],
					 ret->text, sizeof(ret->text));
	}
}

static size_t answer_length(enum ask ask, const struct answer *answer)
{
	if (answer->error || ask == ASK_ACCESS)
		return 0;
	if (ask < ASK_STATX_AT)
		return sizeof(answer->stat);
	return ask < ASK_ACCESS ? sizeof(answer->statx) : (size_t)answer->value;
}

static bool answer_is(enum ask ask, const struct answer *a, const struct answer *b)
{
	return a->value == b->value && a->error == b->error &&
	       !memcmp(a->text, b->text, answer_length(ask, b));
}

/* Bytes that an answer does not set would differ. */
static void answer_clear(enum ask ask, struct answer *answer)
{
	if (ask < ASK_ACCESS)
		memset(&answer->text, 0x55,
		       ask < ASK_STATX_AT ? sizeof(answer->stat) : sizeof(answer->statx));
}

static void answer_get(unsigned int i, enum ask ask, struct answer *ret,
		       ssize_t (*get)(unsigned int, enum ask, struct answer *))
{
	answer_clear(ask, ret);
	ret->value = get(i, ask, ret);
	ret->error = ret->value < 0 ? errno : 0;
}

static void answer_print(const char *who, enum ask ask, const struct answer *answer)
{
	const struct stat *stat = &answer->stat;
	const struct statx *statx = &answer->statx;

	printf("  %s: %zd, errno %d", who, answer->value, answer->error);
	if (!answer->error && ask < ASK_STATX_AT)
		printf("; size %ld, mode %o, inode %lu, links %lu, blocks %ld, access %ld.%ld, "
		       "change %ld.%ld",
		       stat->st_size, stat->st_mode, stat->st_ino, stat->st_nlink, stat->st_blocks,
		       stat->st_atim.tv_sec, stat->st_atim.tv_nsec, stat->st_ctim.tv_sec,
		       stat->st_ctim.tv_nsec);
	else if (!answer->error && ask < ASK_ACCESS)
		printf("; mask %x, size %llu, mode %o, inode %llu, links %u, blocks %llu, "
		       "attributes %llx of %llx, mount %llu",
		       statx->stx_mask, statx->stx_size, statx->stx_mode, statx->stx_ino,
		       statx->stx_nlink, statx->stx_blocks, statx->stx_attributes,
		       statx->stx_attributes_mask, statx->stx_mnt_id);
	printf("\n");
}

/* --- Comparisons ------------------------------------------------------------------------------ */

static void wrong_print(unsigned int i, enum ask ask, const struct answer *said,
			const struct answer *is)
{
	if (++wrong >= 10)
		return;
	printf("%s of %s after %s, access %o:\n", ask_names[ask], names[i].path,
	       changes[*shown].name, access_mode);
	answer_print("library", ask, said);
	answer_print("kernel", ask, is);
}

/* Compares an answer with the system call's that follows it, which is the truth from now on. */
static void call_compare(unsigned int i, enum ask ask)
{
	struct answer said, *truth = &names[i].truths[ask];

	asked++;
	answer_get(i, ask, &said, libc_ask);
	answer_get(i, ask, truth, kernel_ask);
	if (!answer_is(ask, &said, truth))
		wrong_print(i, ask, &said, truth);
}

/* Returns whether a library may answer: no READ gives out links, or why something fails. */
static bool may_be_served(unsigned int i, enum ask ask)
{
	const struct answer *own = &names[i].truths[ASK_LSTAT];

	if (own->error || S_ISLNK(own->stat.st_mode))
		return false;
	return ask > ASK_ACCESS || !names[i].truths[ask].error;
}

/* Compares an answer with the truth. */
static void truth_compare(unsigned int i, enum ask ask)
{
	struct answer said, is, *truth = &names[i].truths[ask];

	if (!may_be_served(i, ask))
		return;
	asked++;
	answer_get(i, ask, &said, libc_ask);
	if (answer_is(ask, &said, truth))
		return;
	answer_get(i, ask, &is, kernel_ask);
	if (answer_is(ask, &said, &is)) {
		moved++;
		*truth = is;
	} else {
		wrong_print(i, ask, &said, &is);
	}
}

static void truth_take(unsigned int i, enum ask ask)
{
	answer_get(i, ask, &names[i].truths[ask], kernel_ask);
}

/* Reading a link may change when it was accessed, but the second time it does not. */
static void links_settle(void)
{
	struct stat is;

	for (unsigned int i = 0; i < NAMES; i++)
		syscall(SYS_newfstatat, AT_FDCWD, names[i].path, &is, 0);
}

static void group_pass(unsigned int group, unsigned int i, void (*what)(unsigned int, enum ask))
{
	what(i, groups[group].first);
	if (groups[group].attribute == ASKS)
		return;
	for (int k = 0; k < COSY_WATCH_XATTR_COUNT; k++)
		what(i, groups[group].attribute + k);
	what(i, groups[group].list);
}

enum order { FORWARD, BACKWARD, SCATTERED, ORDERS };

/* Does it for all that can be asked. */
static void names_pass(enum order order, void (*what)(unsigned int, enum ask))
{
	for (unsigned int group = 0; group < GROUPS; group++) {
		for (unsigned int i = 0; i < NAMES; i++) {
			unsigned int at = order == FORWARD    ? i
					  : order == BACKWARD ? NAMES - 1 - i
							      : i * 7 % NAMES;

			group_pass(group, at, what);
		}
	}
}

static void round_run(unsigned long passes)
{
	if (passes) {
		links_settle();
		names_pass(FORWARD, truth_take);
	}
	/* Several times in a row in the same order, so that many are served. */
	for (unsigned long k = 0; k < passes; k++)
		names_pass(k / 4 % ORDERS, truth_compare);
	names_pass(FORWARD, call_compare);
}

/* --- Processes ---------------------------------------------------------------------------------- */

static void changer(int from, int to, unsigned int *number)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(from, &byte, 1) == 1) {
		*number = change_make();
		if (write(to, "x", 1) != 1)
			break;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000;
	unsigned long passes = argc > 5 ? strtoul(argv[5], NULL, 0) : 0;
	unsigned int *number =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int there[2], back[2];
	pid_t child;
	char byte;

	seed = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;
	if (argc < 2 || (mkdir(argv[1], 0755) && errno != EEXIST) || chdir(argv[1]) ||
	    pipe(there) || pipe(back))
		return 1;
	tree_prepare();
	for (unsigned int i = 0; i < NAMES; i++) {
		name_of(names[i].path, i);
		names[i].base = strrchr(names[i].path, '/') + 1;
	}
	shown = number;
	child = fork();
	if (!child) {
		close(there[1]);
		changer(there[0], back[1], number);
	}
	if (argc > 4 && !strcmp(argv[4], "nobody") &&
	    (chmod("/dev/cosy", 0666) || setgid(65534) || setuid(65534)))
		return 1;
	directory = open("t/m/d", O_RDONLY | O_DIRECTORY);
	for (unsigned long k = 0; k < rounds; k++) {
		if (write(there[1], "x", 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
		access_mode = k / 8 & 7;
		round_run(passes);
	}
	printf("seed %s: %lu changes, %lu asked, %lu truths moved, %lu wrong\n",
	       argc > 3 ? argv[3] : "1", rounds, asked, moved, wrong);
	/* It may be another user's process. */
	close(there[1]);
	waitpid(child, NULL, 0);
	return wrong != 0;
}
