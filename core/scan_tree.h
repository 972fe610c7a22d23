/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * scan_tree.h - the walk of the operation scan_tree, for the module and libcosy alike.
 *
 * A walk is all in its struct cosy_tree (<linux/cosy.h>), which is the user's memory: a few
 * members, and above them a stack.  For each directory from the first one down to the one at hand
 * the stack has a struct tree_level and then the names of the directories in it, those that are
 * done and those that are not, each as its length, a byte, and the name with its NUL:
 *
 *	tree | level, names | level, names | ...		^top
 *
 * The walk is a sequence of steps, each of which makes one system call or none and notes what it
 * has done.  Between two steps, and in one whose call is to be restarted, it may be left: the
 * module or the interpreter finds all that it needs to continue in the structure.
 *
 * Nothing in it is trusted.  A forged structure leads only to system calls that its owner could
 * make anyway, and to memory accesses with the usual checks.  No step loops by a number in the
 * structure.
 *
 * The includer defines, for a `struct tree_host` of its own:
 *
 *	bool TREE_GET(host, void *to, u64 from, u32 bytes)	 from the user's memory; false: it
 *	bool TREE_PUT(host, u64 to, const void *from, u32 bytes) cannot be reached
 *	s64 TREE_CALL(host, u32 number, u64 a, u64 b, u64 c, u64 d)
 *	s64 TREE_LIST(host, s32 fd, u64 to, u64 size, u32 flags, u64 *left)
 *			scan_dir, once; *left: bytes at the end that are not examined yet
 *	s64 TREE_EXAMINE(host, s32 fd, u64 to, u64 *left)	 goes on with those, at `to`
 *	s64 TREE_FIND(host, u64 from, u64 bytes, u64 portion)
 *			returns the offset of the first entry that may be a directory, or of the
 *			first that is not in the portion, or of the end; an error for an invalid
 *			entry
 *	bool TREE_LEAVES(host)	 tells whether the last call is to be restarted
 *	bool TREE_PAUSES(host)	 tells, between two steps, whether the walk has to be left
 *	void TREE_STAY(host)	 ends the operation with an error instead, whatever those two say
 */
#ifndef COSY_SCAN_TREE_H
#define COSY_SCAN_TREE_H

#include "core.h"

#define TREE_OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Bytes of the longest name, without its NUL. */
#define TREE_MAX_NAME 255
/* Bytes of the largest entry. */
#define TREE_MAX_ENTRY 440
/* Bytes of entries, at least, that a step searches; those that a walk says it has may be many. */
#define TREE_PORTION 32768
/* Bytes of an entry before `stat`. */
#define TREE_ENTRY_HEAD offsetof(struct cosy_dirent, stat)
/* Bytes of struct cosy_tree that a call copies, and writes back at its end. */
#define TREE_HEAD offsetof(struct cosy_tree, stat)

enum tree_step {
	TREE_STEP_START,
	TREE_STEP_ENTER,   /* ask what the directory at hand is, and tell */
	TREE_STEP_LIST,	   /* list entries of it */
	TREE_STEP_EXAMINE, /* examine those that are left */
	TREE_STEP_COLLECT, /* look for directories among them */
	TREE_STEP_NEXT,	   /* go into the next directory in it, if there is one */
	TREE_STEP_SHED,	   /* close one that is not needed for long */
	TREE_STEP_OPEN,
	TREE_STEP_FAILED, /* tell that one failed */
	TREE_STEP_LEAVE,  /* tell that the one at hand is done */
	TREE_STEP_BACK,	  /* open the one that it is in again */
	TREE_STEP_CHECK,  /* is that the one? */
	TREE_STEP_DROP,	  /* no: close it */
	TREE_STEP_LOST,	  /* tell so */
	TREE_STEP_CLOSE,  /* close the one at hand, and go back to the one that it is in */
	TREE_STEP_QUIT,	  /* close one after the other */
	TREE_STEP_END,
};

struct tree_level {
	u64 device, inode;
	s32 fd;	       /* -1: closed meanwhile */
	u32 depth;     /* 0: the first directory */
	u32 below;     /* offset of the level that this one is in */
	u32 above;     /* ... and of the one in it that the walk is in */
	u32 name;      /* offset of its name; 0: the first directory */
	u32 next, end; /* offsets: names that are not done yet */
	u32 pad;
};

struct tree_walk {
	struct tree_host *host;
	u64 at;		    /* the user's address of the structure */
	u64 buffer, size;   /* of the call */
	struct cosy_tree t; /* its head */
	struct tree_level here;
	s64 result; /* when a step ends the call */
};

/* Ends the call with `result`, for `return tree_ends(...)`. */
static bool tree_ends(struct tree_walk *w, s64 result)
{
	w->result = result;
	return false;
}

static u32 tree_align(u32 offset)
{
	return (offset + 7) & ~7u;
}

/* --- Memory ------------------------------------------------------------------------------ */

static bool tree_reaches(const struct tree_walk *w, u32 offset, u32 bytes)
{
	return offset >= sizeof(w->t) && offset <= w->t.size && bytes <= w->t.size - offset;
}

static s64 tree_level_get(const struct tree_walk *w, u32 offset, struct tree_level *ret)
{
	if (!tree_reaches(w, offset, sizeof(*ret)))
		return -EINVAL;
	return TREE_GET(w->host, ret, w->at + offset, sizeof(*ret)) ? 0 : -EFAULT;
}

static bool tree_level_put(const struct tree_walk *w, u32 offset, const struct tree_level *from)
{
	return tree_reaches(w, offset, sizeof(*from)) &&
	       TREE_PUT(w->host, w->at + offset, from, sizeof(*from));
}

/* Gets the name at `offset`, with its NUL.  Returns its length, or -1. */
static s32 tree_name_get(const struct tree_walk *w, u32 offset, u8 *to)
{
	u8 length;

	if (!offset) {
		to[0] = '.';
		to[1] = 0;
		return 1;
	}
	if (!tree_reaches(w, offset, 1) || !TREE_GET(w->host, &length, w->at + offset, 1) ||
	    !tree_reaches(w, offset + 1, length) ||
	    !TREE_GET(w->host, to, w->at + offset + 1, length))
		return -1;
	to[length] = 0;
	return length;
}

/* Returns where the next entry goes, if there is room for it. */
static u64 tree_place(const struct tree_walk *w)
{
	return w->buffer + w->t.done;
}

/* Returns whether the call ends here, since the buffer has no room for any entry. */
static bool tree_is_full(struct tree_walk *w)
{
	if (w->size - w->t.done >= TREE_MAX_ENTRY)
		return false;
	w->result = w->t.done;
	return true;
}

/*
 * Writes an entry of `kind` at `to`, where there is room; its `stat` is there already if it is
 * COSY_TREE_ENTER.  False: the memory cannot be reached.
 */
static bool tree_tell(struct tree_walk *w, u64 to, u32 kind, s32 error, u32 name, u32 depth,
		      u64 ino)
{
	static const u64 zeros[18];
	u64 words[TREE_MAX_NAME / 8 + 1];
	struct cosy_dirent head = {.ino = ino, .off = depth, .type = 4 /* DT_DIR */};
	s32 length;
	u32 bytes;

	length = tree_name_get(w, name, (u8 *)words);
	if (length < 0)
		return false;
	for (bytes = length + 1; bytes & 7; bytes++)
		((u8 *)words)[bytes] = 0;
	head.kind = kind;
	head.error = error;
	head.reclen = sizeof(head) + bytes;
	if (!TREE_PUT(w->host, to, &head, TREE_ENTRY_HEAD) ||
	    (kind != COSY_TREE_ENTER &&
	     !TREE_PUT(w->host, to + TREE_ENTRY_HEAD, zeros, sizeof(zeros))) ||
	    !TREE_PUT(w->host, to + sizeof(head), words, bytes))
		return false;
	w->t.done += head.reclen;
	/* It is none of the entries to be searched. */
	w->t.seen = w->t.done;
	return true;
}

/* --- Going in ---------------------------------------------------------------------------- */

static bool tree_start(struct tree_walk *w)
{
	w->t.level = sizeof(w->t);
	w->t.top = w->t.level + sizeof(w->here);
	w->t.kept = w->t.open = 0;
	w->t.fd = -1;
	w->t.done = w->t.seen = w->t.left = 0;
	memset(w->t.empty, 0, sizeof(w->t.empty));
	memcpy(w->t.up, "..", 3);
	memset(&w->here, 0, sizeof(w->here));
	w->here.fd = w->t.dirfd;
	w->here.next = w->here.end = w->t.top;
	w->t.step = TREE_STEP_ENTER;
	/* Calls take names from there. */
	return TREE_PUT(w->host, w->at, &w->t, TREE_HEAD) || tree_ends(w, -EFAULT);
}

/* Makes newfstatat of what is open as `fd`.  0 with its device and inode, or an error. */
static s64 tree_identify(struct tree_walk *w, s32 fd, u64 to, u64 *identity)
{
	s64 error = TREE_CALL(w->host, COSY_NR_newfstatat, (u32)fd,
			      w->at + offsetof(struct cosy_tree, empty), to, AT_EMPTY_PATH);

	if (!error && !TREE_GET(w->host, identity, to, 2 * sizeof(*identity)))
		error = -EFAULT;
	return error;
}

static bool tree_enter(struct tree_walk *w)
{
	u64 to = tree_place(w), identity[2];
	s64 error;

	if (tree_is_full(w))
		return false;
	error = tree_identify(w, w->here.fd, to + TREE_ENTRY_HEAD, identity);
	if (TREE_LEAVES(w->host))
		return false;
	if (!w->here.name) {
		if (error) {
			w->t.step = TREE_STEP_START;
			return tree_ends(w, error);
		}
		w->t.device = identity[0];
	}
	if (!error && identity[0] != w->t.device && !(w->t.flags & COSY_TREE_CROSS))
		error = -EXDEV;
	if (error) {
		w->t.step = TREE_STEP_CLOSE;
		return tree_tell(w, to, COSY_TREE_FAILED, error, w->here.name, w->here.depth, 0) ||
		       tree_ends(w, -EFAULT);
	}
	w->here.device = identity[0];
	w->here.inode = identity[1];
	w->t.step = TREE_STEP_LIST;
	return tree_tell(w, to, COSY_TREE_ENTER, 0, w->here.name, w->here.depth, w->here.inode) ||
	       tree_ends(w, -EFAULT);
}

static bool tree_list(struct tree_walk *w)
{
	u64 to = tree_place(w);
	s64 bytes;

	if (tree_is_full(w))
		return false;
	bytes = TREE_LIST(w->host, w->here.fd, to, w->size - w->t.done, w->t.flags, &w->t.left);
	if (bytes > 0) {
		w->t.seen = w->t.done;
		w->t.done += bytes;
		w->t.step = w->t.left ? TREE_STEP_EXAMINE : TREE_STEP_COLLECT;
	}
	if (TREE_LEAVES(w->host))
		return false;
	if (bytes < 0) {
		w->t.error = bytes;
		w->t.name = w->here.name;
		w->t.depth = w->here.depth;
		w->t.step = TREE_STEP_FAILED;
	} else if (!bytes) {
		w->t.step = TREE_STEP_NEXT;
	}
	return true;
}

static bool tree_examine(struct tree_walk *w)
{
	s64 error;

	if (w->t.left > w->t.done)
		return tree_ends(w, -EINVAL);
	error = TREE_EXAMINE(w->host, w->here.fd, w->buffer + w->t.done - w->t.left, &w->t.left);
	if (TREE_LEAVES(w->host))
		return false;
	w->t.left = 0;
	w->t.step = TREE_STEP_COLLECT;
	return error >= 0 || tree_ends(w, error);
}

/* Members of an entry that say whether the walk is to go there. */
struct tree_entry {
	u16 reclen;
	u8 type, kind;
	s32 error;
	u64 stat[4];
};

/* Returns whether an entry is a directory that the walk goes into, if its name is no dots. */
static bool tree_goes_into(const struct tree_walk *w, const struct tree_entry *entry)
{
	if (entry->error)
		return entry->type == 4 /* DT_DIR */;
	return ((u32)entry->stat[3] & 0170000) == 0040000 /* S_IFDIR */ &&
	       (entry->stat[0] == w->t.device || (w->t.flags & COSY_TREE_CROSS));
}

/* Notes a name of `max` bytes at most, with its NUL.  0, or an error. */
static s64 tree_collect_name(struct tree_walk *w, u64 from, u32 max)
{
	u8 name[TREE_MAX_NAME + 2];
	u32 length;

	if (max > TREE_MAX_NAME + 1)
		max = TREE_MAX_NAME + 1;
	if (!TREE_GET(w->host, name + 1, from, max))
		return -EFAULT;
	for (length = 0; length < max && name[1 + length]; length++)
		;
	if (!length || length == max || (length == 1 && name[1] == '.') ||
	    (length == 2 && name[1] == '.' && name[2] == '.'))
		return 0;
	if (!tree_reaches(w, w->t.top, length + 2))
		return -ENOBUFS;
	name[0] = length;
	if (!TREE_PUT(w->host, w->at + w->t.top, name, length + 2))
		return -EFAULT;
	w->t.top += length + 2;
	w->here.end = w->t.top;
	return 0;
}

static bool tree_collect(struct tree_walk *w)
{
	struct tree_entry entry;
	u64 at, first;
	s64 result;

	if (w->t.max_depth && w->here.depth + 1 >= w->t.max_depth)
		w->t.seen = w->t.done;
	for (first = w->t.seen; w->t.seen < w->t.done;) {
		if (w->t.seen - first >= TREE_PORTION)
			return true;
		result = TREE_FIND(w->host, w->buffer + w->t.seen, w->t.done - w->t.seen,
				   TREE_PORTION);
		if (result < 0)
			return tree_ends(w, result);
		w->t.seen += result;
		if (w->t.seen >= w->t.done)
			break;
		at = w->buffer + w->t.seen;
		if (!TREE_GET(w->host, &entry, at + offsetof(struct cosy_dirent, reclen),
			      sizeof(entry)))
			return tree_ends(w, -EFAULT);
		/* The user may have changed it since. */
		if (entry.reclen < sizeof(struct cosy_dirent) + 8 || entry.reclen % 8 ||
		    entry.reclen > w->t.done - w->t.seen)
			return tree_ends(w, -EINVAL);
		if (tree_goes_into(w, &entry)) {
			result = tree_collect_name(w, at + sizeof(struct cosy_dirent),
						   entry.reclen - sizeof(struct cosy_dirent));
			if (result)
				return tree_ends(w, result);
		}
		w->t.seen += entry.reclen;
	}
	w->t.step = TREE_STEP_LIST;
	return true;
}

static bool tree_next(struct tree_walk *w)
{
	if (w->here.next >= w->here.end)
		w->t.step = TREE_STEP_LEAVE;
	else if (w->t.open >= COSY_TREE_OPEN)
		w->t.step = TREE_STEP_SHED;
	else
		w->t.step = TREE_STEP_OPEN;
	return true;
}

static bool tree_shed(struct tree_walk *w)
{
	struct tree_level level;
	s64 error = w->t.kept == w->t.level ? -EINVAL : tree_level_get(w, w->t.kept, &level);

	if (error)
		return tree_ends(w, error);
	/* close is never restarted. */
	if (level.fd >= 0)
		TREE_CALL(w->host, COSY_NR_close, (u32)level.fd, 0, 0, 0);
	level.fd = -1;
	if (!tree_level_put(w, w->t.kept, &level))
		return tree_ends(w, -EFAULT);
	w->t.kept = level.above;
	w->t.open--;
	w->t.step = TREE_STEP_OPEN;
	return true;
}

/* Makes the directory that was opened as `fd` the one at hand. */
static bool tree_push(struct tree_walk *w, s32 fd, u32 name)
{
	u32 offset = tree_align(w->t.top);

	w->here.above = offset;
	if (!tree_level_put(w, w->t.level, &w->here))
		return tree_ends(w, -EFAULT);
	w->here = (struct tree_level){
		.fd = fd,
		.depth = w->here.depth + 1,
		.below = w->t.level,
		.name = name,
	};
	if (!w->t.open++)
		w->t.kept = offset;
	w->t.level = offset;
	w->t.top = offset + sizeof(w->here);
	w->here.next = w->here.end = w->t.top;
	w->t.step = TREE_STEP_ENTER;
	return true;
}

static bool tree_open(struct tree_walk *w)
{
	u32 name = w->here.next;
	u8 length;
	s64 fd;

	if (!tree_reaches(w, tree_align(w->t.top), sizeof(w->here)))
		return tree_ends(w, -ENOBUFS);
	if (!tree_reaches(w, name, 1) || !TREE_GET(w->host, &length, w->at + name, 1))
		return tree_ends(w, -EFAULT);
	fd = TREE_CALL(w->host, COSY_NR_openat, (u32)w->here.fd, w->at + name + 1, TREE_OPEN_FLAGS,
		       0);
	if (TREE_LEAVES(w->host))
		return false;
	w->here.next = name + length + 2;
	if (fd >= 0)
		return tree_push(w, fd, name);
	w->t.error = fd;
	w->t.name = name;
	w->t.depth = w->here.depth + 1;
	w->t.step = TREE_STEP_FAILED;
	return true;
}

static bool tree_failed(struct tree_walk *w)
{
	u64 to = tree_place(w);

	if (tree_is_full(w))
		return false;
	w->t.step = TREE_STEP_NEXT;
	return tree_tell(w, to, COSY_TREE_FAILED, w->t.error, w->t.name, w->t.depth, 0) ||
	       tree_ends(w, -EFAULT);
}

/* --- Coming back ------------------------------------------------------------------------- */

static bool tree_leave(struct tree_walk *w)
{
	u64 to;

	if (w->t.flags & COSY_TREE_POST) {
		to = tree_place(w);
		if (tree_is_full(w))
			return false;
		if (!tree_tell(w, to, COSY_TREE_LEAVE, 0, w->here.name, w->here.depth,
			       w->here.inode))
			return tree_ends(w, -EFAULT);
	}
	w->t.step = w->here.name ? TREE_STEP_BACK : TREE_STEP_END;
	return true;
}

static bool tree_back(struct tree_walk *w)
{
	struct tree_level below;
	s64 fd, error = tree_level_get(w, w->here.below, &below);

	if (error)
		return tree_ends(w, error);
	w->t.step = TREE_STEP_CLOSE;
	if (below.fd >= 0)
		return true;
	fd = TREE_CALL(w->host, COSY_NR_openat, (u32)w->here.fd,
		       w->at + offsetof(struct cosy_tree, up), TREE_OPEN_FLAGS, 0);
	if (TREE_LEAVES(w->host)) {
		w->t.step = TREE_STEP_BACK;
		return false;
	}
	if (fd >= 0) {
		w->t.fd = fd;
		w->t.step = TREE_STEP_CHECK;
	} else {
		w->t.error = w->here.fd < 0 ? -ESTALE : fd;
		w->t.step = TREE_STEP_LOST;
	}
	return true;
}

static bool tree_check(struct tree_walk *w)
{
	struct tree_level below;
	u64 identity[2];
	s64 error, lost;

	error = tree_identify(w, w->t.fd, w->at + offsetof(struct cosy_tree, stat), identity);
	if (TREE_LEAVES(w->host))
		return false;
	lost = tree_level_get(w, w->here.below, &below);
	if (lost)
		return tree_ends(w, lost);
	if (error || identity[0] != below.device || identity[1] != below.inode) {
		w->t.error = error ? error : -ESTALE;
		w->t.step = TREE_STEP_DROP;
		return true;
	}
	below.fd = w->t.fd;
	w->t.fd = -1;
	w->t.kept = w->here.below;
	w->t.open++;
	w->t.step = TREE_STEP_CLOSE;
	return tree_level_put(w, w->here.below, &below) || tree_ends(w, -EFAULT);
}

static bool tree_drop(struct tree_walk *w)
{
	TREE_CALL(w->host, COSY_NR_close, (u32)w->t.fd, 0, 0, 0);
	w->t.fd = -1;
	w->t.step = TREE_STEP_LOST;
	return true;
}

/* Tells that the directory which this one is in is lost, with the directories in it. */
static bool tree_lost(struct tree_walk *w)
{
	struct tree_level below;
	u64 to = tree_place(w);
	s64 error;

	if (tree_is_full(w))
		return false;
	error = tree_level_get(w, w->here.below, &below);
	if (error)
		return tree_ends(w, error);
	below.next = below.end;
	w->t.step = TREE_STEP_CLOSE;
	return (tree_level_put(w, w->here.below, &below) &&
		tree_tell(w, to, COSY_TREE_FAILED, w->t.error, below.name, below.depth,
			  below.inode)) ||
	       tree_ends(w, -EFAULT);
}

/* Closes the directory at hand, and goes back to the one that it is in. */
static bool tree_pop(struct tree_walk *w)
{
	s64 error;

	if (w->here.fd >= 0) {
		TREE_CALL(w->host, COSY_NR_close, (u32)w->here.fd, 0, 0, 0);
		w->t.open--;
	}
	w->here.fd = -1;
	w->t.top = w->t.level;
	w->t.level = w->here.below;
	error = tree_level_get(w, w->t.level, &w->here);
	return !error || tree_ends(w, error);
}

static bool tree_close(struct tree_walk *w)
{
	w->t.step = TREE_STEP_NEXT;
	return tree_pop(w);
}

static bool tree_quit(struct tree_walk *w)
{
	if (w->t.fd >= 0) {
		tree_drop(w);
		w->t.step = TREE_STEP_QUIT;
		return true;
	}
	if (w->here.name)
		return tree_pop(w);
	w->t.step = TREE_STEP_END;
	w->t.done = 0;
	return true;
}

/* --- The call ---------------------------------------------------------------------------- */

/* Makes one step.  False: the call ends with w->result, or is left. */
static bool tree_make_step(struct tree_walk *w)
{
	switch (w->t.step) {
	case TREE_STEP_START:
		return tree_start(w);
	case TREE_STEP_ENTER:
		return tree_enter(w);
	case TREE_STEP_LIST:
		return tree_list(w);
	case TREE_STEP_EXAMINE:
		return tree_examine(w);
	case TREE_STEP_COLLECT:
		return tree_collect(w);
	case TREE_STEP_NEXT:
		return tree_next(w);
	case TREE_STEP_SHED:
		return tree_shed(w);
	case TREE_STEP_OPEN:
		return tree_open(w);
	case TREE_STEP_FAILED:
		return tree_failed(w);
	case TREE_STEP_LEAVE:
		return tree_leave(w);
	case TREE_STEP_BACK:
		return tree_back(w);
	case TREE_STEP_CHECK:
		return tree_check(w);
	case TREE_STEP_DROP:
		return tree_drop(w);
	case TREE_STEP_LOST:
		return tree_lost(w);
	case TREE_STEP_CLOSE:
		return tree_close(w);
	case TREE_STEP_QUIT:
		return tree_quit(w);
	case TREE_STEP_END:
		return tree_ends(w, w->t.done);
	default:
		return tree_ends(w, -EINVAL);
	}
}

/* Gets the head of the structure, and the level at hand.  0, or an error. */
static s64 tree_load(struct tree_walk *w)
{
	if (!TREE_GET(w->host, &w->t, w->at, TREE_HEAD))
		return -EFAULT;
	if (w->t.size < COSY_TREE_MIN_SIZE || w->t.size > 1u << 30 ||
	    w->t.flags & ~(COSY_TREE_POST | COSY_TREE_CROSS | COSY_TREE_UNORDERED))
		return -EINVAL;
	if (w->size && (w->size < COSY_TREE_MIN_BUFFER || w->t.done > w->size))
		return -EINVAL;
	if (w->t.step == TREE_STEP_START) {
		if (!w->size)
			w->t.step = TREE_STEP_END;
		return 0;
	}
	if (!w->size && w->t.step != TREE_STEP_END)
		w->t.step = TREE_STEP_QUIT;
	return tree_level_get(w, w->t.level, &w->here);
}

/* Notes how far the walk has come. */
static bool tree_store(struct tree_walk *w)
{
	if (w->t.level && !tree_level_put(w, w->t.level, &w->here))
		return false;
	return TREE_PUT(w->host, w->at, &w->t, TREE_HEAD);
}

/*
 * Makes one call of scan_tree: steps until the buffer is full, the walk is at its end, or it has
 * to be left.
 */
static s64 tree_scan(struct tree_host *host, u64 tree, u64 buffer, u64 size)
{
	struct tree_walk w = {.host = host, .at = tree, .buffer = buffer, .size = size};
	s64 error = tree_load(&w);

	if (error)
		return error;
	while (tree_make_step(&w) && !TREE_PAUSES(host))
		;
	if (w.result >= 0 && !TREE_LEAVES(host))
		w.t.done = w.t.seen = w.t.left = 0;
	if (tree_store(&w))
		return w.result;
	/* Do not leave: the walk is not noted in `tree`, so going on would repeat calls. */
	TREE_STAY(host);
	return -EFAULT;
}

#endif /* COSY_SCAN_TREE_H */
