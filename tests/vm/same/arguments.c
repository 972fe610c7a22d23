// SPDX-License-Identifier: MIT
/* arguments.c - see arguments.h. */
#include <sys/epoll.h>
#include <sys/socket.h>
#include "arguments.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

/* Names of the tree's files: see tree_make in round.c. */
static const char *const names[] = {
	"a",
	"b",
	"c",
	"d",
	"e",
	"f",
	"g",
	"d0",
	"d1",
	"d0/a",
	"d0/b",
	"d0/x",
	"d1/a",
	"d1/x",
	"l0",
	"l1",
	"ld",
	"ld/a",
	"x",
	"y",
	"z",
	"./a",
	"d0/../b",
	"d0/.",
	"..",
	".",
	"",
	"a/",
	"d0/",
	"d0//a",
	"none/a",
	"a/b",
	"a-name-that-is-longer-than-what-a-directory-cache-entry-keeps-inside-itself",
};
enum { NAME_SIZE = 80, LONG_NAME = 300 };

#define ONE_OF(round, ...)                                                                         \
	({                                                                                         \
		static const int64_t these_[] = { __VA_ARGS__ };                                   \
		these_[draw(round, COUNT(these_))];                                                \
	})

void memory_fill(struct round *round)
{
	uint64_t word = round->seed * 1000 + round->number;

	for (size_t i = 0; i < MEMORY; i += 8) {
		word = word * 6364136223846793005 + 1442695040888963407;
		memcpy(round->shared + i, &word, 8);
		word += 17;
		memcpy(round->ordinary + i, &word, 8);
		if (i < HALF)
			memcpy(round->half + i, &word, 8);
	}
	for (char *at = round->names_shared, *other = round->names_ordinary; at;
	     at = other = NULL) {
		for (uint32_t i = 0; i < COUNT(names); i++) {
			strcpy(at + i * NAME_SIZE, names[i]);
			strcpy(other + i * NAME_SIZE, names[i]);
		}
		memset(at + COUNT(names) * NAME_SIZE, 'n', LONG_NAME);
		at[COUNT(names) * NAME_SIZE + LONG_NAME] = 0;
	}
	memset(round->out_shared, 0xa5, STEPS * OUT);
	memset(round->out_ordinary, 0xa5, STEPS * OUT);
}

static void set(struct making *m, int64_t value)
{
	m->step->arg[m->arg] = value;
}

static void slot(struct making *m, uint32_t which)
{
	set(m, which);
	m->step->slots |= 1u << m->arg;
	SAY(m, " #%u", which);
}

/*
 * Files and memory of the last steps: calls keep something of them for the next, so a third of the
 * steps uses those of a step before.
 */
static struct {
	uint32_t slot, place;
	int64_t offset;
} before = { .slot = 8 };

static void a_descriptor(struct making *m)
{
	static const uint8_t directories[] = { 0, 1, 1, 0, 8 };
	struct round *round = m->round;

	if (draw(round, 40) == 0) {
		set(m, ONE_OF(round, -1, 1000, INT32_MIN, 0x100000000));
		SAY(m, " bad");
	} else if ((m->step->op == STEP_getdents64 || m->step->op == STEP_scan_dir ||
		    m->step->op == STEP_scan_tree) &&
		   draw(round, 8)) {
		slot(m, directories[draw(round, COUNT(directories))]);
	} else if (m->step->op == STEP_sendto && draw(round, 8)) {
		slot(m, 4 + draw(round, 2));
	} else if (draw(round, 3) == 0) {
		slot(m, before.slot);
	} else if (draw(round, 4)) {
		before.slot = 8 + draw(round, 6);
		slot(m, before.slot);
	} else {
		slot(m, draw(round, SLOTS));
	}
}

/* Chooses a socket or a pipe mostly. */
static void a_polled(struct making *m)
{
	if (draw(m->round, 6))
		slot(m, 4 + draw(m->round, 3));
	else
		a_descriptor(m);
}

static void a_directory(struct making *m)
{
	switch (draw(m->round, 8)) {
	case 0:
		slot(m, draw(m->round, SLOTS));
		break;
	case 1:
	case 2:
		slot(m, 1);
		break;
	case 3:
	case 4:
		set(m, AT_FDCWD);
		SAY(m, " cwd");
		break;
	default:
		slot(m, 0);
	}
}

static void a_name(struct making *m)
{
	bool shared = draw(m->round, 2);
	uint32_t which = draw(m->round, COUNT(names) + 1);

	if (draw(m->round, 2))
		which = draw(m->round, 13);
	if (draw(m->round, 50) == 0) {
		set(m, ONE_OF(m->round, 0, 8, -4096, 0x7ffffffff000));
		SAY(m, " bad-name");
		return;
	}
	set(m, (int64_t)((shared ? m->round->names_shared : m->round->names_ordinary) +
			 which * NAME_SIZE));
	if (which < COUNT(names))
		SAY(m, " \"%s\"%s", names[which], shared ? "~" : "");
	else
		SAY(m, " long-name");
	if (which == COUNT(names) && !shared)
		set(m, (int64_t)(m->round->names_shared + which * NAME_SIZE));
}

static bool is_no_call(uint32_t op)
{
	return op == STEP_count || op == STEP_crc32c || op == STEP_view_load ||
	       op == STEP_view_store;
}

static void a_buffer(struct making *m, bool filled)
{
	struct round *round = m->round;
	uint32_t place =
		draw(round, 4) ? draw(round, 4) * 16384 : draw(round, 8) * 8192 + draw(round, 5000);
	char *memory = round->shared;
	const char *what = "shared";

	if (draw(round, 3) == 0)
		place = before.place + (uint32_t)ONE_OF(round, 0, 0, 1, 100, 4095);
	else
		before.place = place;
	m->may_overrun = false;
	m->space = 16384;
	/* Operations that are no calls treat a bad address as a load does. */
	switch (draw(round, is_no_call(m->step->op) ? 4 : 16)) {
	case 0:
	case 1:
		memory = round->ordinary;
		what = "ordinary";
		break;
	case 4:
	case 15:
		memory = round->half;
		place = HALF - (uint32_t)ONE_OF(round, 1, 100, 4000, 4096, 4097, 8192, 0);
		what = "half";
		m->may_overrun = true;
		break;
	case 5:
		if (draw(round, 3))
			break;
		memory = filled ? round->read_only : round->ordinary;
		place = 0;
		what = filled ? "read-only" : "ordinary";
		break;
	case 6:
		if (draw(round, 3))
			break;
		memory = NULL;
		place = (uint32_t)ONE_OF(round, 0, 16, 4096);
		what = "nowhere";
		m->may_overrun = true;
		break;
	case 7:
		if (draw(round, 3))
			break;
		memory = (char *)-8192;
		place = 0;
		what = "kernel";
		m->may_overrun = true;
		break;
	}
	set(m, (int64_t)(memory + place));
	SAY(m, " %s+%u", what, place);
	if (memory == round->shared || memory == round->ordinary) {
		if (draw(round, 2))
			m->step->look = (uint64_t)(memory + place) & ~7ull;
	}
}

static void a_count(struct making *m)
{
	struct round *round = m->round;
	int64_t count = ONE_OF(round, 0, 1, 1, 7, 8, 100, 511, 512, 1024, 4095, 4096, 4096, 4096,
			       4097, 8192, 10000, 16384);

	if (m->may_overrun && draw(round, 3) == 0)
		count = ONE_OF(round, INT32_MAX, UINT32_MAX, -1, INT64_MIN, INT64_MAX, 0x7ffff000,
			       1 << 20);
	else if ((m->step->op == STEP_read || m->step->op == STEP_pread64) && draw(round, 60) == 0)
		count = -(int64_t)draw(round, 100000) - 1;
	set(m, count);
	SAY(m, " %lld", (long long)count);
	if (m->step->look) {
		m->step->look_len = count < 0 || count > 16384 ? 0 : (uint64_t)count;
		if (!m->step->look_len)
			m->step->look = 0;
	}
}

static void an_offset(struct making *m)
{
	struct round *round = m->round;
	int64_t offset;

	switch (before.offset < 0 || before.offset > FILE_LIMIT || draw(round, 3) ? draw(round, 8)
										  : 8) {
	case 8:
		offset = before.offset + ONE_OF(round, 0, 0, 1, 100, 4096);
		break;
	case 0:
		offset = draw(round, 140000);
		break;
	case 1:
		offset = -(int64_t)draw(round, 10000);
		break;
	case 2:
		if (!round->limited) {
			offset = FILE_LIMIT;
			break;
		}
		offset = ONE_OF(round, INT64_MAX, INT64_MIN, INT64_MAX - 4095, 1ll << 40,
				FILE_LIMIT - 1, FILE_LIMIT, 0xffffffff);
		break;
	case 3:
		offset = ONE_OF(round, 0, 1, 4095, 4097, 100, 12287);
		break;
	default:
		offset = 4096ll * draw(round, 12);
	}
	before.offset = offset;
	set(m, offset);
	SAY(m, " @%lld", (long long)offset);
}

static void a_length(struct making *m)
{
	int64_t length = ONE_OF(m->round, 0, 1, 100, 4095, 4096, 4097, 8192, 20000, 65536, 100000,
				FILE_LIMIT, -1, INT64_MAX);

	if (length > FILE_LIMIT && !m->round->limited)
		length = 0;
	set(m, length);
	SAY(m, " %lld", (long long)length);
}

static void a_value(struct making *m, int64_t value)
{
	set(m, value);
	SAY(m, " %#llx", (long long)value);
}

static int64_t open_flags(struct round *round)
{
	int64_t flags = ONE_OF(round, O_RDONLY, O_RDONLY, O_RDWR, O_RDWR, O_WRONLY, 3);
	static const int others[] = {
		O_APPEND, O_CREAT,   O_CREAT, O_EXCL, O_TRUNC, O_DIRECTORY, O_NOFOLLOW, O_CLOEXEC,
		O_DIRECT, O_NOATIME, O_PATH,  O_SYNC, O_DSYNC, O_TMPFILE,   1 << 30,
	};

	/* The tree has nothing but files and directories, so no open blocks. */
	for (uint32_t n = draw(round, 4); n > 1; n--)
		flags |= others[draw(round, COUNT(others))];
	return round->direct ? flags : flags & ~O_DIRECT;
}

/* Returns memory that a step's results go to; in the shared buffer or outside. */
static char *out(struct making *m)
{
	bool shared = draw(m->round, 3);

	SAY(m, shared ? " out~" : " out");
	return (shared ? m->round->out_shared : m->round->out_ordinary) + m->index * OUT;
}

static void an_out(struct making *m)
{
	/* The stand-in for scan_dir stores there by itself: a bad address would end it. */
	if (m->step->op == STEP_scan_dir) {
		set(m, (int64_t)out(m));
	} else if (draw(m->round, 50) == 0) {
		set(m, ONE_OF(m->round, 0, 8, -4096, 1ll << 47));
		SAY(m, " bad-out");
	} else if (draw(m->round, 50) == 0) {
		set(m, (int64_t)m->round->half_out);
		SAY(m, " half-out");
	} else {
		set(m, (int64_t)out(m));
	}
}

static void some_times(struct making *m)
{
	static const struct timespec these[][2] = {
		{ { 1000000000, 5 }, { 1100000000, 999999999 } },
		{ { 0, UTIME_NOW }, { 0, UTIME_OMIT } },
		{ { 4102444800, 0 }, { 4102444800, 0 } },
		{ { 1, 0 }, { 0, UTIME_NOW } },
		{ { 0, 1000000000 }, { 0, 0 } },
	};
	uint32_t which = draw(m->round, COUNT(these) + 1);

	set(m, which < COUNT(these) ? (int64_t)these[which] : 0);
	SAY(m, " times%u", which);
}

static void an_attribute(struct making *m)
{
	static const char *const these[] = {
		"security.capability",
		"system.posix_acl_access",
		"system.posix_acl_default",
		"security.selinux",
		"user.a",
		"user.b",
		"trusted.a",
		"user.",
		"none",
		"",
		"user.a-name-that-is-longer-than-what-the-specialised-version-has-room-for",
	};
	uint32_t which = draw(m->round, COUNT(these) + 1);

	set(m, which < COUNT(these) ? (int64_t)these[which] : -4096);
	SAY(m, " %s", which < COUNT(these) ? these[which] : "bad-attribute");
}

/* Chooses bytes for some arrivals, to be looked at as a_count's are. */
static void a_room(struct making *m)
{
	int64_t room = ONE_OF(m->round, 200, 1000, 4096, 8192);

	a_value(m, room);
	m->step->look_len = m->step->look ? (uint64_t)room : 0;
}

static void a_capacity(struct making *m)
{
	struct round *round = m->round;

	if (m->step->op == STEP_scan_dir)
		/* Room for one entry at least: see scans.c. */
		a_value(m, ONE_OF(round, OUT, OUT, 768));
	else if (m->step->op == STEP_scan_tree)
		a_value(m, ONE_OF(round, 1024, 1024, 1536, 2048, 4096, WALK_STREAM / 2, 1016, 0));
	else if (m->step->op == STEP_getdents64)
		a_value(m, ONE_OF(round, OUT, OUT, OUT, 512, 100, 24, 0));
	else if (m->step->op == STEP_epoll_read && draw(round, 6))
		a_room(m);
	else
		a_count(m);
}

/*
 * Chooses what a walk is asked for.  Of so few levels it opens none a second time: a walk that
 * comes back to directories by ".." has a test of its own (tests/vm/guest/scan_tree.c).
 */
static void a_walk(struct making *m)
{
	struct round *round = m->round;
	bool shared = draw(round, 3);
	struct walk *walk =
		&(shared ? round->walks_shared : round->walks_ordinary)[round->walk_count++];

	memset(walk, 0, sizeof(*walk));
	walk->tree.size = offsetof(struct walk, length);
	walk->tree.flags = (uint32_t)ONE_OF(round, 0, COSY_TREE_POST, COSY_TREE_CROSS,
					    COSY_TREE_POST | COSY_TREE_CROSS, COSY_TREE_POST, 8);
	walk->tree.max_depth = (uint32_t)ONE_OF(round, 1, 2, 3, COSY_TREE_OPEN + 1);
	set(m, (int64_t)walk);
	SAY(m, " walk%s flags %u depth %u", shared ? "~" : "", walk->tree.flags,
	    walk->tree.max_depth);
}

static void some_status_flags(struct making *m)
{
	struct round *round = m->round;

	if (draw(round, 2)) {
		a_value(m, F_GETFL);
		m->step->arg[2] = 0;
		return;
	}
	a_value(m, F_SETFL);
	m->step->arg[2] = ONE_OF(round, O_NONBLOCK, O_NONBLOCK | O_APPEND, O_NONBLOCK | O_NOATIME,
				 O_NONBLOCK | O_DIRECT);
	if (!round->direct)
		m->step->arg[2] &= ~O_DIRECT;
	SAY(m, " %#llx", (long long)m->step->arg[2]);
}

/* Returns a value for a letter that stands for one of a few numbers, good and bad ones. */
static int64_t value_of(struct round *round, char letter)
{
	switch (letter) {
	case 'w':
		return ONE_OF(round, SEEK_SET, SEEK_SET, SEEK_SET, SEEK_CUR, SEEK_CUR, SEEK_END,
			      SEEK_DATA, SEEK_HOLE, 7);
	case 'F':
		return open_flags(round);
	case 'Q':
		return open_flags(round) & ~(O_CREAT | O_TRUNC | O_TMPFILE);
	case 'm':
		return ONE_OF(round, 0644, 0600, 0777, 0, 0444, 022, 07777, 0311);
	case 'A':
		return ONE_OF(round, 0, 0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, AT_STATX_FORCE_SYNC,
			      AT_STATX_DONT_SYNC, 1);
	case 'M':
		return ONE_OF(round, 0x7ff, 0xfff, 0xfff, STATX_TYPE, STATX_SIZE, 0, 0x80000000);
	case 'v':
		return ONE_OF(round, 0, 0, 1, 8, 255, 256, 257, 4096, 65537);
	case 'a':
		return ONE_OF(round, 0, 0, 0, AT_SYMLINK_NOFOLLOW, AT_SYMLINK_NOFOLLOW,
			      AT_EMPTY_PATH, AT_NO_AUTOMOUNT, 1);
	case 'u':
		return ONE_OF(round, 0, 0, AT_REMOVEDIR, 1);
	case 'L':
		return ONE_OF(round, 0, AT_SYMLINK_FOLLOW, AT_EMPTY_PATH, 1);
	case 'R':
		return ONE_OF(round, 0, 1, 2, 3, 8);
	case 'P':
		return ONE_OF(round, 0, 1, 3, 3, 3, 0x10, 0x40);
	case 'r':
		return ONE_OF(round, 0, 1, 2, 4, 7, 8);
	case 'q':
		return ONE_OF(round, 0, 0, AT_SYMLINK_NOFOLLOW, AT_EACCESS, AT_EMPTY_PATH, 1);
	case 't':
		return FD_FIRST + draw(round, 50);
	case 'z':
		return ONE_OF(round, 1, 2, 4, 8);
	case 'K':
		return ONE_OF(round, 1, 2, 2, 3, 3, 3, 6, 6, 6, 8, 60, 0, 1025);
	case 'H':
		return ONE_OF(round, EPOLLIN, EPOLLIN, EPOLLIN | EPOLLET, EPOLLIN | EPOLLONESHOT,
			      EPOLLIN | EPOLLRDHUP, EPOLLIN | EPOLLOUT, EPOLLOUT) |
		       (draw(round, 4) ? POLL_READS : 0);
	case 'W':
		return draw(round, 2);
	case 'j':
		return ONE_OF(round, 0, 0, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_DONTROUTE);
	case 'N':
		return ONE_OF(round, 1, 2, 3, WALK_CALLS, WALK_CALLS);
	case 'i':
		return ONE_OF(round, 0, 10, 255, 77);
	case 'U':
		return ONE_OF(round, 0, 0, 65534, -1);
	case 'k':
		return ONE_OF(round, CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE,
			      CLOCK_BOOTTIME, CLOCK_REALTIME_COARSE, CLOCK_TAI, 99);
	default:
		fprintf(stderr, "steps.def: no argument is called '%c'\n", letter);
		abort();
	}
}

void argument_make(struct making *m, char letter)
{
	switch (letter) {
	case 'f':
		a_descriptor(m);
		break;
	case 'e':
		a_polled(m);
		break;
	case 'd':
		a_directory(m);
		break;
	case 'n':
		a_name(m);
		break;
	case 'b':
	case 's':
		a_buffer(m, letter == 'b');
		break;
	case 'c':
		a_capacity(m);
		break;
	case 'o':
		an_offset(m);
		break;
	case 'l':
		a_length(m);
		break;
	case 'S':
	case 'X':
	case 'D':
	case 'E':
		an_out(m);
		break;
	case 'G':
		a_walk(m);
		break;
	case 'x':
		an_attribute(m);
		break;
	case 'T':
		some_times(m);
		break;
	case 'g':
		some_status_flags(m);
		break;
	case '0':
		break;
	default:
		a_value(m, value_of(m->round, letter));
		break;
	}
}
