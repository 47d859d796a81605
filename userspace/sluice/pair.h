/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pair: pairs of ports whose backpressure is elided.
 */
#ifndef _SLUICE_PAIR_H
#define _SLUICE_PAIR_H

#include "nl.h"

/**
 * pair_change - elide a pair's backpressure, or no longer
 * @nl: a socket of the family
 * @cmd: HOP_CMD_PAIR_ADD or HOP_CMD_PAIR_DEL
 * @ingress: ifindex
 * @egress: ifindex
 *
 * Return: 0 or -errno, -EEXIST if it is elided already, -ENOENT if it is not.
 */
int pair_change(struct nl *nl, int cmd, unsigned int ingress, unsigned int egress);

#endif
