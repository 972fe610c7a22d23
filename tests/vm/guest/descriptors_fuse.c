// SPDX-License-Identifier: MIT
/* descriptors_fuse.c - a file system of two files for descriptors.c, by the FUSE protocol alone. */
#include "descriptors.h"
#include <linux/fuse.h>
#include <sys/mount.h>

enum { ROOT = 1, DIRECT, FAULT, REQUEST = 1 << 17 };

static struct served {
	_Atomic unsigned int reads;
	_Atomic unsigned int faults;
} *served;
static pid_t server;

static void attributes_of(uint64_t node, struct fuse_attr *attr)
{
	attr->ino = node;
	attr->mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0644;
	attr->nlink = 1;
	attr->size = node == ROOT ? 0 : sizeof(FUSE_TEXT) - 1;
	attr->blksize = 4096;
}

static void reply(int fd, const struct fuse_in_header *in, int error, const void *body, size_t size)
{
	static char out[4096];
	struct fuse_out_header header = { .len = (uint32_t)(sizeof(header) + size),
					  .error = error,
					  .unique = in->unique };

	memcpy(out, &header, sizeof(header));
	memcpy(out + sizeof(header), body, size);
	(void)!write(fd, out, header.len);
}

static void reply_read(int fd, const struct fuse_in_header *in, const struct fuse_read_in *read)
{
	size_t size = sizeof(FUSE_TEXT) - 1, at = read->offset < size ? read->offset : size;

	served->reads++;
	if (in->nodeid == FAULT && !served->faults++)
		reply(fd, in, -EFAULT, NULL, 0);
	else
		reply(fd, in, 0, &FUSE_TEXT[at], read->size < size - at ? read->size : size - at);
}

static void reply_name(int fd, const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out entry = { .nodeid = !strcmp(name, "direct")  ? DIRECT
						  : !strcmp(name, "fault") ? FAULT
									   : 0 };

	attributes_of(entry.nodeid, &entry.attr);
	reply(fd, in, entry.nodeid ? 0 : -ENOENT, &entry, entry.nodeid ? sizeof(entry) : 0);
}

static void serve(int fd)
{
	static char request[REQUEST] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (const void *)request;
	const void *body = in + 1;

	while (read(fd, request, sizeof(request)) > 0 || errno == EINTR || errno == ENOENT)
		switch (in->opcode) {
		case FUSE_INIT:
			reply(fd, in, 0,
			      &(struct fuse_init_out){ .major = FUSE_KERNEL_VERSION,
						       .minor = 31,
						       .max_write = 4096 },
			      sizeof(struct fuse_init_out));
			break;
		case FUSE_LOOKUP:
			reply_name(fd, in, body);
			break;
		case FUSE_GETATTR: {
			struct fuse_attr_out out = { 0 };

			attributes_of(in->nodeid, &out.attr);
			reply(fd, in, 0, &out, sizeof(out));
			break;
		}
		case FUSE_OPEN:
			reply(fd, in, 0, &(struct fuse_open_out){ .open_flags = FOPEN_DIRECT_IO },
			      sizeof(struct fuse_open_out));
			break;
		case FUSE_READ:
			reply_read(fd, in, body);
			break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
			break;
		case FUSE_FLUSH:
		case FUSE_RELEASE:
			reply(fd, in, 0, NULL, 0);
			break;
		default:
			reply(fd, in, -ENOSYS, NULL, 0);
		}
}

bool fuse_start(const char *path)
{
	char options[128];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0", fd);
	if (mount("descriptors", path, "fuse", MS_NOSUID | MS_NODEV, options)) {
		close(fd);
		return false;
	}
	served = shared_memory(sizeof(*served));
	server = child_start();
	if (!server) {
		serve(fd);
		_exit(0);
	}
	close(fd);
	return true;
}

unsigned int fuse_reads(void)
{
	return served->reads;
}

void fuse_stop(const char *path)
{
	int status;

	MUST(!umount2(path, MNT_DETACH));
	MUST(waitpid(server, &status, 0) == server);
	CHECK_CHILD(status);
}
