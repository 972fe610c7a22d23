// Each construct gives one reason, at its position.
// RUN: %cosycc -O1 -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

extern int elsewhere(int);

int no_body(int n)
{
	COSY_START;
	n += elsewhere(n);
	COSY_END;
	return n;
}
// CHECK-DAG: constructs.c:[[@LINE-4]]:7: warning: {{.*}} a call of 'elsewhere': no body here, and no system call

double arithmetic(double d)
{
	COSY_START;
	d *= 2.5;
	COSY_END;
	return d;
}
// CHECK-DAG: constructs.c:[[@LINE-4]]:4: warning: {{.*}} floating-point or vector arithmetic

int assembly(int n)
{
	COSY_START;
	__asm__ volatile("nop" : "+r"(n));
	COSY_END;
	return n;
}
// CHECK-DAG: constructs.c:[[@LINE-4]]:2: warning: {{.*}} inline assembly

int assembly_call(int n)
{
	COSY_START;
	__asm__ volatile("call 5" : : : "memory");
	COSY_END;
	return n;
}
// CHECK-DAG: constructs.c:[[@LINE-4]]:2: warning: {{.*}} inline assembly

int vector_register(int n)
{
	double d;

	COSY_START;
	__asm__ volatile("" : "+x"(n));
	n += getpid();
	COSY_END;
	return n;
}
// CHECK-DAG: constructs.c:[[@LINE-6]]:2: warning: {{.*}} stays native: LLVM's BPF back end

int of_a_thread(int n, int __seg_fs *p)
{
	COSY_START;
	n += getpid();
	*p = n;
	COSY_END;
	return n;
}
// CHECK-DAG: constructs.c:[[@LINE-4]]:5: warning: {{.*}} a pointer with an address space of its own

int variable_array(int n)
{
	int sum = 0;

	COSY_START;
	int a[n];
	read(0, a, sizeof(a));
	sum = a[n - 1];
	COSY_END;
	return sum;
}
// CHECK-DAG: constructs.c:[[@LINE-6]]:2: warning: {{.*}} alloca() or a variable length array

int on_stack(int n)
{
	int sum = 0;

	COSY_START;
	char *p = __builtin_alloca(n);
	read(0, p, n);
	sum = p[n - 1];
	COSY_END;
	return sum;
}
// CHECK-DAG: constructs.c:[[@LINE-6]]:12: warning: {{.*}} alloca() or a variable length array

static jmp_buf env;

int jumps(int n)
{
	COSY_START;
	if (setjmp(env))
		n++;
	COSY_END;
	return n;
}
// CHECK-DAG: constructs.c:[[@LINE-5]]:6: warning: {{.*}} a call that may return twice (setjmp, vfork)

int computed(int n)
{
	COSY_START;
	static void *const labels[] = { &&one, &&two };
	goto *labels[n & 1];
one:
	n += 1;
two:
	n += getpid();
	COSY_END;
	return n;
}
// CHECK-DAG: constructs.c:[[@LINE-6]]:4: warning: {{.*}} the target of a computed goto

int arguments(int n, ...)
{
	va_list list;

	COSY_START;
	va_start(list, n);
	n += va_arg(list, int);
	va_end(list);
	COSY_END;
	return n;
}
// CHECK-DAG: constructs.c:[[@LINE-6]]:2: warning: {{.*}} va_start, va_copy or va_end

__attribute__((weak)) int weak(int n)
{
	return n + getpid();
}

int replaceable(int n)
{
	COSY_START;
	n = weak(n);
	COSY_END;
	return n;
}
// CHECK-DAG: constructs.c:[[@LINE-4]]:6: warning: {{.*}} a call of 'weak', which is weak and may be replaced at link time

static int chosen(int n)
{
	return n + 1;
}

static void *choose(void)
{
	return chosen;
}

int resolved(int n) __attribute__((ifunc("choose")));
int getpgid(int pid) __attribute__((ifunc("choose"))); // not the system call

int resolves(int n)
{
	COSY_START;
	n = resolved(n);
	n += getpgid(n);
	COSY_END;
	return n;
}
// CHECK-DAG: constructs.c:[[@LINE-5]]:6: warning: {{.*}} a call of 'resolved', which is resolved at run time
// CHECK-DAG: constructs.c:[[@LINE-5]]:7: warning: {{.*}} a call of 'getpgid', which is resolved at run time

struct frame; // clang gives the handler a copy of it, and its size is unknown

__attribute__((interrupt)) void interrupts(struct frame *frame)
{
	(void)frame;
	COSY_START;
	getpid();
	COSY_END;
}
// CHECK-DAG: constructs.c:[[@LINE-4]]:2: warning: {{.*}} it is in an interrupt handler

int pointer(int n, __int128 (*f)(int))
{
	COSY_START;
	n = (int)f(n);
	COSY_END;
	return n;
}
// CHECK-DAG: constructs.c:[[@LINE-4]]:11: warning: {{.*}} a call through a pointer that is not a constant, which may throw or passes more

unsigned __int128 wide(unsigned __int128 x, unsigned __int128 y)
{
	COSY_START;
	x /= y;
	COSY_END;
	return x;
}
// CHECK-DAG: constructs.c:[[@LINE-4]]:4: warning: {{.*}} a 128-bit division

long double extended(long double x, long double *p)
{
	COSY_START;
	*p = x;
	COSY_END;
	return x;
}
// CHECK-DAG: constructs.c:[[@LINE-4]]:5: warning: {{.*}} floating-point or vector arithmetic
