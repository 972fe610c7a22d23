/* SPDX-License-Identifier: GPL-2.0 */
/* device.h - /dev/cosy. */
#ifndef COSY_DEVICE_H
#define COSY_DEVICE_H

int cosy_device_init(void);
void cosy_device_exit(void);

#endif /* COSY_DEVICE_H */
