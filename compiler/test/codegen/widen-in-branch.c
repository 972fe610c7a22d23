// A loop over bytes is widened where its start comes from another loop.
// RUN: %cosycc -O2 -c %s -o %t.o -Rcosy 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

int count(char **paths, int n)
{
	int links = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		char rest[256], link[256];

		strcpy(rest, paths[i]);
		for (char *p = rest; *p;) {
			char *end;
			struct stat st;

			while (*p == '/')
				p++;
			for (end = p; *end && *end != '/'; end++)
				;
			if (lstat(p, &st) == 0 && S_ISLNK(st.st_mode)) {
				ssize_t n = readlink(p, link, sizeof(link) - 1);

				if (n < 0)
					break;
				strcpy(link + n, end);
				strcpy(rest, link);
				links++;
				p = rest;
			} else {
				p = end;
			}
		}
	}
	COSY_END;
	return links;
}
// CHECK: loop processes 8 bytes at once
