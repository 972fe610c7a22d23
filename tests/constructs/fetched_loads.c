// SPDX-License-Identifier: MIT
// Loads of fields and of bytes outside the shared buffer, which are made
// together, among what may change them and what must not be reordered.
// expect: compiled
#include <cosy/cosy.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct node {
	struct node *next;
	long a, b;
	int c, d;
	short e;
	char f, g;
	long h, i;
};

static struct node nodes[64];
static unsigned char text[4096];
static long *volatile alias;
static atomic_int ready;
static volatile int ticks[4];

static long sum_nodes(const struct node *n)
{
	long sum = 0;

	for (; n; n = n->next)
		sum = sum * 3 + n->a + n->b - n->c + n->d * n->e + (n->f ? n->g : n->h) + n->i;
	return sum;
}

/* Each store may change a field of the node; one by another name does. */
static long change_nodes(struct node *n, long *other)
{
	long sum = 0;

	for (; n; n = n->next) {
		sum += n->a;
		*other += n->c;
		sum += n->b + n->h;
		n->b = sum;
		sum ^= n->b + n->i + *other;
		memcpy(&n->c, &n->a, sizeof(n->c));
		sum += n->c + n->d;
	}
	return sum;
}

static size_t count_lines(const unsigned char *s, size_t size, unsigned *hash)
{
	size_t lines = 0;

	for (size_t i = 0; i < size; i++) {
		*hash = (*hash ^ s[i]) * 16777619u;
		lines += s[i] == '\n';
	}
	return lines;
}

static size_t skip_word(const unsigned char *s)
{
	size_t i = 0;

	while (s[i] != ' ' && s[i] != '\n')
		i++;
	return i;
}

int main(void)
{
	unsigned char *end =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long sum = 0;
	unsigned hash = 1;
	size_t lines = 0, words = 0;

	if (end == MAP_FAILED || munmap(end + 4096, 4096))
		return 1;
	for (size_t i = 0; i < 4096; i++) {
		text[i] = i % 23 ? 'a' + i % 7 : i % 5 ? ' ' : '\n';
		end[i] = i % 61 ? 'x' : '\n';
	}
	end[4095] = '\n';
	for (int i = 0; i < 64; i++) {
		nodes[i] = (struct node){i < 63 ? &nodes[i + 1] : NULL,
					 i,
					 i * i,
					 -i,
					 i + 7,
					 3 * i,
					 i & 1,
					 i & 7,
					 i << 20,
					 ~i};
	}
	alias = &nodes[5].b;
	COSY_START;
	for (int i = 0; i < 20; i++) {
		sum += sum_nodes(nodes) + getppid() * 0;
		sum ^= change_nodes(nodes, alias);
		lines += count_lines(text, sizeof(text) - i, &hash);
		/* To the last byte that is there. */
		lines += count_lines(end + i, 4096 - i, &hash);
		for (size_t at = 0; at < 4096; at += skip_word(end + at) + 1)
			words++;
		for (size_t at = 0; at < 4000; at += skip_word(text + at) + 1)
			words++;
		atomic_store(&ready, i);
		ticks[0] = ticks[1] + ticks[2] + atomic_load(&ready) + ticks[3];
		ticks[3] = ticks[0] ^ ticks[2];
		sum += ticks[0] + ticks[3];
	}
	COSY_END;
	printf("%ld %u %zu %zu %ld\n", sum, hash, lines, words, nodes[5].b);
	return 0;
}
