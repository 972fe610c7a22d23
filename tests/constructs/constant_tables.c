// SPDX-License-Identifier: MIT
// Constant tables: of numbers, of structures, of strings, small and large.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const unsigned char fold[256] = {['A'] = 'a', ['B'] = 'b', ['X'] = 'x'};
static const char *const names[] = {"zero", "one", "two", "three"};
static const struct {
	short weight;
	char tag;
} kinds[5] = {{3, 'a'}, {5, 'b'}, {7, 'c'}};
static const int large[1000] = {[10] = 7, [500] = 8, [999] = 9};
const int exported[4] = {1, 10, 100, 1000};

int main(int argc, char **argv)
{
	const char *text = argc > 9 ? argv[1] : "AXBXyz";
	long sum = 0;

	COSY_START;
	for (int i = 0; text[i]; i++) {
		unsigned char c = text[i];

		sum = sum * 5 + (fold[c] ? fold[c] : c);
		sum += strlen(names[i % 4]) + kinds[i % 5].weight * kinds[c % 5].tag;
		sum += large[c * 5 % 1000] + exported[i & 3];
	}
	sum += getpid() <= 0;
	COSY_END;
	printf("%ld\n", sum);
	return 0;
}
