/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - what the bodies of libc functions for compounds share.  They are compiled to BPF
 * bitcode and put into the plugin, which uses a function named __cosy_rt_X for calls of X.
 *
 * They may call what core/ops.def wraps, and __errno_location.
 */
#ifndef COSY_PASS_RUNTIME_H
#define COSY_PASS_RUNTIME_H

typedef unsigned long size_t;
typedef long ssize_t;
typedef unsigned char u8;

#define RT(name) __cosy_rt_##name
#define NULL	 ((void *)0)

size_t strlen(const char *s);
size_t strnlen(const char *s, size_t n);
char *strcpy(char *d, const char *s);
char *strchr(const char *s, int c);
char *strchrnul(const char *s, int c);
void *memcpy(void *d, const void *s, size_t n);
void *memset(void *d, int c, size_t n);
void *memchr(const void *s, int c, size_t n);
int __cosy_strncasecmp(const char *a, const char *b, size_t n, const int *lower);
char *__cosy_strcasestr(const char *h, const char *n, const int *lower);
int *__errno_location(void);
const unsigned short **__ctype_b_loc(void);
const int **__ctype_tolower_loc(void);
const int **__ctype_toupper_loc(void);
void __chk_fail(void) __attribute__((noreturn));
long syscall(long number, ...);
int unlink(const char *path);
int rmdir(const char *path);
char *getcwd(char *path, size_t size);
int fchmodat(int dir, const char *path, unsigned mode, int flags);
int ioctl(int fd, unsigned long request, void *arg);
int getpid(void);
int gettid(void);
int tgkill(int pid, int tid, int sig);
int open(const char *path, int flags, ...);
int close(int fd);
int fcntl(int fd, int command, ...);
int fstat(int fd, void *stat);
long lseek(int fd, long offset, int whence);
ssize_t getdents64(int fd, void *entries, size_t size);
void *malloc(size_t size);
void free(void *block);

#define EPERM	     1
#define ENOTDIR	     20
#define EISDIR	     21
#define EINVAL	     22
#define ERANGE	     34
#define ENAMETOOLONG 36

#endif /* COSY_PASS_RUNTIME_H */
