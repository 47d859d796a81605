/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doctor: what a look at the box has shown, and what there is to say of it.
 */
#ifndef _SLUICE_DOCTOR_H
#define _SLUICE_DOCTOR_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "port.h"
#include "qdisc.h"
#include "roots.h"

/**
 * struct device - a network device
 * @ifindex: its number
 * @name: its name
 * @mtu: bytes
 * @speed: of its link, bytes per second, 0: it does not say
 * @tx_queues: transmit queues in use
 * @master: ifindex of the bridge or bond that it is in, or 0
 * @group_fwd_mask: link-local groups that a bridge forwards, or that are forwarded from a port
 * @xdp: a program is attached
 * @switchdev: hardware may forward for it
 * @flowtable: hardware forwards flows that came in by it
 * @lro: large receive offload is on
 * @gro_hw: the card merges frames
 * @stag_filter: the card drops 802.1ad ids that nobody asked for
 * @filters: tc filters on its way out (clsact)
 * @tcx: BPF programs on its way out (tcx)
 * @rp_filter: IPv4 packets are taken if there is a way back: 1 by the device, 2 by any, 0 always
 */
struct device {
	unsigned int ifindex;
	char name[IF_NAMESIZE];
	uint32_t mtu;
	uint64_t speed;
	uint32_t tx_queues;
	unsigned int master;
	uint32_t group_fwd_mask;
	bool xdp;
	bool switchdev;
	bool flowtable;
	bool lro;
	bool gro_hw;
	bool stag_filter;
	unsigned int filters;
	unsigned int tcx;
	unsigned int rp_filter;
};

/**
 * struct look - what a look at the namespace has shown
 * @module_hopctl: loaded
 * @module_bfc: loaded
 * @family: the netlink family is there
 * @admin: we may look at everything
 * @version: HOP_VERSION of the module, 0: it does not say
 * @handles: of the namespace
 * @handles_used: of them
 * @rp_dropped: packets thrown away because there was no way back
 * @unnamed_way: device that leads to the address of switches that have none, or 0
 * @ports: as the family tells
 * @roots: what of them, and of other boxes' ports, says where congestion began
 * @qdiscs: of all devices
 * @devices: all
 * @n_devices: how many
 */
struct look {
	bool module_hopctl;
	bool module_bfc;
	bool family;
	bool admin;
	uint32_t version;
	uint32_t handles;
	uint32_t handles_used;
	uint64_t rp_dropped;
	unsigned int unnamed_way;
	struct ports ports;
	struct roots roots;
	struct qdiscs qdiscs;
	struct device *devices;
	size_t n_devices;
};

enum severity {
	SEVERITY_NOTE,		/* good to know */
	SEVERITY_WARNING,	/* works worse than it could */
	SEVERITY_ERROR,		/* does not work */
};

/**
 * struct complaint - something that can be found
 * @id: its name, for ever
 * @severity: how bad it is
 * @text: what is the matter
 * @advice: what to do
 */
struct complaint {
	const char *id;
	enum severity severity;
	const char *text;
	const char *advice;
};

extern const struct complaint complaints[];
extern const size_t n_complaints;

/**
 * doctor_fn - takes what was found
 * @ctx: as given
 * @c: what it is
 * @dev: whose, or NULL: the whole box's
 * @detail: figures, or ""
 */
typedef void (*doctor_fn)(void *ctx, const struct complaint *c, const char *dev,
			  const char *detail);

/**
 * doctor_judge - what there is to say
 * @look: what was seen
 * @dev: only of this device and of the box, or NULL
 * @found: called for each finding
 * @ctx: for @found
 */
void doctor_judge(const struct look *look, const char *dev, doctor_fn found, void *ctx);

/**
 * doctor_look - look at the namespace
 * @look: what was seen
 */
void doctor_look(struct look *look);
void doctor_look_free(struct look *look);

#endif
