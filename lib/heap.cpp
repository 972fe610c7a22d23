// SPDX-License-Identifier: MIT
/*
 * heap.cpp - see heap.h.  Nothing here throws, and the C++ run-time library is
 * not linked; Boost's headers do need exceptions to be switched on.
 */
#include "heap.h"
#include "lock.h"

#include <boost/interprocess/indexes/null_index.hpp>
#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/sync/mutex_family.hpp>

#include <new>

namespace {

// The lock is ours, since it has to survive forks and signal handlers.
using Heap = boost::interprocess::rbtree_best_fit<boost::interprocess::null_mutex_family>;

constexpr size_t Align = 16;

struct cosy_lock Lock;
Heap *TheHeap;
size_t HeapSize;

} // namespace

void cosy_heap_init(void *Base, size_t Size) {
  Heap *New = new (Base) Heap(Size, 0);
  HeapSize = Size;
  __atomic_store_n(&TheHeap, New, __ATOMIC_RELEASE);
}

bool cosy_heap_retired;

void cosy_heap_retire() { cosy_heap_retired = true; }

static Heap *heap() { return __atomic_load_n(&TheHeap, __ATOMIC_ACQUIRE); }

void *cosy_heap_alloc_aligned(size_t Size, size_t Alignment) {
  void *Memory = nullptr;
  if (heap() && !cosy_heap_retired && Size < HeapSize && cosy_lock(&Lock)) {
    Memory = heap()->allocate_aligned(Size ? Size : 1, Alignment);
    cosy_unlock(&Lock);
  }
  return Memory;
}

void *cosy_heap_alloc(size_t Size) {
  return cosy_heap_alloc_aligned(Size, Align);
}

bool cosy_heap_free(void *Memory) {
  if (cosy_heap_retired || !cosy_lock(&Lock))
    return false;
  heap()->deallocate(Memory);
  cosy_unlock(&Lock);
  return true;
}

size_t cosy_heap_size(const void *Memory) { return heap()->size(Memory); }

bool cosy_heap_owns(const void *Memory) {
  auto *Start = reinterpret_cast<const char *>(heap());
  auto *At = static_cast<const char *>(Memory);
  return Start && At >= Start && At < Start + HeapSize;
}

size_t cosy_heap_room() {
  return heap() && !cosy_heap_retired ? heap()->get_free_memory() : 0;
}

bool cosy_heap_lock() { return cosy_lock(&Lock); }

void cosy_heap_unlock() { cosy_unlock(&Lock); }

void cosy_heap_child() { Lock.word = 0; }
