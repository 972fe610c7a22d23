/* SPDX-License-Identifier: MIT */
/* fuse.h - what file systems that a test serves itself share: the FUSE protocol's ends. */
#ifndef FUSE_H
#define FUSE_H

#include "check.h"
#include <linux/fuse.h>
#include <sys/mount.h>

enum { FUSE_REQUEST = 1 << 17 }; /* bytes of the longest request */

/* Answers a request with an error, 0 or a negative errno, and `size` bytes. */
HELPER void fuse_reply(int fd, const struct fuse_in_header *in, int error, const void *body,
		       size_t size)
{
	static char out[4096];
	struct fuse_out_header header = { .len = (uint32_t)(sizeof(header) + size),
					  .error = error,
					  .unique = in->unique };

	memcpy(out, &header, sizeof(header));
	if (size)
		memcpy(out + sizeof(header), body, size);
	(void)!write(fd, out, header.len);
}

/* Answers FUSE_INIT. */
HELPER void fuse_reply_init(int fd, const struct fuse_in_header *in)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = 31,
				      .max_write = 4096 };

	fuse_reply(fd, in, 0, &init, sizeof(init));
}

/* Mounts a file system that a child serves; returns the child, or 0 with errno. */
HELPER pid_t fuse_mount(const char *path, void (*serve)(int fd))
{
	char options[128];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	pid_t server = 0;

	if (fd < 0)
		return 0;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0", fd);
	if (!mount("test", path, "fuse", MS_NOSUID | MS_NODEV, options)) {
		server = child_start();
		if (!server) {
			serve(fd);
			_exit(0);
		}
	}
	close(fd);
	return server;
}

/* Unmounts it and waits for its server. */
HELPER void fuse_unmount(const char *path, pid_t server)
{
	int status;

	MUST(!umount2(path, MNT_DETACH));
	MUST(waitpid(server, &status, 0) == server);
	CHECK_CHILD(status);
}

#endif /* FUSE_H */
