// SPDX-License-Identifier: MIT
/* step_memory.c - steps of memory: mappings, arenas, what moves, and pressure. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "execute.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void step_unmap(struct actor *actor, const uint32_t *arg)
{
	(void)actor;
	values_remapped();
	munmap((void *)value_own(arg[0]), value_length(arg[1] & ~15u));
}

void step_remap(struct actor *actor, const uint32_t *arg)
{
	int flags = (int)(arg[3] & 7);
	uint64_t to = REGION_PLACE(REGION_ARENA) + (2 + arg[4] % 2) * PART;

	(void)actor;
	values_remapped();
	if (flags & MREMAP_FIXED)
		flags |= MREMAP_MAYMOVE;
	if (arg[4] & 0x100)
		to = value_own(arg[4] >> 9);
	syscall(SYS_mremap, value_own(arg[0]), arg[1] & 8 ? 0 : value_length(arg[1] & ~15u),
		value_length(arg[2] & ~15u), flags, to);
}

void step_protect(struct actor *actor, const uint32_t *arg)
{
	(void)actor;
	values_remapped();
	syscall(SYS_mprotect, value_own(arg[0]) & ~4095ull, value_length(arg[1] & ~15u),
		arg[2] & 8 ? 3 : arg[2] & 7);
}

void step_advise(struct actor *actor, const uint32_t *arg)
{
	static const int advice[] = { MADV_DONTNEED,	  MADV_DONTFORK,      MADV_DOFORK,
				      MADV_REMOVE,	  MADV_FREE,	      MADV_COLD,
				      MADV_PAGEOUT,	  MADV_WILLNEED,      MADV_WIPEONFORK,
				      MADV_KEEPONFORK,	  MADV_MERGEABLE,     MADV_HUGEPAGE,
				      MADV_POPULATE_READ, MADV_POPULATE_WRITE };

	(void)actor;
	values_remapped();
	syscall(SYS_madvise, value_own(arg[0]) & ~4095ull, value_length(arg[1] & ~15u),
		advice[arg[2] % COUNT(advice)]);
}

/* Writes, reads or locks memory, by calls, so that it may be gone. */
void step_touch(struct actor *actor, const uint32_t *arg)
{
	uint64_t place = REGION_PLACE(arg[0] & 0x10 ? REGION_ARENA : REGION_BUFFER) +
			 (arg[0] >> 8 & 3) * PART;
	uint64_t length = value_length(arg[1]);

	(void)actor;
	switch (arg[2] & 7) {
	case 0:
		syscall(SYS_write, value_slots[SLOT_NULL], place, length);
		syscall(SYS_write, value_slots[SLOT_FILE], place, length);
		break;
	case 1:
		syscall(SYS_mlock, place, length);
		break;
	case 2:
		syscall(SYS_munlock, place, length);
		break;
	default:
		syscall(SYS_read, value_slots[SLOT_ZERO], place, length);
	}
}

/* --- What moves ------------------------------------------------------------------------------- */

void step_arena(struct actor *actor, const uint32_t *arg)
{
	struct cosy_arena_request request = { .size = sizeof(request),
					      .flags = arg[2] & 15 ? 0 : arg[2] >> 4,
					      .length = value_length(arg[1]) };
	uint32_t slot = arg[0] % 2;
	int fd = (int)syscall(SYS_ioctl, value_slots[SLOT_CONTEXT + (arg[0] >> 1) % 4],
			      COSY_IOC_ARENA, &request);
	int rights = arg[3] & 15 ? (int)(arg[3] >> 4 & 7) : PROT_READ | PROT_WRITE;

	(void)actor;
	if (fd < 0)
		return;
	if (value_slots[SLOT_ARENA + slot] >= 0)
		close(value_slots[SLOT_ARENA + slot]);
	value_slots[SLOT_ARENA + slot] = fd;
	mmap((void *)(REGION_PLACE(REGION_ARENA) + slot * PART), request.length, rights,
	     ((arg[3] & 0x300) == 0x300 ? MAP_PRIVATE : MAP_SHARED) | MAP_FIXED, fd, 0);
}

static uint64_t arena_place(uint32_t choice)
{
	if ((choice & 15) == 15)
		return value_pointer('p', choice >> 4);
	return REGION_PLACE(REGION_ARENA) + (choice >> 4 & 1) * PART + (choice >> 5 & 7) * 4096 +
	       ((choice & 15) == 14 ? choice >> 8 & 4095 : 0);
}

static int move_descriptor(uint32_t operation, uint32_t choice)
{
	if ((choice & 0xe0) == 0xe0)
		return value_descriptor(choice >> 8);
	switch (operation) {
	case COSY_MOVE_LOAN:
		return value_slots[choice & 1 ? SLOT_PIPE + 1 : SLOT_SOCKET + (choice >> 1) % 2];
	case COSY_MOVE_TRANSFER:
		return value_slots[SLOT_PIPE];
	case COSY_MOVE_PASS:
	case COSY_MOVE_TAKE:
		return value_slots[SLOT_PORT + (operation == COSY_MOVE_PASS)];
	case COSY_MOVE_IMPORT:
		return value_slots[SLOT_PARCEL + choice % 2];
	default:
		return choice & 0x70 ? -1 : value_slots[SLOT_PARCEL + choice % 2];
	}
}

/* Keeps a new port's ends in place of another's. */
static void port_set(const int *ends, bool blocks)
{
	for (int i = 0; i < 2; i++) {
		if (value_slots[SLOT_PORT + i] >= 0)
			close(value_slots[SLOT_PORT + i]);
		value_slots[SLOT_PORT + i] = ends[i];
		if (!blocks)
			fcntl(ends[i], F_SETFL, O_NONBLOCK);
	}
}

void step_move(struct actor *actor, const uint32_t *arg)
{
	uint32_t operation = arg[1] % 14, flags = arg[5] & 3 ? 0 : arg[5] >> 2 & 7;
	struct cosy_move move = {
		.size = sizeof(move),
		.operation = operation,
		.address = arena_place(arg[2]),
		.length = arg[3] & 1 ? value_length(arg[3] >> 1)
				     : ((arg[3] >> 1) % 4 + 1) * 4096ull - (arg[3] & 0x100 ? 1 : 0),
		.fd = move_descriptor(operation, arg[4]),
		.flags = (arg[5] & 0xe0) == 0xe0 ? arg[5] >> 8 : flags,
		.at = operation == COSY_MOVE_PASS || !(arg[0] & 0x700) ? (arg[4] >> 8 & 7) * 4096ull
								       : 0,
		.how = operation == COSY_MOVE_PASS || !(arg[0] & 0x3800)
			       ? COSY_MOVE_COPY + arg[5] % 4
			       : 0,
	};
	int ends[2];
	long fd;

	(void)actor;
	if (operation == COSY_MOVE_PORT && arg[0] & 0xc000)
		move.address = 0;
	if (operation == COSY_MOVE_PORT)
		move.at = (arg[0] >> 8 & 7) ? (uintptr_t)ends : value_pointer('p', arg[4]);
	if (operation == COSY_MOVE_TAKE)
		move.at = value_pointer('p', arg[4]);
	fd = syscall(SYS_ioctl, value_slots[SLOT_CONTEXT + arg[0] % 4], COSY_IOC_MOVE, &move);
	if (operation == COSY_MOVE_PORT && !fd && move.at == (uintptr_t)ends)
		port_set(ends, arg[3] & 0x200);
	if (operation < COSY_MOVE_SHARE || operation > COSY_MOVE_DONATE_ZERO || fd < 0)
		return;
	if (value_slots[SLOT_PARCEL + arg[4] % 2] >= 0)
		close(value_slots[SLOT_PARCEL + arg[4] % 2]);
	value_slots[SLOT_PARCEL + arg[4] % 2] = (int)fd;
}

void step_parcel(struct actor *actor, const uint32_t *arg)
{
	int fd = value_slots[SLOT_PARCEL + arg[0] % 4], number = 0;
	uint64_t place = value_pointer('p', arg[2]), length = value_length(arg[3]);

	(void)actor;
	switch (arg[1] % 8) {
	case 0:
		syscall(SYS_ioctl, fd, COSY_IOC_PARCEL, 0);
		break;
	case 6:
		syscall(SYS_pwrite64, fd, place, length, (arg[4] & 7) * 4096ull);
		break;
	case 7:
		syscall(SYS_ioctl, fd, COSY_IOC_PORT, place);
		break;
	case 1:
		syscall(SYS_ioctl, fd, 0x541b, &number);
		break;
	case 2:
		syscall(SYS_read, fd, place, length);
		break;
	case 3:
		syscall(SYS_pread64, fd, place, length, value_number(arg[4]));
		break;
	case 4:
		syscall(SYS_lseek, fd, value_number(arg[4]), arg[5] % 4);
		break;
	default:
		syscall(SYS_sendfile, value_slots[SLOT_PIPE + 1], fd, 0, length);
	}
}

/* --- Bounds ----------------------------------------------------------------------------------- */

void step_bounds(struct actor *actor, const uint32_t *arg)
{
	static const int which[] = { RLIMIT_MEMLOCK, RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_STACK };
	struct rlimit limit = { value_number(arg[1]) % 100000, RLIM_INFINITY };

	(void)actor;
	getrlimit(which[arg[0] % COUNT(which)], &limit);
	limit.rlim_cur = value_number(arg[1]) % 100000;
	setrlimit(which[arg[0] % COUNT(which)], &limit);
}

void step_pressure(struct actor *actor, const uint32_t *arg)
{
	size_t size = (1 + (arg[0] >> 9 & 7 ? arg[0] % 4 : arg[0] % 24)) << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)actor;
	if (memory == MAP_FAILED)
		return;
	for (size_t at = 0; at < size && (at % (1 << 20) || time_is_left()); at += 4096)
		memory[at] = 1;
	if (arg[0] & 0x100)
		munmap(memory, size);
}
