// SPDX-License-Identifier: MIT
/* thread_calls.c - pthread_create(3): the watcher is made before there is another thread. */
#include <pthread.h>

#include "metadata/metadata.h"
#include "next.h"
#include "vfork.h"

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
		   void *(*begin)(void *), void *restrict argument)
{
	if (!vfork_in_child())
		metadata_before_thread();
	return NEXT(pthread_create)(thread, attributes, begin, argument);
}
