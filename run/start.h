/* SPDX-License-Identifier: MIT */
/* start.h - marks the functions that each exec calls. */
#ifndef COSY_RUN_START_H
#define COSY_RUN_START_H

/* Marks functions that each exec calls. */
#define START __attribute__((section(".text.start"), visibility("hidden")))

START void library_begin(int argc, char **argv, char **envp);

#endif /* COSY_RUN_START_H */
