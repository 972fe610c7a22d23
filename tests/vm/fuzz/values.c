// SPDX-License-Identifier: MIT
/* values.c - hostile numbers, pointers and descriptors, and what is at them. */
#include <fcntl.h>
#include <linux/cosy.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "values.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int value_slots[SLOT_CNT];
uint32_t value_handles[HANDLES];

static const uint64_t sizes[] = { 0, 1, 7, 8, 64, 255, 4095, 4096, 4097, 8192, 65536, 1 << 18 };
static const uint64_t odd[] = { -1ull,		-2ull,	    0x7fffffff,		0x80000000,
				0xffffffff,	1ull << 32, 0x7fffffffffffffff, 1ull << 63,
				0x7ffffffff000, 0x7ffff000, COSY_UNDER_WAY,	COSY_UNDER_WAY | 1,
				-4096ull,	-100ull };

uint64_t value_number(uint32_t choice)
{
	uint32_t rest = choice >> 3;

	switch (choice & 7) {
	case 0 ... 2:
		return rest % 10;
	case 3 ... 4:
		return sizes[rest % COUNT(sizes)];
	case 5:
		return odd[rest % COUNT(odd)];
	case 6:
		return 1ull << rest % 64;
	default:
		return rest;
	}
}

/* --- Memory ------------------------------------------------------------------------------ */

enum {
	FURNITURE_NAMES = 0, /* 32 bytes each */
	FURNITURE_IOVEC = 0x300,
	FURNITURE_TIME = 0x380,
	FURNITURE_POLL = 0x3c0,
	FURNITURE_ADDRESS = 0x400,
	FURNITURE_MESSAGE = 0x480,
	FURNITURE_SET = 0x500,
	FURNITURE_RUN = 0x580,
	FURNITURE_MOVE = 0x600,
	FURNITURE_FREE = 0x640,
	FURNITURE_TREE = 0x1000,
	FURNITURE_END = 0x3000
};
static const uint32_t furniture[] = { FURNITURE_IOVEC,	 FURNITURE_TIME,    FURNITURE_POLL,
				      FURNITURE_ADDRESS, FURNITURE_MESSAGE, FURNITURE_SET,
				      FURNITURE_RUN,	 FURNITURE_MOVE,    FURNITURE_FREE,
				      FURNITURE_TREE };
static const char *const names[] = { "f0",	  "f1",	    "d0",	 "d0/f2",
				     ".",	  "/",	    "/dev/null", "/dev/zero",
				     "",	  "none/x", "d0/../f0",	 "l0",
				     "/dev/cosy", "d1",	    "user.x",	 "/proc/self" };
static const uint64_t foreign[] = { 0,
				    1,
				    0x1000,
				    0x7ffffffff000,
				    0x7ffffffffff8,
				    0x800000000000,
				    0xffff888000000000,
				    0xffffffff81000000,
				    0xffffffffff600000,
				    -8ull };

uint64_t value_own(uint32_t choice)
{
	static const uint8_t own[] = { REGION_PLAIN, REGION_BUFFER, REGION_BUFFER, REGION_BUFFER,
				       REGION_ARENA, REGION_ARENA,  REGION_NONE,   REGION_HOLE };
	uint64_t place = REGION_PLACE(own[choice & 7]) + (choice >> 8 & 3) * PART;
	uint64_t offset = choice >> 10;

	/* Take whole pages mostly, at the front. */
	return place + (choice & 0x80 ? offset % PART : (offset & 15) * 4096);
}

static uint64_t pointer_any(uint32_t choice)
{
	uint32_t rest = choice >> 4;

	switch (choice & 15) {
	case 0 ... 8:
		return value_own(rest);
	case 9:
		return REGION_PLACE(REGION_READ_ONLY) + rest % 8192;
	case 10:
		return REGION_PLACE(REGION_STATE) + (rest & 1 ? PART : 0) + rest / 2 % 0x8000;
	case 11:
		return REGION_PLACE(rest & 3) + PART - rest / 4 % 32;
	case 12:
		return REGION_PLACE(rest & 3) - rest / 4 % 32;
	case 13:
		return foreign[rest % COUNT(foreign)];
	case 14:
		return foreign[rest % COUNT(foreign)] + rest / 16;
	default:
		return value_number(rest);
	}
}

uint64_t value_pointer(char letter, uint32_t choice)
{
	uint64_t plain = REGION_PLACE(REGION_PLAIN);
	uint32_t rest = choice >> 4, how = choice & 15;

	if (letter == 'r' && how < 8)
		return plain + FURNITURE_NAMES + rest % COUNT(names) * 32;
	if (letter == 'P' && how < 11)
		return plain + furniture[rest % COUNT(furniture)];
	if (letter == 'p' && how < 2)
		return plain + furniture[rest % COUNT(furniture)];
	if (how < 11)
		return plain + FURNITURE_END + rest % (PART - FURNITURE_END);
	return pointer_any(rest);
}

uint64_t value_length(uint32_t choice)
{
	return (choice & 15) == 15 ? value_number(choice >> 4) : ((choice >> 4 & 15) + 1) * 4096;
}

int value_descriptor(uint32_t choice)
{
	if ((choice & 31) == 31)
		return (int)value_number(choice >> 5);
	return value_slots[(choice & 31) % SLOT_CNT];
}

uint64_t value_argument(char letter, uint32_t choice)
{
	switch (letter) {
	case 'd':
	case 'i':
		if ((choice & 7) == 7)
			return (uint64_t)-100; /* AT_FDCWD */
		if ((choice & 7) == 6)
			return value_number(choice >> 3);
		return (uint64_t)(int64_t)value_descriptor(choice >> 3);
	case 'p':
	case 'r':
	case 'P':
		return value_pointer(letter, choice);
	case 's':
		return value_pointer('r', choice);
	default:
		return value_number(choice);
	}
}

/* --- What is there ------------------------------------------------------------------------- */

static bool map_region(enum region region, int protection)
{
	return mmap((void *)REGION_PLACE(region), REGION_SIZE, protection,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static bool regions_map(int read_only)
{
	munmap((void *)REGION_PLACE(0), REGION_PLACE(REGION_CNT) - REGION_PLACE(0));
	return map_region(REGION_PLAIN, PROT_READ | PROT_WRITE) &&
	       map_region(REGION_STATE, PROT_READ | PROT_WRITE) &&
	       map_region(REGION_NONE, PROT_NONE) &&
	       mmap((void *)REGION_PLACE(REGION_READ_ONLY), 8192, PROT_READ, MAP_SHARED | MAP_FIXED,
		    read_only, 0) != MAP_FAILED;
}

static void furnish(void)
{
	char *plain = (char *)REGION_PLACE(REGION_PLAIN);
	struct iovec *iovec = (void *)(plain + FURNITURE_IOVEC);
	struct sockaddr_un *address = (void *)(plain + FURNITURE_ADDRESS);

	for (size_t i = 0; i < COUNT(names); i++)
		strcpy(plain + FURNITURE_NAMES + 32 * i, names[i]);
	for (int i = 0; i < 8; i++) {
		iovec[i].iov_base = plain + FURNITURE_END + 1000 * i;
		iovec[i].iov_len = 100 * (size_t)i;
	}
	iovec[3].iov_base = (void *)REGION_PLACE(REGION_BUFFER);
	iovec[5].iov_base = (void *)REGION_PLACE(REGION_HOLE);
	*(struct timespec *)(plain + FURNITURE_TIME) = (struct timespec){ 0, 100000 };
	*(struct pollfd *)(plain + FURNITURE_POLL) =
		(struct pollfd){ value_slots[SLOT_PIPE], 1, 0 };
	address->sun_family = AF_UNIX;
	strcpy(address->sun_path, "s0");
	*(struct msghdr *)(plain + FURNITURE_MESSAGE) =
		(struct msghdr){ .msg_iov = iovec, .msg_iovlen = 4 };
	*(struct cosy_run *)(plain + FURNITURE_RUN) =
		(struct cosy_run){ .size = sizeof(struct cosy_run),
				   .handle = 1,
				   .state = STATE_PLACE(1),
				   .stack = STACK_PLACE(1),
				   .stack_size = STACK_SIZE };
	*(struct cosy_move *)(plain + FURNITURE_MOVE) =
		(struct cosy_move){ .size = sizeof(struct cosy_move),
				    .operation = COSY_MOVE_LOAN,
				    .address = REGION_PLACE(REGION_ARENA),
				    .length = 8192,
				    .fd = value_slots[SLOT_PIPE + 1] };
	*(struct cosy_free *)(plain + FURNITURE_FREE) =
		(struct cosy_free){ .size = sizeof(struct cosy_free), .handle = 1 };
	*(struct cosy_tree *)(plain + FURNITURE_TREE) = (struct cosy_tree){
		.size = COSY_TREE_MIN_SIZE, .dirfd = value_slots[SLOT_DIRECTORY], .fd = -1
	};
}

static void slots_close(int first, int end)
{
	for (int i = first; i < end; i++)
		if (value_slots[i] >= 0) {
			close(value_slots[i]);
			value_slots[i] = -1;
		}
}

static bool slots_open(void)
{
	int *slots = value_slots;

	mkdir("d0", 0700);
	close(open("d0/f2", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	slots[SLOT_FILE] = open("f0", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (ftruncate(slots[SLOT_FILE], 20000))
		return false;
	slots[SLOT_FILE + 1] = open("f0", O_RDONLY | O_CLOEXEC);
	slots[SLOT_FILE + 2] = open("f1", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	slots[SLOT_FILE + 3] = memfd_create("f", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	slots[SLOT_DIRECTORY] = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	slots[SLOT_NULL] = open("/dev/null", O_RDWR | O_CLOEXEC);
	slots[SLOT_ZERO] = open("/dev/zero", O_RDWR | O_CLOEXEC);
	slots[SLOT_EVENT] = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	slots[SLOT_POLL] = epoll_create1(EPOLL_CLOEXEC);
	return slots[SLOT_FILE + 2] >= 0 && slots[SLOT_EVENT] >= 0 && slots[SLOT_POLL] >= 0 &&
	       !pipe2(&slots[SLOT_PIPE], O_CLOEXEC) &&
	       !socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
			   &slots[SLOT_SOCKET]);
}

static _Atomic bool remapped;

void values_remapped(void)
{
	remapped = true;
}

bool values_init(int read_only)
{
	memset(value_slots, -1, sizeof(value_slots));
	if (!regions_map(read_only) || !slots_open())
		return false;
	furnish();
	return true;
}

static bool slots_are_open(void)
{
	for (int i = SLOT_FILE; i <= SLOT_POLL; i++)
		if (fcntl(value_slots[i], F_GETFD) < 0)
			return false;
	return !ftruncate(value_slots[SLOT_FILE], 20000);
}

bool values_renew(int read_only)
{
	uint64_t own = REGION_PLACE(REGION_BUFFER);

	slots_close(0, SLOT_FILE);
	slots_close(SLOT_FREE, SLOT_CNT);
	memset(value_handles, 0, sizeof(value_handles));
	if (remapped || !slots_are_open()) {
		remapped = false;
		slots_close(SLOT_FILE, SLOT_FREE);
		return values_init(read_only);
	}
	munmap((void *)own, REGION_PLACE(REGION_ARENA) + REGION_SIZE - own);
	furnish();
	return true;
}
