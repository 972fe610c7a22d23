/* SPDX-License-Identifier: MIT */
/*
 * Makes tier_history_other a program that differs from tier_history in nothing but this.
 */
extern const char tier_history_other[];
const char tier_history_other[] = "tier_history_other";
