// SPDX-License-Identifier: MIT
// Linked structures on the heap, walked and changed in a region.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct node {
	struct node *next;
	int value;
};

int main(void)
{
	struct node *head = NULL, *reversed = NULL;
	int sum = 0;

	for (int i = 0; i < 50; i++) {
		struct node *n = malloc(sizeof(*n));
		n->value = i * i;
		n->next = head;
		head = n;
	}
	COSY_START;
	while (head) {
		struct node *next = head->next;

		head->next = reversed;
		head->value += getpid() > 0;
		reversed = head;
		head = next;
	}
	for (struct node *n = reversed; n; n = n->next)
		sum = sum * 7 + n->value;
	COSY_END;
	printf("%d\n", sum);
	return 0;
}
