// SPDX-License-Identifier: MIT
/*
 * heap.cpp - see heap.h.  C++ for Boost's sake only: nothing here throws, and the
 * C++ run-time library is not linked.  Only Boost's headers need exceptions to be
 * switched on.
 */
#include "memory/heap.h"
#include "lock.h"

#include <boost/interprocess/indexes/null_index.hpp>
#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/sync/null_mutex.hpp>

#include <new>

/*
 * The lock is ours, since it has to survive forks and signal handlers.  Boost's own
 * null_mutex_family comes with spin locks, which count the processors when a program starts.
 */
struct no_mutexes {
	typedef boost::interprocess::null_mutex mutex_type;
	typedef boost::interprocess::null_mutex recursive_mutex_type;
};
using heap_type = boost::interprocess::rbtree_best_fit<no_mutexes>;

static const size_t alignment = 16;

static struct libcosy_lock lock;
static char *start; /* of all of it; written last */
static size_t heap_size;

struct part {
	char *base;
	size_t size;
	heap_type *heap; /* made when it is first needed */
};
static struct part low, high;
static char *reserved;
static size_t reserved_size;
static bool is_reserved_taken;

bool libcosy_heap_retired;

/* A heap smaller than this has no room for anything. */
static const size_t min_heap = 4096;

static bool part_make(struct part *part)
{
	if (!part->heap && part->size >= min_heap)
		part->heap = new (part->base) heap_type(part->size, 0);
	return part->heap;
}

static size_t part_room(const struct part *part)
{
	return part->heap ? part->heap->get_free_memory() : part->size;
}

static void *part_alloc(struct part *part, size_t size)
{
	if (size >= part->size || !part_make(part))
		return nullptr;
	return part->heap->allocate_aligned(size ? size : 1, alignment);
}

static struct part *part_of(const void *memory)
{
	return low.base <= memory && memory < low.base + low.size ? &low : &high;
}

void libcosy_heap_init(void *base, size_t size, size_t low_size, size_t reserved_bytes)
{
	char *const at = static_cast<char *>(base);

	low = {at, low_size, nullptr};
	reserved = at + low_size;
	reserved_size = reserved_bytes;
	high = {reserved + reserved_size, size - low_size - reserved_size, nullptr};
	heap_size = size;
	__atomic_store_n(&start, at, __ATOMIC_RELEASE);
}

void libcosy_heap_retire()
{
	libcosy_heap_retired = true;
}

static bool is_there()
{
	return __atomic_load_n(&start, __ATOMIC_ACQUIRE) && !libcosy_heap_retired;
}

void *libcosy_heap_alloc(size_t size)
{
	void *memory;

	if (!is_there() || !libcosy_lock(&lock))
		return nullptr;
	memory = part_alloc(&low, size);
	if (!memory)
		memory = part_alloc(&high, size);
	libcosy_unlock(&lock);
	return memory;
}

void *libcosy_heap_take_reserved(size_t *size)
{
	void *memory = nullptr;

	if (!is_there() || !libcosy_lock(&lock))
		return nullptr;
	if (!is_reserved_taken && reserved_size) {
		is_reserved_taken = true;
		memory = reserved;
		*size = reserved_size;
	}
	libcosy_unlock(&lock);
	return memory;
}

bool libcosy_heap_free(void *memory)
{
	if (libcosy_heap_retired || !libcosy_lock(&lock))
		return false;
	if (memory == reserved && reserved_size)
		is_reserved_taken = false;
	else if (memory)
		part_of(memory)->heap->deallocate(memory);
	libcosy_unlock(&lock);
	return true;
}

size_t libcosy_heap_size(const void *memory)
{
	return part_of(memory)->heap->size(memory);
}

bool libcosy_heap_owns(const void *memory)
{
	const char *from = __atomic_load_n(&start, __ATOMIC_ACQUIRE);
	const char *at = static_cast<const char *>(memory);

	return from && at >= from && at < from + heap_size;
}

bool libcosy_heap_is_beyond()
{
	return high.heap;
}

size_t libcosy_heap_room()
{
	return is_there() ? part_room(&low) + part_room(&high) : 0;
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
