// SPDX-License-Identifier: MIT
// malloc and its kin in regions: blocks that stay, go, come from outside, and grow.
// expect: compiled
// native with -fsanitize=address
#include <cosy/cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct names {
	char **name;
	size_t count, room;
};

static int check(const void *block)
{
	return block && (uintptr_t)block % 16 == 0;
}

static __attribute__((noinline)) int add(struct names *list, const char *text)
{
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 4;
		char **grown = realloc(list->name, room * sizeof(*grown));

		if (!grown)
			return -1;
		list->name = grown;
		list->room = room;
	}
	list->name[list->count] = strdup(text);
	return list->name[list->count++] ? 0 : -1;
}

static void drop(struct names *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->name[i]);
	free(list->name);
}

/* Each block keeps its bytes, whatever others are taken and freed. */
static unsigned long churn(int times)
{
	static unsigned char *block[64];
	static size_t size[64];
	unsigned long sum = 0, wrong = 0;
	unsigned random = 1;

	COSY_START;
	for (int i = 0; i < times; i++) {
		unsigned which = (random = random * 1103515245 + 12345) >> 16 & 63;
		unsigned bytes = (random = random * 1103515245 + 12345) >> 16 & 1023;

		if (block[which]) {
			for (size_t j = 0; j < size[which]; j += 7)
				wrong += block[which][j] != which;
			free(block[which]);
		}
		if (bytes % 5 == 0)
			bytes *= 9;
		block[which] = bytes % 3 ? malloc(bytes) : calloc(1, bytes);
		if (bytes % 3 == 0)
			for (size_t j = 0; j < bytes; j++)
				wrong += block[which][j] != 0;
		wrong += !check(block[which]);
		size[which] = bytes;
		memset(block[which], (int)which, bytes);
		sum += bytes + (getpid() > 0);
	}
	COSY_END;
	for (int i = 0; i < 64; i++)
		free(block[i]);
	return wrong ? 0 : sum;
}

int main(void)
{
	char *a = calloc(10, 100), *b = NULL, *from = malloc(200), *big = NULL, *cut = NULL;
	struct names list = {0};
	unsigned long sum = 0;
	int failed = 0;
	volatile size_t huge = SIZE_MAX / 2;
	void *volatile kept; /* LLVM drops allocations that are not */

	strcpy(from, "from outside");
	COSY_START;
	for (int i = 0; i < 1000; i++)
		a[i] = i;
	for (int i = 0; i < 1000; i += 3)
		sum += a[i] * (getpid() > 0);
	b = malloc(50);
	strcpy(b, "from a region");
	free(from);
	free(NULL);
	cut = strndup("a longer string", 8);
	big = malloc(1 << 20);
	memset(big, 'b', 1 << 20);
	big = realloc(big, 2 << 20);
	for (int i = 0; i < 2 << 20; i += 1 << 18)
		sum += i < 1 << 20 ? big[i] : 0;
	kept = malloc(huge);
	failed += !kept;
	kept = calloc(huge, 4);
	failed += !kept;
	kept = reallocarray(b, huge, 4);
	failed += !kept;
	b = realloc(b, 30);
	b = realloc(b, 300);
	COSY_END;
	printf("%lu %s, %s, %d\n", sum, b, cut, failed);
	free(big);
	sum = 0;
	COSY_START;
	for (int i = 0; i < 50; i++) {
		char text[32];

		snprintf(text, sizeof(text), "name %d of process %s", i,
			 getpid() > 0 ? "one" : "none");
		add(&list, text);
		if (i % 20 == 19) {
			drop(&list);
			memset(&list, 0, sizeof(list));
		}
	}
	for (size_t i = 0; i < list.count; i++)
		sum += strlen(list.name[i]);
	COSY_END;
	printf("%lu of %zu\n", sum, list.count);
	drop(&list);
	printf("%lu\n", churn(3000));
	free(a);
	free(b);
	free(cut);
	return 0;
}
