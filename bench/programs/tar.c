// SPDX-License-Identifier: MIT
/*
 * tar.c - tar cf - --format=ustar --numeric-owner: makes the archive of a tree without hard links.
 */
#include "programs.h"

#define RECORD 10240

struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
	char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};

static char path[PATHS], record[RECORD];
static size_t filled;

static int flush(void)
{
	ssize_t wrote = write(1, record, RECORD);

	filled = 0;
	return wrote == RECORD ? 0 : -1;
}

static void octal(char *to, int digits, unsigned long value)
{
	for (to[digits] = 0; digits--; value >>= 3)
		to[digits] = (char)('0' + (value & 7));
}

/* Writes the path, in two parts if it is too long for one. */
static int header_name(struct header *to, size_t length)
{
	size_t cut = 0;

	if (length <= sizeof(to->name)) {
		memcpy(to->name, path, length);
		return 0;
	}
	/* Take the longest prefix that leaves a name, as tar does. */
	for (size_t i = length - 2 > sizeof(to->prefix) ? sizeof(to->prefix) : length - 2; i; i--) {
		if (path[i] == '/') {
			cut = i;
			break;
		}
	}
	if (!cut || length - cut - 1 > sizeof(to->name))
		return -1;
	memcpy(to->prefix, path, cut);
	memcpy(to->name, path + cut + 1, length - cut - 1);
	return 0;
}

static int header_put(const struct stat *st, size_t length, char type, int dir, const char *name)
{
	struct header *to = (struct header *)(record + filled);
	unsigned long sum = 0;

	memset(to, 0, sizeof(*to));
	if (header_name(to, length))
		return -1;
	octal(to->mode, 7, st->st_mode & 07777);
	octal(to->uid, 7, st->st_uid);
	octal(to->gid, 7, st->st_gid);
	octal(to->size, 11, type == '0' ? (unsigned long)st->st_size : 0);
	octal(to->mtime, 11, (unsigned long)st->st_mtime);
	memset(to->checksum, ' ', sizeof(to->checksum));
	to->type = type;
	if (type == '2' && readlinkat(dir, name, to->link, sizeof(to->link)) < 0)
		return -1;
	memcpy(to->magic, "ustar", 6);
	memset(to->version, '0', 2);
	octal(to->major, 7, 0);
	octal(to->minor, 7, 0);
	for (size_t i = 0; i < sizeof(*to); i++)
		sum += (unsigned char)record[filled + i];
	octal(to->checksum, 6, sum);
	filled += sizeof(*to);
	return filled == RECORD ? flush() : 0;
}

/* Writes the bytes of an open file, and zeros up to a whole block. */
static int content_put(int fd, long size)
{
	while (size > 0) {
		size_t room = RECORD - filled;
		ssize_t len = read(fd, record + filled, (size_t)size < room ? (size_t)size : room);

		if (len <= 0)
			return -1;
		filled += (size_t)len;
		size -= len;
		if (!size && filled % 512) {
			memset(record + filled, 0, 512 - filled % 512);
			filled += 512 - filled % 512;
		}
		if (filled == RECORD && flush())
			return -1;
	}
	return 0;
}

static int below(int dir, size_t length);

static int entry_put(int dir, const char *name, size_t length)
{
	struct stat st;
	int fd, failed;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (S_ISLNK(st.st_mode))
		return header_put(&st, length, '2', dir, name);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	if (S_ISDIR(st.st_mode)) {
		path[length] = '/';
		failed = header_put(&st, length + 1, '5', dir, name);
		failed = failed || below(fd, length);
	} else {
		failed = header_put(&st, length, '0', dir, name);
		failed = failed || content_put(fd, st.st_size);
	}
	close(fd);
	return failed;
}

static int below(int dir, size_t length)
{
	char names[NAMES] __attribute__((aligned(16)));
	ssize_t len;

	while ((len = getdents64(dir, names, NAMES)) > 0) {
		for (ssize_t at = 0; at < len;) {
			struct dirent64 *d = (struct dirent64 *)(names + at);
			size_t end;

			at += d->d_reclen;
			if (is_dots(d->d_name))
				continue;
			end = path_add(path, length, d->d_name);
			if (!end || entry_put(dir, d->d_name, end))
				return -1;
		}
	}
	return (int)len;
}

int main(int argc, char **argv)
{
	const char *tree = argc > 1 ? argv[1] : ".";
	int failed;

	if (strlen(tree) + 2 > PATHS)
		program_fail(tree);
	strcpy(path, tree);
	COSY_START;
	failed = entry_put(AT_FDCWD, tree, strlen(tree));
	/* Write two blocks of zeros, and whole records. */
	for (int i = 0; i < 2 && !failed; i++) {
		memset(record + filled, 0, 512);
		filled += 512;
		if (filled == RECORD)
			failed = flush();
	}
	if (!failed && filled) {
		memset(record + filled, 0, RECORD - filled);
		failed = flush();
	}
	COSY_END;
	if (failed)
		program_fail(tree);
	return 0;
}
