// SPDX-License-Identifier: MIT
/*
 * aside.c - subcommands that are programs of their own, because the libraries that they need would
 * slow down every start of `cosy run`.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common/say.h"
#include "command.h"

/*
 * Starts a program: beside this command, or where the build tree has it, or in libexec beside this
 * command, or in the configured place.  Returns if there is none.
 */
static int aside_start(const char *program, char **argv)
{
	static const char *const places[] = {".", "../command", "../profile",
					     "../" COSY_LIBEXECDIR "/cosy", "../libexec/cosy"};
	char self[PATH_MAX], path[2 * PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (len > 0) {
		self[len] = 0;
		slash = strrchr(self, '/');
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
			snprintf(path, sizeof(path), "%.*s/%s/%s", (int)(slash - self), self,
				 places[i], program);
			execv(path, argv);
		}
	}
	snprintf(path, sizeof(path), COSY_FULL_LIBEXECDIR "/cosy/%s", program);
	execv(path, argv);
	if (len < 0)
		say("cosy %s: /proc is not mounted here, and it is needed", argv[0]);
	else
		say("cosy %s: %s: %s", argv[0], program, strerror(errno));
	return EXIT_BAD;
}

int command_profile(int argc, char **argv)
{
	(void)argc;
	return aside_start("cosy-profile", argv);
}

int command_inspect(int argc, char **argv)
{
	(void)argc;
	return aside_start("cosy-inspect", argv);
}
