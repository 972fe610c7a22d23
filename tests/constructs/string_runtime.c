// SPDX-License-Identifier: MIT
// libc functions that are no operation, but have a body for compounds.
// expect: compiled
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	static const int sorted[] = {1, 4, 9, 16, 25, 36};
	char text[100] = "key=value;other = 0x1F;last", cut[64] = "a,b,,c",
	     tokens[] = " one  two three ";
	long r[32] = {0};
	char *save, *rest = cut;

	(void)argv;
	COSY_START;
	strcat(text, ";more");
	strncat(text, "123456789", 4);
	r[0] = strlen(text);
	r[1] = strspn(text, "yek");
	r[2] = strcspn(text, "=;") + strcspn(text, "~") * 100;
	r[3] = strpbrk(text, ";=") - text;
	r[4] = strpbrk(text, "~#") == NULL;
	r[5] = strstr(text, "other") - text;
	r[6] = strstr(text, "nothing") == NULL && strstr(text, "") == text;
	r[7] = strcasecmp("HeLLo", "hEllO") == 0 && strcasecmp("abc", "abd") < 0;
	r[8] = strncasecmp("HELLO", "help", 3) == 0 && strncasecmp("b", "A", 1) > 0;
	r[9] = atoi("  -42abc") + atoi("junk") + atol("7000000000");
	r[10] = strtol("0x1Fz", &save, 0) * 10 + *save;
	r[11] = strtol("-0777", NULL, 8);
	errno = 0;
	r[12] = strtol("99999999999999999999", NULL, 10) == 0x7fffffffffffffff && errno == ERANGE;
	r[13] = strtoul("-1", NULL, 10) == ~0ul;
	r[14] = strtol("zz", &save, 36) + strtol("0x", &save, 16) + *save;
	r[15] = (long)strsep(&rest, ",")[0];
	r[16] = (long)strsep(&rest, ",")[0];
	r[17] = strsep(&rest, ",")[0] == 0 && rest[0] == 'c';
	r[18] = strlen(strtok_r(tokens, " ", &save)) * 100;
	r[18] += strlen(strtok_r(NULL, " ", &save)) * 10 + strlen(strtok_r(NULL, " ", &save));
	r[19] = strtok_r(NULL, " ", &save) == NULL;
	r[20] = (char *)mempcpy(cut, "hello", 5) - cut;
	r[21] = (char *)memccpy(cut + 10, "a:b", ':', 9) - cut;
	int key = 16 + (argc > 100);
	r[22] = (int *)bsearch(&key, sorted, 6, sizeof(int), compare) - sorted;
	key = 17;
	r[23] = bsearch(&key, sorted, 6, sizeof(int), compare) == NULL;
	r[24] = getpid() > 0;
	r[25] = strcasestr(text, "OTHER =") - text;
	r[26] = strcasestr(text, "others") == NULL && strcasestr(text, "") == text;
	r[27] = strstr("aaaaaaaaaaaaaaaaab", "aaab") != NULL && strstr("aaa", "aaaa") == NULL;
	r[28] = strncasecmp("Content-Length: 5", "content-length", 14) == 0;
	r[29] = strcasecmp("content-length", "Content-Type") < 0;
	COSY_END;
	for (int i = 0; i < 32; i++)
		printf("%ld ", r[i]);
	printf("%s\n", text);
	return 0;
}
