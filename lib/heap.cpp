// SPDX-License-Identifier: MIT
/*
 * heap.cpp - see heap.h.  C++ for Boost's sake only: nothing here throws, and the
 * C++ run-time library is not linked; Boost's headers do need exceptions to be
 * switched on.
 */
#include "heap.h"
#include "lock.h"

#include <boost/interprocess/indexes/null_index.hpp>
#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/sync/mutex_family.hpp>

#include <new>

/* The lock is ours, since it has to survive forks and signal handlers. */
using heap_type = boost::interprocess::rbtree_best_fit<boost::interprocess::null_mutex_family>;

static const size_t alignment = 16;

static struct libcosy_lock lock;
static heap_type *the_heap;
static size_t heap_size;

bool libcosy_heap_retired;

void libcosy_heap_init(void *base, size_t size)
{
	heap_type *heap = new (base) heap_type(size, 0);

	heap_size = size;
	__atomic_store_n(&the_heap, heap, __ATOMIC_RELEASE);
}

void libcosy_heap_retire()
{
	libcosy_heap_retired = true;
}

static heap_type *get_heap()
{
	return __atomic_load_n(&the_heap, __ATOMIC_ACQUIRE);
}

void *libcosy_heap_alloc(size_t size)
{
	heap_type *heap = get_heap();
	void *memory;

	if (!heap || libcosy_heap_retired || size >= heap_size || !libcosy_lock(&lock))
		return nullptr;
	memory = heap->allocate_aligned(size ? size : 1, alignment);
	libcosy_unlock(&lock);
	return memory;
}

bool libcosy_heap_free(void *memory)
{
	if (libcosy_heap_retired || !libcosy_lock(&lock))
		return false;
	get_heap()->deallocate(memory);
	libcosy_unlock(&lock);
	return true;
}

size_t libcosy_heap_size(const void *memory)
{
	return get_heap()->size(memory);
}

bool libcosy_heap_owns(const void *memory)
{
	const char *start = reinterpret_cast<const char *>(get_heap());
	const char *at = static_cast<const char *>(memory);

	return start && at >= start && at < start + heap_size;
}

size_t libcosy_heap_room()
{
	return get_heap() && !libcosy_heap_retired ? get_heap()->get_free_memory() : 0;
}

bool libcosy_heap_lock()
{
	return libcosy_lock(&lock);
}

void libcosy_heap_unlock()
{
	libcosy_unlock(&lock);
}

void libcosy_heap_child()
{
	lock.word = 0;
}
