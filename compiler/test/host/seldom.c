// A call that not every entry or iteration makes counts where it is made, with what it saves; the
// others count on arrival.
// RUN: %ir %s | FileCheck %s
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=SAYS
#include <cosy/cosy.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// Nearly all entries make the first call alone, so that each loses by entering the kernel.
// CHECK-LABEL: define {{.*}}@reload(
// CHECK: call i32 @stat(
// CHECK: sub i64 %cosy.left{{[^,]*}}, [[#]]
// CHECK: call i32 (ptr, i32, ...) @open(
// CHECK: {{^}}cosy.count:
// CHECK: sub i64 %cosy.left{{[^,]*}}, -[[#]]
// SAYS: seldom.c:[[#@LINE+3]]:2: remark: gain: entering the kernel {{saves|costs}}
int reload(const char *name, long *size, char *buffer)
{
	COSY_START;
	struct stat st;

	if (stat(name, &st) < 0)
		return -1;
	if (st.st_size != *size) {
		int fd = open(name, O_RDONLY);

		if (fd < 0 || read(fd, buffer, 256) < 0)
			return -1;
		close(fd);
		*size = st.st_size;
	}
	COSY_END;
	return 0;
}

// Each iteration reads; few write.
// CHECK-LABEL: define {{.*}}@filter(
// CHECK: call i64 @read(
// CHECK: icmp sle i64 %cosy.left
// CHECK: sub i64 %cosy.left{{[^,]*}}, [[#]]
// CHECK: call i64 @write(
long filter(int from, int to)
{
	char byte;
	long kept = 0;

	COSY_START;
	while (read(from, &byte, 1) == 1)
		if (byte == '\n' && write(to, &byte, 1) == 1)
			kept++;
	COSY_END;
	return kept;
}
