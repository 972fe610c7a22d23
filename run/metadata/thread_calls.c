// SPDX-License-Identifier: MIT
/* thread_calls.c - pthread_create(3): the watcher is made before there is another thread. */
#include <pthread.h>

#include "loaded.h"
#include "metadata/metadata.h"
#include "next.h"
#include "object.h"
#include "vfork.h"

typedef int create_fn(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
		      void *(*begin)(void *), void *restrict argument);

/* Before glibc 2.34 the function is in a library that may come after libc, where NEXT does not look. */
static create_fn *create_find(void)
{
	const struct link_map *own = loaded_own(), *map;
	struct object object;
	void *found;

	for (map = own ? own->l_next : NULL; map; map = map->l_next) {
		object_read(map, &object);
		found = object_find(&object, "pthread_create");
		if (found)
			return (create_fn *)found;
	}
	return NEXT(pthread_create);
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
		   void *(*begin)(void *), void *restrict argument)
{
	static create_fn *create;
	create_fn *found = __atomic_load_n(&create, __ATOMIC_RELAXED);

	if (!found) {
		found = create_find();
		__atomic_store_n(&create, found, __ATOMIC_RELAXED);
	}
	if (!vfork_in_child())
		metadata_before_thread();
	return found(thread, attributes, begin, argument);
}
