// SPDX-License-Identifier: MIT
/* refusal.c - see refusal.h. */
#include <errno.h>
#include <stddef.h>

#include "record/bpf/admit.h"
#include "record/bpf/refusal.h"

#define TEXT_OF(number) #number
#define TEXT(number)	TEXT_OF(number)

const char *observe_refusal(int error)
{
	if (error == -EALREADY)
		return "you record by BPF programs already, which each user may do once at a time: "
		       "end that recording first, or use --backend ptrace";
	if (error == -EUSERS)
		return TEXT(ADMIT_USERS) " other users record by BPF programs, and no more may at "
					 "a time: try again when one of them has ended, or use "
					 "--backend ptrace";
	return NULL;
}
