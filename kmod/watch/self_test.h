/* SPDX-License-Identifier: GPL-2.0 */
/* self_test.h - makes changes when the module is loaded, and expects that hooks note them. */
#ifndef COSY_WATCH_SELF_TEST_H
#define COSY_WATCH_SELF_TEST_H

/* NULL, or the change that was not noted, or that could not be made. */
const char *cosy_watch_self_test(void);

#endif /* COSY_WATCH_SELF_TEST_H */
