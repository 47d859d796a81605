/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/gso.h for kernels that do not have it: the include path of the kernel goes first, so this
 * file is found only where skb_gso_segment() is still declared in linux/netdevice.h.
 */
#include <linux/netdevice.h>
