/* SPDX-License-Identifier: MIT */
/*
 * next.h - the C library's own functions behind those that this library puts before
 * them.  Where glibc exports a second name (__read), that name is used: it is bound
 * like any other and stays a cancellation point.  The others are looked up once.
 */
#ifndef COSY_READ_NEXT_H
#define COSY_READ_NEXT_H

#include <dlfcn.h>
#include <signal.h>
#include <sys/types.h>

ssize_t __read(int fd, void *buf, size_t len);
ssize_t __pread64(int fd, void *buf, size_t len, off_t offset);
off_t __lseek(int fd, off_t offset, int whence);
int __open64(const char *path, int flags, ...);
int __close(int fd);
int __dup2(int fd, int copy);
int __fcntl(int fd, int command, ...);
pid_t __fork(void);
int __sigaction(int signal, const struct sigaction *action, struct sigaction *old);

#define NEXT(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&name) next_;                                                    \
		__typeof__(&name) found_ = __atomic_load_n(&next_, __ATOMIC_RELAXED);              \
                                                                                                   \
		if (!found_) {                                                                     \
			found_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                       \
			__atomic_store_n(&next_, found_, __ATOMIC_RELAXED);                        \
		}                                                                                  \
		found_;                                                                            \
	})

#endif /* COSY_READ_NEXT_H */
