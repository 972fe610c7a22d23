// SPDX-License-Identifier: MIT
/* tree.c - copies or removes a tree by <cosy/files.h>, as cp -r and rm -r do. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <cosy/files.h>

int main(int argc, char **argv)
{
	int failed = 1;

	if (argc == 4 && !strcmp(argv[1], "copy"))
		failed = cosy_copy_tree(AT_FDCWD, argv[2], AT_FDCWD, argv[3], NULL);
	else if (argc == 3 && !strcmp(argv[1], "remove"))
		failed = cosy_remove_tree(AT_FDCWD, argv[2], NULL);
	if (failed)
		perror(argv[argc - 1]);
	return failed ? 1 : 0;
}
