// SPDX-License-Identifier: MIT
// Character classes, as functions and as the macros of <ctype.h>.
// expect: compiled
#include <cosy/cosy.h>
#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	int count[14] = {0}, sum = 0;

	COSY_START;
	for (int c = -1; c < 256; c++) {
		count[0] += isalpha(c) != 0;
		count[1] += isdigit(c) != 0;
		count[2] += isspace(c) != 0;
		count[3] += isupper(c) != 0;
		count[4] += islower(c) != 0;
		count[5] += isxdigit(c) != 0;
		count[6] += ispunct(c) != 0;
		count[7] += isprint(c) != 0;
		count[8] += isgraph(c) != 0;
		count[9] += isblank(c) != 0;
		count[10] += iscntrl(c) != 0;
		count[11] += (isalnum)(c) != 0;
		sum += tolower(c) * 3 + toupper(c) + (tolower)(c);
	}
	count[12] = getpid() > 0;
	COSY_END;
	for (int i = 0; i < 14; i++)
		printf("%d ", count[i]);
	printf("%d\n", sum);
	return 0;
}
