/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * wire: a virtual cable. Netlink attributes of `ip link ... type wire`, nested in
 * IFLA_INFO_DATA.
 *
 * Each of the two devices of a pair holds the settings of its own transmit direction. At
 * creation both get the same ones; afterwards each is changed by itself.
 */
#ifndef _SLUICE_UAPI_WIRE_H
#define _SLUICE_UAPI_WIRE_H

/* A probability is given in parts per billion: 0 is never, WIRE_PROBABILITY_MAX is always. */
#define WIRE_PROBABILITY_MAX	1000000000U

#define WIRE_DELAY_MAX_NS	10000000000ULL	/* 10 s */
#define WIRE_RING_MAX_BYTES	(64U << 20)
#define WIRE_OVERHEAD_MAX_BYTES	256U

#define WIRE_BURST_MAX_FRAMES	1000000U

#define WIRE_RING_DEFAULT_BYTES	65536U

/**
 * enum - attributes of a wire
 * @IFLA_WIRE_PEER: nested: struct ifinfomsg and the link attributes of the other end; only at
 *	creation
 * @IFLA_WIRE_RATE: u64, bit/s of the line; 0 (default) sends each frame in no time
 * @IFLA_WIRE_DELAY: u64, ns from the last bit leaving one end to the frame's arrival at the
 *	other; 0 (default) to WIRE_DELAY_MAX_NS
 * @IFLA_WIRE_RING: u32, bytes that may wait on the card before the stack is stopped, the upper
 *	bound of the byte queue limit; 0 takes one frame at a time
 * @IFLA_WIRE_OVERHEAD: u32, bytes that each frame takes on the line beyond its own length
 * @IFLA_WIRE_LOSS: u32, probability of losing any frame
 * @IFLA_WIRE_LOSS_CONTROL: u32, probability of losing a control frame (EtherType 0x88B5)
 * @IFLA_WIRE_LOSS_DATA: u32, probability of losing any other frame
 * @IFLA_WIRE_CORRUPT: u32, probability of flipping one bit of a frame
 * @IFLA_WIRE_DUPLICATE: u32, probability of sending a frame twice
 * @IFLA_WIRE_SEED: u64, seed of the fault stream; setting it starts the stream anew
 * @IFLA_WIRE_PAD: padding of 64-bit attributes
 * @IFLA_WIRE_LOSS_BURST: u32, mean length of a run of losses in frames, for each of the three
 *	losses by itself; 1 (default) loses each frame independently
 * @IFLA_WIRE_REORDER: u32, probability of a frame being late, so that later ones overtake it
 * @IFLA_WIRE_REORDER_DELAY: u64, ns by which such a frame is late; 0 (default, if nothing is
 *	reordered) to WIRE_DELAY_MAX_NS
 */
enum {
	IFLA_WIRE_UNSPEC,
	IFLA_WIRE_PEER,
	IFLA_WIRE_RATE,
	IFLA_WIRE_DELAY,
	IFLA_WIRE_RING,
	IFLA_WIRE_OVERHEAD,
	IFLA_WIRE_LOSS,
	IFLA_WIRE_LOSS_CONTROL,
	IFLA_WIRE_LOSS_DATA,
	IFLA_WIRE_CORRUPT,
	IFLA_WIRE_DUPLICATE,
	IFLA_WIRE_SEED,
	IFLA_WIRE_PAD,
	IFLA_WIRE_LOSS_BURST,
	IFLA_WIRE_REORDER,
	IFLA_WIRE_REORDER_DELAY,
	__IFLA_WIRE_MAX
};

#define IFLA_WIRE_MAX	(__IFLA_WIRE_MAX - 1)

#endif
