// SPDX-License-Identifier: MIT
// Reads standard input, counts words, writes to standard output from a region.
// expect: compiled
// stdin: the quick brown fox  jumps over the lazy dog
#include <cosy/cosy.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char buf[128], out[128];
	int words = 0, bytes = 0, in_word = 0;

	COSY_START;
	ssize_t n;
	while ((n = read(0, buf, 16)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			int space = isspace((unsigned char)buf[i]);

			words += !space && !in_word;
			in_word = !space;
			out[i] = toupper((unsigned char)buf[i]);
		}
		bytes += n;
		write(1, out, n);
	}
	COSY_END;
	printf("%d words, %d bytes\n", words, bytes);
	return 0;
}
