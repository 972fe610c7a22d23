// SPDX-License-Identifier: MIT
// Recursion with live values across the calls, mutual recursion, and locals.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static long fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int odd(unsigned n);
static int even(unsigned n)
{
	return n == 0 ? getpid() > 0 : odd(n - 1);
}
static int odd(unsigned n)
{
	return n == 0 ? 0 : even(n - 1);
}

/* Has locals whose address is taken, alive across the recursive calls. */
static int permute(int *set, int n, int k, int *sum)
{
	int copy[6], count = 0;

	if (k == n) {
		for (int i = 0; i < n; i++)
			*sum = *sum * 3 + set[i];
		return 1;
	}
	for (int i = 0; i < n; i++)
		copy[i] = set[i];
	for (int i = k; i < n; i++) {
		int t = copy[k];
		copy[k] = copy[i];
		copy[i] = t;
		count += permute(copy, n, k + 1, sum);
	}
	return count;
}

/* Both mostly return at once. */
struct node {
	struct node *left, *right, *other;
	int visited, dirty;
};

static void count(const struct node *n, int *nodes)
{
	if (!n)
		return;
	++*nodes;
	count(n->left, nodes);
	count(n->right, nodes);
}

static int check(struct node *n)
{
	if (n->visited)
		return n->dirty;
	n->visited = 1;
	n->dirty = getpid() < 0;
	if (n->left && check(n->left))
		n->dirty += 1;
	if (n->right && check(n->right))
		n->dirty += 2;
	if (!n->left || (n->other && check(n->other)))
		n->dirty += 4;
	return n->dirty;
}

static int visits(void)
{
	struct node n[31] = {0};
	int nodes = 0;
	unsigned dirty = 0;

	for (int i = 0; i < 15; i++) {
		n[i].left = &n[2 * i + 1];
		n[i].right = &n[2 * i + 2];
		n[i].other = &n[i * 7 % 15];
	}
	COSY_START;
	count(n, &nodes);
	for (int i = 30; i >= 0; i--)
		dirty = dirty * 5 + check(&n[i]);
	COSY_END;
	return (int)(nodes + dirty % 10007 * 100);
}

int main(int argc, char **argv)
{
	long f = 0;
	int e = 0, p = 0, sum = argc;
	int set[5] = {1, 2, 3, 4, 5};

	(void)argv;
	COSY_START;
	f = fib(15);
	e = even(101) * 2 + even(100);
	p = permute(set, 5, 0, &sum);
	COSY_END;
	printf("%ld %d %d %d %d\n", f, e, p, sum, visits());
	return 0;
}
