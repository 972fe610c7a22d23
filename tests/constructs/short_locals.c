// SPDX-License-Identifier: MIT
// Locals of recursive functions: some end before the recursive call, others are used after it.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct block {
	unsigned char bytes[64];
};

static __attribute__((noinline)) unsigned long sum(const struct block *b)
{
	unsigned long ret = 0;

	for (size_t i = 0; i < sizeof(b->bytes); i++)
		ret = ret * 31 + b->bytes[i];
	return ret + (getppid() < 0);
}

static unsigned long descend(const char *path, int depth)
{
	char before[64], after[64], part[8] = "", *slash;
	unsigned long ret = 0;

	snprintf(after, sizeof(after), "%s/%d", path, depth);
	for (int i = 0; i < 3; i++) {
		struct block b;
		struct stat st;
		const char *text = i & 1 ? before : after;

		memset(&b, depth * 3 + i, sizeof(b));
		snprintf(before, sizeof(before), "%.40s%%%d", path, i);
		memcpy(b.bytes, before, 4);
		if (lstat(i == 2 ? "/nothing/here" : "/", &st) == 0)
			b.bytes[9] = S_ISDIR(st.st_mode);
		ret = ret * 7 + sum(&b);
		slash = strrchr(after, '/');
		if (depth > 1)
			ret += descend(slash, depth - 1 - i % 2);
		ret = ret * 5 + (unsigned char)*slash + (unsigned char)text[1] +
		      (unsigned char)part[0];
		snprintf(part, sizeof(part), "%x", depth);
		*slash = '/';
	}
	return ret + strlen(after);
}

int main(void)
{
	unsigned long ret = 0;

	COSY_START;
	ret = descend("start", 6);
	COSY_END;
	printf("%lx\n", ret);
	return 0;
}
