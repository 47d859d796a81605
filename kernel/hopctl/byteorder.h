/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * byteorder.h - the kernel's names of byte order for codecs that are user-space programs, too
 */
#ifndef _SLUICE_HOPCTL_BYTEORDER_H
#define _SLUICE_HOPCTL_BYTEORDER_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#else
#include <endian.h>
#include <string.h>
#define be16_to_cpu	be16toh
#define be32_to_cpu	be32toh
#define be64_to_cpu	be64toh
#define cpu_to_be16	htobe16
#define cpu_to_be32	htobe32
#define cpu_to_be64	htobe64
#endif

#endif
