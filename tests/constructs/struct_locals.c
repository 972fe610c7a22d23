// SPDX-License-Identifier: MIT
// Structures: locals in and around the region, nested, assigned, passed on.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct point {
	int x, y;
};
struct box {
	struct point corner[2];
	char name[12];
};
struct large {
	long words[40];
};

static struct point add(struct point a, struct point b)
{
	return (struct point){a.x + b.x, a.y + b.y};
}

static struct box grow(struct box b, int by)
{
	b.corner[1] = add(b.corner[1], (struct point){by, by});
	b.name[0]++;
	return b;
}

int main(int argc, char **argv)
{
	struct box outer = {{{argc, 2}, {3, 4}}, "Abox"};
	struct large sum = {{0}}, copy;

	(void)argv;
	COSY_START;
	struct box inner = outer;
	struct large local;

	for (int i = 0; i < 5; i++)
		inner = grow(inner, i + (getpid() > 0));
	for (int i = 0; i < 40; i++)
		local.words[i] = i * inner.corner[1].x;
	sum = local;
	copy = sum;
	copy.words[39] = -1;
	outer.corner[0] = inner.corner[1];
	memcpy(outer.name, inner.name, sizeof(outer.name));
	COSY_END;
	printf("%d %d %d %s %ld %ld %ld\n", outer.corner[0].x, outer.corner[0].y, outer.corner[1].x,
	       outer.name, sum.words[39], copy.words[38], copy.words[39]);
	return 0;
}
