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

static struct cosy_lock lock;
static heap_type *the_heap;
static size_t heap_size;

bool cosy_heap_retired;

void cosy_heap_init(void *base, size_t size)
{
	heap_type *heap = new (base) heap_type(size, 0);

	heap_size = size;
	__atomic_store_n(&the_heap, heap, __ATOMIC_RELEASE);
}

void cosy_heap_retire()
{
	cosy_heap_retired = true;
}

static heap_type *get_heap()
{
	return __atomic_load_n(&the_heap, __ATOMIC_ACQUIRE);
}

void *cosy_heap_alloc(size_t size)
{
	heap_type *heap = get_heap();
	void *memory;

	if (!heap || cosy_heap_retired || size >= heap_size || !cosy_lock(&lock))
		return nullptr;
	memory = heap->allocate_aligned(size ? size : 1, alignment);
	cosy_unlock(&lock);
	return memory;
}

bool cosy_heap_free(void *memory)
{
	if (cosy_heap_retired || !cosy_lock(&lock))
		return false;
	get_heap()->deallocate(memory);
	cosy_unlock(&lock);
	return true;
}

size_t cosy_heap_size(const void *memory)
{
	return get_heap()->size(memory);
}

bool cosy_heap_owns(const void *memory)
{
	const char *start = reinterpret_cast<const char *>(get_heap());
	const char *at = static_cast<const char *>(memory);

	return start && at >= start && at < start + heap_size;
}

size_t cosy_heap_room()
{
	return get_heap() && !cosy_heap_retired ? get_heap()->get_free_memory() : 0;
}

bool cosy_heap_lock()
{
	return cosy_lock(&lock);
}

void cosy_heap_unlock()
{
	cosy_unlock(&lock);
}

void cosy_heap_child()
{
	lock.word = 0;
}
