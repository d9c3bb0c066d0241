/* SPDX-License-Identifier: GPL-2.0 */
/* llist.h - the types of the kernel's <linux/llist.h>; tests/unit/blkmq.h has the rest */
#ifndef TESTS_LINUX_LLIST_H
#define TESTS_LINUX_LLIST_H

struct llist_node {
	struct llist_node *next;
};

struct llist_head {
	struct llist_node *first;
};

#endif /* TESTS_LINUX_LLIST_H */
