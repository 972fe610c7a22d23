# SPDX-License-Identifier: MIT
"""Marks of rsync.

Its sender asks for the attributes of each name that it reads from a directory, and the receiver's
side for those of each name of the list.  The marked one reads up to 64 names first, and asks for
theirs in one region; on the receiver's side only when nothing is changed, as with -n.
"""

from __future__ import annotations

from packages.edit import Edit, after, before

_AHEAD = r"""
#define AHEAD 64

/* Names whose attributes are wanted next, in this order. */
static struct {
	int count, next;
	int name[AHEAD];
	int failed[AHEAD];
	STRUCT_STAT st[AHEAD];
	int used;
	char space[32 << 10];
} ahead;

void ahead_clear(void)
{
	ahead.count = ahead.next = ahead.used = 0;
}

/* Adds a name.  Returns whether another one has room. */
int ahead_add(const char *path)
{
	int size = strlen(path) + 1;

	memcpy(ahead.space + ahead.used, path, size);
	ahead.name[ahead.count++] = ahead.used;
	ahead.used += size;
	return ahead.count < AHEAD && ahead.used + MAXPATHLEN < (int)sizeof ahead.space;
}

void ahead_ask(void)
{
	if (copy_links || am_root < 0) {
		ahead.next = ahead.count;
		return;
	}
	COSY_START;
	for (int i = 0; i < ahead.count; i++)
		ahead.failed[i] = lstat(ahead.space + ahead.name[i], &ahead.st[i]) ? errno : 0;
	COSY_END;
}

static int ahead_lstat(const char *path, STRUCT_STAT *stp)
{
	for (int i = ahead.next; i < ahead.count; i++) {
		if (strcmp(ahead.space + ahead.name[i], path) != 0)
			continue;
		ahead.next = i + 1;
		*stp = ahead.st[i];
		errno = ahead.failed[i];
		return errno ? -1 : 0;
	}
	return x_lstat(path, stp, NULL);
}

"""

EDITS = (
    before("flist.c", '#include "rsync.h"\n', "#include <cosy/cosy.h>\n"),
    before("flist.c", "/* Stat either a symlink or its referent,", _AHEAD.lstrip("\n")),
    Edit(
        "flist.c",
        "		return x_stat(path, stp, NULL);\n	if (x_lstat(path, stp, NULL) < 0)\n		return -1;\n",
        "		return x_stat(path, stp, NULL);\n	if (ahead_lstat(path, stp) < 0)\n		return -1;\n",
    ),
    before(
        "flist.c",
        "/* This function is normally called by the sender, but the receiving side also\n",
        """static void send_ahead(int f, struct file_list *flist, int flags, int filter_level)
{
	ahead_ask();
	for (int i = 0; i < ahead.count; i++)
		send_file_name(f, flist, ahead.space + ahead.name[i], NULL, flags, filter_level);
	ahead_clear();
}

""",
    ),
    before(
        "flist.c", "	for (errno = 0, di = readdir(d); di; errno = 0, di = readdir(d)) {\n", "	ahead_clear();\n"
    ),
    Edit(
        "flist.c",
        "		send_file_name(f, flist, fbuf, NULL, flags, filter_level);\n"
        "	}\n\n	fbuf[len] = '\\0';\n\n	if (errno) {\n",
        "		if (!ahead_add(fbuf))\n"
        "			send_ahead(f, flist, flags, filter_level);\n"
        "	}\n\n	fbuf[len] = '\\0';\n\n	if (errno) {\n",
    ),
    before(
        "flist.c",
        "	closedir(d);\n\n	if (f >= 0 && recurse && !divert_dirs) {\n",
        "	send_ahead(f, flist, flags, filter_level);\n",
    ),
    after("generator.c", "	int i, ndx, next_loopchk = 0;\n", "	int ahead = -1;\n"),
    Edit(
        "generator.c",
        "		for (i = cur_flist->low; i <= cur_flist->high; i++) {\n"
        "			struct file_struct *file = cur_flist->sorted[i];\n\n"
        "			if (!F_IS_ACTIVE(file))\n				continue;\n\n"
        "			if (unsort_ndx)\n",
        "		for (i = ahead = cur_flist->low; i <= cur_flist->high; i++) {\n"
        "			struct file_struct *file = cur_flist->sorted[i];\n\n"
        "			if (!F_IS_ACTIVE(file))\n				continue;\n\n"
        "			if (dry_run == 1 && !solo_file && i >= ahead) {\n"
        "				int room = 1;\n\n"
        "				ahead_clear();\n"
        "				for (ahead = i; room && ahead <= cur_flist->high; ahead++)\n"
        "					if (F_IS_ACTIVE(cur_flist->sorted[ahead]))\n"
        "						room = ahead_add(f_name(cur_flist->sorted[ahead], fbuf));\n"
        "				ahead_ask();\n"
        "			}\n\n"
        "			if (unsort_ndx)\n",
    ),
)
