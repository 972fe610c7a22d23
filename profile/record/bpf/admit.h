/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * admit.h - limits how many copies of cosy-observe unprivileged users run: one for each user,
 * ADMIT_USERS in all.  Each copy makes every system call of the machine a little slower and takes
 * memory of the kernel's; root's copies are neither limited nor counted.
 *
 * A copy gives itself the name ADMIT_NAME before it looks for others of that name, and gives it up
 * if it may not go on.  So of two that begin at once at least one sees the other.  Nothing is locked
 * and nothing is left by one that is killed: what is counted is processes.
 */
#ifndef COSY_PROFILE_ADMIT_H
#define COSY_PROFILE_ADMIT_H

#define ADMIT_USERS 4
#define ADMIT_COMM  16 /* TASK_COMM_LEN */
#define ADMIT_NAME  "cosy-observing"

/*
 * Returns 0 when this process may observe, for as long as it lives.  -EALREADY: a copy of its user
 * does; -EUSERS: those of ADMIT_USERS other users do; else -errno: it cannot be told.
 */
int observer_admit(void);

#endif /* COSY_PROFILE_ADMIT_H */
