// Numbers of remarks have names in a record of optimisations.
// RUN: %cosycc -O2 -fsave-optimization-record -foptimization-record-file=%t.yaml -foptimization-record-passes=cosy -c %s -o %t.o
// RUN: FileCheck %s < %t.yaml
#include <cosy/cosy.h>
#include <unistd.h>

void copy(int in, int out)
{
	char buf[4096];
	ssize_t n;

	COSY_START;
	while ((n = read(in, buf, sizeof(buf))) > 0)
		write(out, buf, n);
	COSY_END;
}
// CHECK: Name: Compiled
// CHECK: - Instructions: '{{[0-9]+}}'
// CHECK: - Functions: '1'
// CHECK: - Calls: '{{[0-9]+}}'
// CHECK: - ContextBytes: '{{[0-9]+}}'
// CHECK: - {{EntrySaves|EntryCosts}}: '{{[0-9]+}}'
// CHECK: - {{IterationSaves|IterationCosts}}: '{{[0-9]+}}'
// CHECK: - Load: '{{[0-9]+}}'
