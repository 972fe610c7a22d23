// Opens a library, as `now` or `lazy` and `deep` or `flat` say, and has it run its regions.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int how = strcmp(argv[2], "now") ? RTLD_LAZY : RTLD_NOW;
	void *library = dlopen(argv[1], how | (strcmp(argv[3], "deep") ? 0 : RTLD_DEEPBIND));
	int (*regions)(void);

	(void)argc;
	if (!library) {
		puts(dlerror());
		return 1;
	}
	regions = (int (*)(void))dlsym(library, "regions");
	return regions ? regions() : 1;
}
