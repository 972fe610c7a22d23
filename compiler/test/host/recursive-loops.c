// A function that recurses in a loop is entered at the head of that loop, at whatever depth and
// iteration: the compound makes the rest of the call, with the locals and sums as they are there.
// RUN: %cosycc -O2 -Rcosy %s -c -o %t.o 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: %if links %{ %cosycc -O2 %s -o %t %}
// RUN: %if links %{ env COSY_MODE=native %t > %t.native %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=0 %t > %t.0 && cmp %t.native %t.0 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=1 %t > %t.1 && cmp %t.native %t.1 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=2 %t > %t.2 && cmp %t.native %t.2 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=3 %t > %t.3 && cmp %t.native %t.3 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=5 %t > %t.5 && cmp %t.native %t.5 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=8 %t > %t.8 && cmp %t.native %t.8 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=11 %t > %t.11 && cmp %t.native %t.11 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=17 %t > %t.17 && cmp %t.native %t.17 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=30 %t > %t.30 && cmp %t.native %t.30 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=60 %t > %t.60 && cmp %t.native %t.60 %}
// RUN: %if links %{ %cosycc -O0 -g %s -o %t.plain %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=1 %t.plain > %t.1 && cmp %t.native %t.1 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=4 %t.plain > %t.4 && cmp %t.native %t.4 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=9 %t.plain > %t.9 && cmp %t.native %t.9 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=21 %t.plain > %t.21 && cmp %t.native %t.21 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=9 COSY_STATS=1 %t 2>&1 | FileCheck %s --check-prefix=ENTERS %}
// SAYS-NOT: stays native
// SAYS: remark: gain:
// SAYS-NOT: stays native
// ENTERS: regions={{([2-9]|[1-9][0-9])}}
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *kept[64];
static int keeps;

static long calls;

/* Two loops that recurse, a local that nobody else knows, and one that is kept in memory. */
static int walk(const char *path, int depth, long *sum)
{
	char name[40], own[24] = "";
	int found = 0;

	for (int i = 0; i < depth; i++) {
		if (getppid() <= 0)
			return -1;
		calls++;
		snprintf(name, sizeof(name), "%s%c", path, 'a' + i);
		own[i] = name[strlen(name) - 1];
		if (i % 3 == 1)
			continue;
		kept[keeps++ % 64] = name;
		found += walk(name, depth - 1, sum);
		if (found > 4000)
			break;
	}
	for (int i = depth; i > 1; i -= 2) {
		long before = *sum;

		calls += getppid() > 0;
		*sum = *sum * 31 + own[i - 1] + found;
		if (before % 3 == 0)
			found += walk(strcat(strcpy(name, path), "x"), i - 2, sum) * 2;
	}
	*sum += strlen(own) + strlen(path);
	return found + 1;
}

/* A loop in a loop, the inner one of which recurses; nothing is returned. */
static void count(int width, int depth, unsigned *hash)
{
	unsigned local[4] = {width, depth, 0, 1};

	for (int i = 0; i < width; i++) {
		local[2] += getppid() > 0;
		for (int j = 0; j < 2; j++) {
			local[3] = local[3] * 7 + getppid() % 1 + i + j;
			if (depth > 0)
				count(width - 1, depth - 1, &local[3]);
		}
		*hash = *hash * 33 + local[3] + local[2];
	}
	*hash ^= local[0] << local[1];
}

int main(void)
{
	unsigned hash = 5381;
	long sum = 0;
	int found;

	COSY_START;
	found = walk("/", 5, &sum);
	count(4, 3, &hash);
	COSY_END;
	printf("%d %ld %ld %x %d\n", found, sum, calls, hash, keeps);
	return 0;
}
