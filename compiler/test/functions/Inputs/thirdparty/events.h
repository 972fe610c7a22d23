// A system header of some library, with a bind() of its own.
struct node {
	struct node *next;
	int value;
};
int bind(int key, struct node *node, unsigned count);
