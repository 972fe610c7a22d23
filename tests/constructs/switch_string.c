// SPDX-License-Identifier: MIT
// A switch that clang would make a table of strings of.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *name(int n)
{
	switch (n) {
	case 0:
		return "zero";
	case 1:
		return "one";
	case 2:
		return "two";
	case 3:
		return "three";
	case 4:
		return "four";
	case 5:
		return "five";
	default:
		return "many";
	}
}

int main(void)
{
	char text[100] = "";
	size_t used = 0;

	COSY_START;
	for (int i = 0; i < 8; i++) {
		const char *s = name(i);

		memcpy(text + used, s, strlen(s));
		used += strlen(s);
	}
	used += getpid() <= 0;
	COSY_END;
	printf("%zu %s\n", used, text);
	return 0;
}
