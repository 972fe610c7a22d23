// SPDX-License-Identifier: MIT
/*
 * watchdog.c - see watchdog.h.  All but what program threads call runs in the thread that returns
 * leases, which must not call libc.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/watchdog.h"
#include "loaded.h"
#include "syscall.h"

/* Bytes of the child's memory: the path of the command, and a stack above it. */
#define PATH_ROOM 4096
#define MEMORY	  (PATH_ROOM + 8192)

/* Places of the command, from the directory of the library. */
static const char commands[][24] = {"../bin/cosy", "../../bin/cosy", "../../../bin/cosy"};

/* The page of the current watchdog, or NULL; changed under lease.c's lock. */
static struct watchdog_page *page;
/* Where such pages are mapped, once there was one: late readers may follow an earlier word. */
static struct watchdog_page *place;

static bool tracer_left;

/* The watchdog's process; it shares this memory until it executes `cosy`. */
static struct {
	pid_t number; /* 0: none that would have to be waited for */
	char *memory;
	char *end; /* of the library's directory, at the beginning of the memory */
	const char *argv[3];
	char digits[12];
	int descriptors[4];
} child;

/* True if the watchdog that `page` is for has ended, and will not touch anything any more. */
static bool watchdog_is_gone(void)
{
	uint32_t number = __atomic_load_n(&page->number, __ATOMIC_SEQ_CST);

	return !number || cosy_syscall3(SYS_kill, number, 0, 0) == -ESRCH;
}

/* Waits for a watchdog that has ended, as no wait of the program's does. */
void watchdog_tend(void)
{
	if (child.number &&
	    cosy_syscall6(SYS_wait4, child.number, 0, __WALL | WNOHANG, 0, 0, 0) != 0)
		child.number = 0;
}

void watchdog_begin(void)
{
	watchdog_tend();
	if (page && watchdog_is_gone())
		page = NULL;
}

bool watchdog_taking(struct file *file, int fd, uint32_t *turn)
{
	unsigned int number = file_number(file);

	if (!page)
		return true;
	*turn = __atomic_load_n(&page->turn, __ATOMIC_SEQ_CST);
	if ((*turn & 1) && !watchdog_is_gone())
		return false;
	__atomic_store_n(&page->words[number], WATCHDOG_HELD, __ATOMIC_SEQ_CST);
	__atomic_store_n(&page->fds[number], fd + 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&file->guard, &page->words[number], __ATOMIC_SEQ_CST);
	return true;
}

bool watchdog_taken(uint32_t turn)
{
	return !page || __atomic_load_n(&page->turn, __ATOMIC_SEQ_CST) == turn;
}

void watchdog_tell(struct file *file)
{
	uint32_t turn;

	watchdog_taking(file, file->fd, &turn);
}

void watchdog_forget(const struct file *file)
{
	if (page)
		__atomic_store_n(&page->fds[file_number(file)], 0, __ATOMIC_SEQ_CST);
}

void watchdog_leave_tracer(void)
{
	tracer_left = true;
}

void watchdog_share_child(void)
{
	page = NULL;
	child.number = 0;
}

static long descriptor_open(const char *path)
{
	return cosy_syscall6(SYS_openat, AT_FDCWD, (unsigned long)path, O_RDONLY | O_CLOEXEC, 0, 0,
			     0);
}

static ino_t inode_of(const char *path)
{
	struct stat st;

	return cosy_syscall6(SYS_newfstatat, AT_FDCWD, (unsigned long)path, (unsigned long)&st, 0,
			     0, 0)
		       ? 0
		       : st.st_ino;
}

/* True if children of the program are in its PID namespace; the first in another is its init. */
static bool children_stay(void)
{
	ino_t children = inode_of("/proc/thread-self/ns/pid_for_children");

	return children && children == inode_of("/proc/thread-self/ns/pid");
}

/* Maps the page of `fd`, over that of a former watchdog.  NULL: it cannot be had. */
static struct watchdog_page *page_map(int fd)
{
	long mapping =
		cosy_syscall6(SYS_mmap, (unsigned long)place, sizeof(*place),
			      PROT_READ | PROT_WRITE, MAP_SHARED | (place ? MAP_FIXED : 0), fd, 0);

	if (mapping < 0 && mapping >= -4095)
		return NULL;
	place = (struct watchdog_page *)mapping;
	return place;
}

/*
 * Becomes the watchdog; until then the child shares memory, but no descriptors, with the program.
 */
static void child_run(void)
{
	for (int i = 0; i < 4; i++)
		if (cosy_syscall3(SYS_dup2, child.descriptors[i], WATCHDOG_PROCESS + i, 0) < 0)
			cosy_syscall3(SYS_exit, 1, 0, 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		strcpy(child.end, commands[i]);
		cosy_syscall3(SYS_execve, (unsigned long)child.memory, (unsigned long)child.argv,
			      (unsigned long)&child.argv[2]);
	}
	cosy_syscall3(SYS_exit, 1, 0, 0);
}

/*
 * Makes a process that runs `run` on `stack`, of this memory and without a signal when it ends, so
 * that waits of the program's do not find it, except by __WALL and __WCLONE.  Returns its number,
 * or a negative errno.  In arch/.
 */
__attribute__((visibility("hidden"))) long watchdog_clone(unsigned long flags, char *stack,
							  void (*run)(void));

static void digits_write(char *to, unsigned int number)
{
	unsigned int power = 1;

	while (number / power >= 10)
		power *= 10;
	for (; power; power /= 10)
		*to++ = (char)('0' + number / power % 10);
	*to = 0;
}

/* Prepares what the child needs besides descriptors.  False: no memory, or no path. */
static bool child_prepare(int process)
{
	static const char name[] = WATCHDOG_NAME;
	const struct link_map *own = loaded_own();
	const char *slash = own ? strrchr(own->l_name, '/') : NULL;
	size_t len = slash ? slash - own->l_name + 1 : 0;
	long mapping;

	if (!len || len + sizeof(*commands) > PATH_ROOM)
		return false;
	if (!child.memory) {
		mapping = cosy_syscall6(SYS_mmap, 0, MEMORY, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (mapping < 0 && mapping >= -4095)
			return false;
		child.memory = (char *)mapping;
	}
	child.end = (char *)memcpy(child.memory, own->l_name, len) + len;
	digits_write(child.digits, process);
	child.argv[0] = name;
	child.argv[1] = child.digits;
	child.argv[2] = NULL;
	return true;
}

/*
 * Lets the watchdog fetch descriptors where Yama lets nobody but ancestors do so, and the program
 * has not named another.
 */
static void watchdog_permit(void)
{
	char scope = 0;
	long fd;

	if (tracer_left)
		return;
	fd = descriptor_open("/proc/sys/kernel/yama/ptrace_scope");
	if (fd < 0)
		return;
	cosy_syscall3(SYS_read, fd, (unsigned long)&scope, 1);
	cosy_syscall3(SYS_close, fd, 0, 0);
	if (scope == '1')
		cosy_syscall3(SYS_prctl, PR_SET_PTRACER, child.number, 0);
}

void watchdog_start(int process, int self,
		    void (*tell)(struct watchdog_page **page, struct watchdog_page *made))
{
	struct watchdog_page *made = NULL;
	int life[2];
	long stat, file;

	if (page || child.number || !child_prepare(process) || !children_stay())
		return;
	stat = descriptor_open("/proc/thread-self/stat");
	file = cosy_syscall3(SYS_memfd_create, (unsigned long)WATCHDOG_NAME, MFD_CLOEXEC, 0);
	if (stat >= 0 && file >= 0 && !cosy_syscall3(SYS_ftruncate, file, sizeof(*made), 0) &&
	    !cosy_syscall3(SYS_pipe2, (unsigned long)life, O_CLOEXEC, 0)) {
		made = page_map(file);
		child.descriptors[0] = self;
		child.descriptors[1] = (int)stat;
		child.descriptors[2] = (int)file;
		child.descriptors[3] = life[0];
		/* The other end of the pipe stays open for as long as this thread lives. */
		if (made)
			made->version = WATCHDOG_VERSION;
		if (made)
			tell(&page, made);
		child.number =
			made ? (pid_t)watchdog_clone(CLONE_VM, child.memory + MEMORY, child_run)
			     : 0;
		if (child.number < 0)
			child.number = 0;
		if (child.number)
			watchdog_permit();
		else
			cosy_syscall3(SYS_close, life[1], 0, 0);
		cosy_syscall3(SYS_close, life[0], 0, 0);
	}
	if (stat >= 0)
		cosy_syscall3(SYS_close, stat, 0, 0);
	if (file >= 0)
		cosy_syscall3(SYS_close, file, 0, 0);
}
