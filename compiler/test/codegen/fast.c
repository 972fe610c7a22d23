// The functions of <cosy/fast.h>, and four of <cosy/move.h>, are operations; those that make calls set errno.
// RUN: %cosycc -O2 -c %s -o %t.o && cosy dis %t.o | FileCheck %s
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT-NOT: stays native
#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <cosy/move.h>
#include <errno.h>
#include <fcntl.h>

long f(int fd, char *buf, const char *path, struct stat *st, struct cosy_tree *tree)
{
	long n = 0;

	COSY_START;
	// CHECK: call cosy_view_pread
	n += cosy_pread(fd, buf, 4096, 0);
	// CHECK: call cosy_readc
	n += cosy_readc(fd);
	// CHECK: call cosy_seek_read
	n += cosy_seek_read(fd, buf, 10, 20, SEEK_SET);
	// CHECK: call cosy_seek_write
	n += cosy_seek_write(fd, buf, 10, 20, SEEK_CUR);
	// CHECK: call cosy_read_file
	n += cosy_read_file(AT_FDCWD, path, buf, 4096, O_RDONLY);
	// CHECK: call cosy_write_file
	n += cosy_write_file(AT_FDCWD, path, buf, 4096, O_WRONLY);
	// CHECK: call cosy_scan_dir
	n += cosy_scan_dir(fd, buf, 4096, AT_SYMLINK_NOFOLLOW);
	// CHECK: call cosy_scan_tree
	n += cosy_scan_tree(tree, buf, 4096);
	// CHECK: call cosy_epoll_read
	n += cosy_epoll_read(fd, buf, 4096, 4, 0);
	// CHECK: call cosy_lend
	n += cosy_lend(fd, buf, 100, 0);
	// CHECK: call write
	n += cosy_write(fd, buf, 1);
	// CHECK: call pwrite64
	n += cosy_pwrite(fd, buf, 1, 2);
	// CHECK: call stat
	n += cosy_stat(path, st);
	// CHECK: call fstat
	n += cosy_fstat(fd, st);
	// CHECK: call lstat
	n += cosy_lstat(path, st);
	// CHECK: call cosy_count
	n += cosy_count(buf, 100, 'x');
	// CHECK: call cosy_crc32c
	n += cosy_crc32c(n, buf, 100);
	// CHECK: call cosy_discard
	cosy_discard(buf, 100);
	// CHECK: call cosy_transfer
	n += cosy_transfer(fd, buf, 8192, COSY_POPULATE);
	// CHECK: call cosy_look
	cosy_look(st, buf, sizeof(*st));
	// CHECK: call cosy_loan
	n += cosy_loan(fd, buf, 8192, COSY_GIVE);
	// CHECK: call cosy_pass
	n += cosy_pass(fd, 4096, buf, 8192, COSY_COPY);
	// CHECK: call cosy_flush
	n += cosy_flush(buf, 8192);
	COSY_END;
	return n + errno;
}
