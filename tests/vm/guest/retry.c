/* SPDX-License-Identifier: MIT */
/*
 * Checks that a region whose compound is refused for want of room runs natively, and in the kernel
 * once there is room again.
 */
#include "check.h"

#define PARAMETER "/sys/module/cosy/parameters/max_user_programs"

static void set_limit(const char *text)
{
	int fd = open(PARAMETER, O_WRONLY | O_CLOEXEC);

	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static __attribute__((noinline)) int region(void)
{
	int calls = 0;

	COSY_START;
	for (int i = 0; i < 10; i++)
		calls += getppid() > 0;
	COSY_END;
	return calls;
}

int main(void)
{
	int turns = 0;

	if (geteuid() || !kernel_expected())
		SKIP("only root sets the limit, and only the kernel has one");
	set_limit("0");
	for (int i = 0; i < 5; i++)
		CHECK(region() == 10, "native answer");
	CHECK(!counts().loads && !counts().runs, "loaded above the limit");
	set_limit("4096");
	while (!counts().runs && turns++ < 4096)
		CHECK(region() == 10, "answer %d", turns);
	CHECK(counts().runs, "native for good");
	/* The library must not ask again and again while there is no room. */
	CHECK(counts().loads == 1, "%llu loads", (unsigned long long)counts().loads);
	return check_end();
}
