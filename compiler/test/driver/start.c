// A program that comes to a region touches little of libcosy until one has
// earned the kernel: most lies after the program's own code, in the one segment
// that is not writable, and the dynamic linker looks nothing up for the rest.
// REQUIRES: links, gnu-ld
// RUN: %cosycc -O2 -Werror=cosy %s -o %t
// RUN: llvm-readelf -lW %t | FileCheck %s --check-prefix=SEGMENTS
// RUN: %t | FileCheck %s
// RUN: env LD_DEBUG=bindings %t 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: %cosycc -O2 -fuse-ld=bfd %s -o %t && %t | FileCheck %s
// RUN: env COSY_TIER=always COSY_MODE=interp %t | FileCheck %s --check-prefix=ENTERED
// A program may have its own script, and libcosy is part of one that is static.
// RUN: %cosycc -### -T own.ld %s 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: %cosycc -### -Wl,-z,now,-T,own.ld %s 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: %cosycc -### -B/nowhere %s 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: %cosycc -### -static %s 2>&1 | FileCheck %s --check-prefix=WITHOUT
// SEGMENTS-COUNT-2: LOAD
// SEGMENTS-NOT: LOAD
// SEGMENTS: .rodata {{.*}}.text .fini cosy_cold .eh_frame_hdr .eh_frame
// CHECK: code 1, untouched 1
// ENTERED: code 1, untouched
// BOUND-NOT: start.c.tmp [0] to {{.*}} normal symbol `{{__libc_stack_end|__pthread_cancel|dl_iterate_phdr|__errno_location|getauxval}}'
// BOUND: code 1, untouched 1
// BOUND-NOT: start.c.tmp [0] to {{.*}} normal symbol `{{__libc_stack_end|__pthread_cancel|dl_iterate_phdr|__errno_location|getauxval}}'
// WITHOUT-NOT: cosy_cold
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char line[512], own[400], path[400];
	int code = 0, untouched = 0, size = 0, resident, executable = 0;
	FILE *maps;

	COSY_START;
	for (int i = 0; i < 3; i++)
		getppid();
	COSY_END;
	own[readlink("/proc/self/exe", own, sizeof(own) - 1)] = '\0';
	maps = fopen("/proc/self/smaps", "r");
	while (fgets(line, sizeof(line), maps)) {
		char permissions[8];

		if (sscanf(line, "%*x-%*x %7s %*s %*s %*s %399s", permissions, path) == 2)
			executable = permissions[2] == 'x' && !strcmp(path, own);
		sscanf(line, "Size: %d", &size);
		if (executable && sscanf(line, "Rss: %d", &resident) == 1) {
			code++;
			untouched += resident <= size / 2;
		}
	}
	printf("code %d, untouched %d\n", code, untouched);
	return 0;
}
