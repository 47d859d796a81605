/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/netdev_rx_queue.h for kernels that do not have it: the include path of the kernel goes first,
 * so this file is found only where struct netdev_rx_queue is still declared in linux/netdevice.h.
 */
#include <linux/netdevice.h>
