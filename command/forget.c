// SPDX-License-Identifier: MIT
/* forget.c - `cosy forget`: has the module drop what it keeps of the user's earlier processes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/cosy.h>

#include "command.h"

#define DEVICE "/dev/cosy"

int command_forget(int argc, char **argv)
{
	struct cosy_recall before = {.size = sizeof(before)}, recall = before;
	int fd, error = 0;

	if (argc > 1)
		return command_misused("forget", "unexpected argument %s", argv[1]);
	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "cosy forget: cannot open %s: %s\n", DEVICE, strerror(errno));
		return EXIT_BAD;
	}
	recall.flags = COSY_RECALL_FORGET;
	if (ioctl(fd, COSY_IOC_RECALL, &before) || ioctl(fd, COSY_IOC_RECALL, &recall))
		error = errno;
	close(fd);
	if (error) {
		fprintf(stderr, "cosy forget: %s\n",
			error == ENOTTY ? "this module keeps no history" : strerror(error));
		return EXIT_BAD;
	}
	printf("The module has forgotten %u of your regions, and all that it had compiled for "
	       "you.\n",
	       before.regions);
	return EXIT_FINE;
}
