// A recursive function leaves the kernel for an error report and for exit; elsewhere a region ends before them.
// RUN: rm -f %t.dump*
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o %dump 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: cat %t.dump.*.lowered.ll | FileCheck %s
#include <cosy/cosy.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long visit(const char *path, int depth)
{
	if (access(path, 0) < 0)
		perror(path);
	if (depth > 1000)
		exit(depth);
	return depth ? visit(path, depth - 1) + visit(path + 1, depth - 1) : 1;
}

long f(const char *path, int depth)
{
	long sum = 0;

	COSY_START;
	sum += visit(path, depth);
	COSY_END;
	return sum;
}
// REPORT-DAG: call-outs.c:23:2: remark: region compiled
// CHECK: call i64 @__cosy_call.65581.{{[lp]+}}({{.*}}, i64 1)

long g(const char *path)
{
	COSY_START;
	if (access(path, 0) < 0)
		perror(path);
	COSY_END;
	return 0;
}
// REPORT-DAG: call-outs.c:35:3: remark: the region ends before the call of 'perror'
