/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * speed.h - how fast a link is, for ports and for qdiscs that have none
 */
#ifndef _SLUICE_HOPCTL_SPEED_H
#define _SLUICE_HOPCTL_SPEED_H

#include <linux/ethtool.h>
#include <linux/kernel.h>
#include <linux/rtnetlink.h>

#define HOP_RATE_UNKNOWN	(125ULL * 1000 * 1000)	/* 1 Gb/s, if the device does not say */

/**
 * hop_link_speed - ask a device how fast its link is
 * @dev: the device
 *
 * Its driver may have to ask a PHY, and sleeps meanwhile. Context: RTNL, and no lock that spins.
 *
 * Return: Mbit/s, 0 if it does not say.
 */
static inline u32 hop_link_speed(struct net_device *dev)
{
	struct ethtool_link_ksettings link;

	ASSERT_RTNL();
	might_sleep();
	if (__ethtool_get_link_ksettings(dev, &link) || link.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return link.base.speed;
}

#endif
