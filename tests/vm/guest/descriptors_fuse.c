// SPDX-License-Identifier: MIT
/* descriptors_fuse.c - a file system of two files for descriptors.c, by the FUSE protocol alone. */
#include "descriptors.h"
#include "fuse.h"

enum { ROOT = 1, DIRECT, FAULT };

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

static void reply_read(int fd, const struct fuse_in_header *in, const struct fuse_read_in *read)
{
	size_t size = sizeof(FUSE_TEXT) - 1, at = read->offset < size ? read->offset : size;

	served->reads++;
	if (in->nodeid == FAULT && !served->faults++)
		fuse_reply(fd, in, -EFAULT, NULL, 0);
	else
		fuse_reply(fd, in, 0, &FUSE_TEXT[at],
			   read->size < size - at ? read->size : size - at);
}

static void reply_name(int fd, const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out entry = { .nodeid = !strcmp(name, "direct")  ? DIRECT
						  : !strcmp(name, "fault") ? FAULT
									   : 0 };

	attributes_of(entry.nodeid, &entry.attr);
	fuse_reply(fd, in, entry.nodeid ? 0 : -ENOENT, &entry, entry.nodeid ? sizeof(entry) : 0);
}

static void serve(int fd)
{
	static char request[FUSE_REQUEST] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (const void *)request;
	const void *body = in + 1;

	while (read(fd, request, sizeof(request)) > 0 || errno == EINTR || errno == ENOENT)
		switch (in->opcode) {
		case FUSE_INIT:
			fuse_reply_init(fd, in);
			break;
		case FUSE_LOOKUP:
			reply_name(fd, in, body);
			break;
		case FUSE_GETATTR: {
			struct fuse_attr_out out = { 0 };

			attributes_of(in->nodeid, &out.attr);
			fuse_reply(fd, in, 0, &out, sizeof(out));
			break;
		}
		case FUSE_OPEN:
			fuse_reply(fd, in, 0,
				   &(struct fuse_open_out){ .open_flags = FOPEN_DIRECT_IO },
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
			fuse_reply(fd, in, 0, NULL, 0);
			break;
		default:
			fuse_reply(fd, in, -ENOSYS, NULL, 0);
		}
}

bool fuse_start(const char *path)
{
	served = shared_memory(sizeof(*served));
	server = fuse_mount(path, serve);
	return server;
}

unsigned int fuse_reads(void)
{
	return served->reads;
}

void fuse_stop(const char *path)
{
	fuse_unmount(path, server);
}
