// SPDX-License-Identifier: MIT
/*
 * profile.c - `cosy profile`: starts cosy-profile (profile/), a separate program, because the
 * libraries that it needs would slow down every start of `cosy run`.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common/say.h"
#include "command.h"

#define PROGRAM "cosy-profile"

/*
 * Searches beside this command in the build tree, in libexec beside it, and in the configured
 * place.
 */
int command_profile(int argc, char **argv)
{
	static const char *const places[] = {"../profile", "../" COSY_LIBEXECDIR "/cosy",
					     "../libexec/cosy"};
	char self[PATH_MAX], path[2 * PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	(void)argc;
	if (len > 0) {
		self[len] = 0;
		slash = strrchr(self, '/');
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
			snprintf(path, sizeof(path), "%.*s/%s/" PROGRAM, (int)(slash - self), self,
				 places[i]);
			execv(path, argv);
		}
	}
	execv(COSY_FULL_LIBEXECDIR "/cosy/" PROGRAM, argv);
	if (len < 0)
		say("cosy profile: /proc is not mounted here, and it is needed");
	else
		say("cosy profile: " PROGRAM ": %s", strerror(errno));
	return EXIT_BAD;
}
