// A loop that recurses in each iteration makes one iteration for each recursive call, and those count
// by themselves.  So its losses do not outweigh the system calls of its function.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <sys/stat.h>

struct node {
	const char *name;
	struct node **dep;
	int deps, visited, dirty;
	struct stat st;
};

static int check(struct node *n)
{
	if (n->visited)
		return n->dirty;
	n->visited = 1;
	n->dirty = stat(n->name, &n->st) < 0;
	for (int i = 0; i < n->deps; i++)
		if (check(n->dep[i]) || n->dep[i]->st.st_mtime > n->st.st_mtime)
			n->dirty = 1;
	return n->dirty;
}

int all(struct node **target, int targets)
{
	int dirty = 0;

	// CHECK: recursive-loops.c:[[#@LINE+1]]:2: remark: gain: {{.*}}a call of its recursive function saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (int i = 0; i < targets; i++)
		dirty += check(target[i]);
	COSY_END;
	return dirty;
}

struct list {
	struct list *next;
	struct tree *at;
	int leaf;
};

struct tree {
	struct list *children;
	const char *name;
	long size;
};

static void measure(struct tree *t);

static void measure_all(struct list *l)
{
	for (; l; l = l->next)
		if (!l->leaf)
			measure(l->at);
}

// The loop is in a function between, and some of its iterations recurse.
static void measure(struct tree *t)
{
	struct stat st;

	if (stat(t->name, &st) == 0)
		t->size = st.st_size;
	measure_all(t->children);
}

void whole(struct tree *top)
{
	// CHECK: recursive-loops.c:[[#@LINE+1]]:2: remark: gain: {{.*}}a call of its recursive function saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	measure(top);
	COSY_END;
}
