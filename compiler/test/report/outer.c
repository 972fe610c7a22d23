// A loop whose calls are in an inner loop without a way in counts for the entry.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <fcntl.h>
#include <sys/stat.h>

struct set {
	struct set *next;
	char *names[3];
	void *known[3];
	struct stat st[3];
};

void look(int dir, struct set *s)
{
	// CHECK: outer.c:[[#@LINE+1]]:2: remark: gain: entering the kernel saves {{[1-9][0-9]+}} instructions;
	COSY_START;
	for (; s; s = s->next)
		for (int i = 0; i < 3; i++)
			if (!s->known[i])
				fstatat(dir, s->names[i], &s->st[i], 0);
	COSY_END;
}
