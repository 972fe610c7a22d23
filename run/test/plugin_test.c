// SPDX-License-Identifier: MIT
/* plugin_test.c PLUGIN - loads a plugin that waits for threads while it begins and ends. */
#include <dlfcn.h>

#include "check.h"

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (!plugin)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(plugin && !dlclose(plugin));
	return 0;
}
