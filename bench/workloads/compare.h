/* SPDX-License-Identifier: MIT */
/*
 * compare.h - compares the bytes that arrived, or were written, with those that should have.  No
 * function of it may be called between bench_resume and bench_pause.
 *
 * The first byte that differs is printed at once:
 *
 *	differs OFFSET GOT WANTED WHAT
 *
 * GOT and WANTED are the bytes, in hexadecimal, or "nothing" after an end.  At its end the
 * program prints how much was compared, and a digest of it, on which all contenders of a
 * row agree, or one of them compared less than the others:
 *
 *	compared BYTES DIGEST
 */
#ifndef COMPARE_H
#define COMPARE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Compares len bytes that arrived: those of WHAT from `at` on.  Calls may come in any order. */
void compare_bytes(const char *what, off_t at, const void *got, const void *wanted, size_t len);

/* Does the same for bytes that not all contenders have to show: they are not in the digest. */
void compare_besides(const char *what, off_t at, const void *got, const void *wanted, size_t len);

/* Does the same with the file `name` as content.h makes it. */
void compare_content(const char *name, off_t at, const void *got, size_t len);

/* Compares a number that depends on bytes that cannot be shown; `at` says where they were. */
void compare_number(const char *what, off_t at, uint64_t got, uint64_t wanted);

/* Compares the whole file, which must be len bytes long. */
void compare_file(const char *path, const void *wanted, size_t len);

/* Prints what was compared. */
void compare_report(void);

/* Returns the CRC-32C of what `crc` is the CRC of and len bytes more. */
uint32_t compare_crc(uint32_t crc, const void *data, size_t len);

#endif /* COMPARE_H */
