/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * admit.h - limits how many copies of cosy-observe unprivileged users run: one for each user,
 * ADMIT_USERS in all.  Each copy makes every system call of the machine a little slower and takes
 * memory of the kernel's; root's copies are neither limited nor counted.
 *
 * A copy takes the name ADMIT_NAME before it searches for others of that name, and drops the name
 * if it may not continue.  So if two begin at once, at least one sees the other.  Processes are
 * counted: there is no lock, and a killed copy leaves nothing.
 */
#ifndef COSY_PROFILE_ADMIT_H
#define COSY_PROFILE_ADMIT_H

#define ADMIT_USERS 4
#define ADMIT_COMM  16 /* TASK_COMM_LEN */
#define ADMIT_NAME  "cosy-observing"

/*
 * Returns 0 if this process may observe, until it ends.  -EALREADY: a copy of its user observes;
 * -EUSERS: copies of ADMIT_USERS other users do; another -errno: the search failed.
 */
int observer_admit(void);

#endif /* COSY_PROFILE_ADMIT_H */
