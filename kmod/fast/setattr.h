/* SPDX-License-Identifier: GPL-2.0 */
/* setattr.h - changes of a file's attributes by its name. */
#ifndef COSY_SETATTR_H
#define COSY_SETATTR_H

/* Finds the kernel's functions; without them these calls are ordinary ones. */
void cosy_setattr_init(void);

#endif /* COSY_SETATTR_H */
