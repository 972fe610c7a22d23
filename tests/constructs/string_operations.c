// SPDX-License-Identifier: MIT
// The str* functions that are operations, at their edges.
// expect: compiled
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char text[64] = "the quick brown fox, the lazy dog", copy[64], *end;
	long r[24] = {0};
	const char *t = argc > 100 ? argv[1] : text;

	COSY_START;
	r[0] = strlen(t);
	r[1] = strnlen(t, 5) * 100 + strnlen(t, 500);
	r[2] = strchr(t, 'q') - t;
	r[3] = strchr(t, 'Z') == NULL;
	r[4] = strchr(t, 0) - t;
	r[5] = strrchr(t, 't') - t;
	r[6] = (strcmp(t, "the quick") > 0) + 2 * (strcmp(t, t) == 0) +
	       4 * (strcmp("\xff", "a") > 0);
	r[7] = strncmp(t, "the Quick", 4) == 0 && strncmp(t, "the Quick", 5) > 0;
	r[8] = (char *)memchr(t, 'x', 100) - t;
	r[9] = memchr(t, 'x', 3) == NULL;
	r[10] = (char *)memrchr(t, 'o', r[0]) - t;
	r[11] = (char *)memmem(t, r[0], "lazy", 4) - t;
	r[12] = memmem(t, r[0], "lazier", 6) == NULL;
	r[13] = strchrnul(t, '!') - t;
	r[14] = strcpy(copy, t) == copy;
	end = stpcpy(copy + 3, t + 10);
	r[15] = end - copy;
	strncpy(copy + 40, t, 10);
	strncpy(copy + 50, "ab", 6);
	r[16] = copy[49] * 1000 + copy[51] + copy[53];
	r[17] = bcmp(t, copy, 3) == 0;
	bzero(copy + 60, 4);
	r[18] = index(t, 'b') - t + (rindex(t, 'b') - t);
	r[19] = (char *)rawmemchr(t, ',') - t;
	r[20] = getpid() > 0;
	COSY_END;
	for (int i = 0; i < 24; i++)
		printf("%ld ", r[i]);
	printf("%s %.60s\n", copy, copy + 40);
	return 0;
}
