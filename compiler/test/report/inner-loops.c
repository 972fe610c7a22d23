// A loop whose iterations without a call go through an inner loop is counted: beside that an addition
// costs little.  Otherwise a page of iterations would be assumed for the few components of a path.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <string.h>
#include <sys/stat.h>

long components(char **paths, long count)
{
	long found = 0;

	// CHECK: inner-loops.c:[[#@LINE+1]]:2: remark: gain: {{.*}} saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (long i = 0; i < count; i++) {
		char out[256], *end;
		size_t len = 0, part;
		struct stat st;

		for (char *p = paths[i]; *p; p = end) {
			while (*p == '/')
				p++;
			for (end = p; *end && *end != '/'; end++)
				;
			part = (size_t)(end - p);
			if (part == 1 && p[0] == '.') {
				len = 0;
				out[0] = '\0';
				continue;
			}
			if (len + part + 2 > sizeof(out))
				break;
			out[len] = '/';
			memcpy(out + len + 1, p, part);
			len += part + 1;
			out[len] = '\0';
			if (lstat(out, &st) == 0)
				found++;
		}
	}
	COSY_END;
	return found;
}
