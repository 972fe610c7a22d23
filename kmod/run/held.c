// SPDX-License-Identifier: GPL-2.0
/* held.c - see held.h. */
#include "fast/folio_cursor.h"
#include "fast/lookup.h"
#include "run/held.h"
#include "view/view.h"

void cosy_held_drop(struct cosy_activation *run)
{
	cosy_faults_allow(run);
	cosy_views_write_back(run);
	cosy_cursors_drop(run);
	cosy_child_drop(run);
	cosy_prefix_drop(run);
	cosy_pwd_drop(run);
	cosy_root_drop(run);
	run->held &= ~COSY_HELD_AGREED;
}
