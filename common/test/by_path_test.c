// SPDX-License-Identifier: MIT
/* by_path_test.c - tests the list of structures by path, also when there is no memory for one. */
#include <stdio.h>

#include "../by_path.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

struct kept {
	struct by_path by_path;
	int number;
};

static bool calloc_fails, strdup_fails;
static int begun, ended;

void *__real_calloc(size_t n, size_t size);
char *__real_strdup(const char *text);
void *__wrap_calloc(size_t n, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_calloc(size_t n, size_t size)
{
	return calloc_fails ? NULL : __real_calloc(n, size);
}

char *__wrap_strdup(const char *text)
{
	return strdup_fails ? NULL : __real_strdup(text);
}

static void kept_begin(void *made, void *context)
{
	struct kept *kept = made;

	CHECK(kept->by_path.path && !kept->number);
	kept->number = *(int *)context;
	begun++;
}

static void kept_end(void *dropped)
{
	CHECK(((struct kept *)dropped)->number);
	ended++;
}

static struct kept *get(struct by_path **list, const char *path, int number)
{
	return by_path_get(list, path, sizeof(struct kept), kept_begin, &number);
}

int main(void)
{
	struct by_path *list = NULL;
	struct kept *a = get(&list, "/a", 1), *b;

	CHECK(a && a->number == 1);
	CHECK(get(&list, "/a", 2) == a && a->number == 1 && begun == 1);

	strdup_fails = true;
	CHECK(!get(&list, "/b", 2));
	CHECK(get(&list, "/a", 2) == a);
	strdup_fails = false;
	calloc_fails = true;
	CHECK(!get(&list, "/b", 2));
	CHECK(get(&list, "/a", 2) == a && begun == 1);
	calloc_fails = false;

	b = get(&list, "/b", 2);
	CHECK(b && b != a && b->number == 2);
	CHECK(get(&list, "/b", 3) == b && get(&list, "/a", 3) == a && begun == 2);
	by_path_drop(&list, kept_end);
	CHECK(!list && ended == 2);
	return 0;
}
