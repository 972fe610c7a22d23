/* SPDX-License-Identifier: MIT */
/*
 * refusal.h - finds the policy that keeps compounds out of the kernel, and the command that changes
 * it.  Policies of the module: not built, signatures, lockdown.  Policies of /dev/cosy: group,
 * cgroup, security modules.
 */
#ifndef COSY_COMMAND_REFUSAL_H
#define COSY_COMMAND_REFUSAL_H

/* Both are one line; `what` continues a sentence, or is "" if no policy was found. */
struct refusal {
	char what[200];
	char advice[300];
};

/* Finds why the module may not be loaded into the kernel `release`; advises modprobe otherwise. */
void refusal_of_module(const char *release, struct refusal *ret);

/* Finds why open() of the device failed with `error`. */
void refusal_of_device(const char *device, const char *group, int error, struct refusal *ret);

#endif /* COSY_COMMAND_REFUSAL_H */
