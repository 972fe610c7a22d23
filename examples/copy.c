/* SPDX-License-Identifier: MIT */
/*
 * copy FROM TO: copy a file, or every regular file of a tree.
 *
 * The copy program of HotOS IX section 2.4 and FSL-02-01 section 2.7, with the
 * error handling that they leave out.  One marked region per file: in plain C
 * each file crosses into the kernel at least six times, as a compound once.
 */
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *from_root, *to_root;
static long files, bytes;

/* Returns the bytes copied, or -1 with errno set and no half-written file left. */
static long copy_file(const char *from, const char *to, mode_t mode)
{
	char buf[4096];
	long total = 0;
	int err = 0;

	COSY_START;
	int in = open(from, O_RDONLY);
	if (in < 0)
		return -1;
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, mode);
	if (out < 0) {
		err = errno;
		close(in);
		errno = err;
		return -1;
	}
	for (;;) {
		ssize_t n = read(in, buf, sizeof(buf));
		if (n == 0)
			break;
		if (n < 0) {
			err = errno;
			break;
		}
		ssize_t done = 0;
		while (done < n) {
			ssize_t w = write(out, buf + done, n - done);
			if (w < 0) {
				err = errno;
				break;
			}
			done += w;
		}
		if (err)
			break;
		total += n;
	}
	close(in);
	if (close(out) < 0 && !err)
		err = errno;
	if (err) {
		unlink(to);
		errno = err;
		total = -1;
	}
	COSY_END;
	return total;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char to[PATH_MAX];

	(void)ftw;
	if (snprintf(to, sizeof(to), "%s%s", to_root, path + strlen(from_root)) >=
	    (int)sizeof(to)) {
		fprintf(stderr, "copy: %s: name too long\n", path);
		return 1;
	}
	if (type == FTW_D) {
		if (mkdir(to, 0777) < 0 && errno != EEXIST) {
			fprintf(stderr, "copy: %s: %s\n", to, strerror(errno));
			return 1;
		}
	} else if (type == FTW_F && S_ISREG(st->st_mode)) {
		long n = copy_file(path, to, st->st_mode & 0777);

		if (n < 0) {
			fprintf(stderr, "copy: %s to %s: %s\n", path, to, strerror(errno));
			return 1;
		}
		files++;
		bytes += n;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct timespec start, end;

	if (argc != 3) {
		fprintf(stderr, "usage: copy FROM TO\n");
		return 2;
	}
	from_root = argv[1];
	to_root = argv[2];
	clock_gettime(CLOCK_MONOTONIC, &start);
	int err = nftw(from_root, visit, 64, FTW_PHYS);
	if (err < 0)
		fprintf(stderr, "copy: %s: %s\n", from_root, strerror(errno));
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("files %ld bytes %ld ns %lld\n", files, bytes,
	       (end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec);
	return err != 0;
}
