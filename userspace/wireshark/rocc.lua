-- SPDX-License-Identifier: GPL-2.0-only
--
-- rocc.lua - Wireshark's view of RoCC's congestion notification packets (Documentation/protocol.md)
--
-- Reads a CNP by the rules of kernel/rocc/cnp.c and gives the same verdict: what a host refuses is
-- marked as malformed, out of range or of another version. What a single packet cannot show (keys,
-- sequence numbers, whether the flow is there, trust) is not judged.
--
-- CNPs are of ICMP types that Wireshark does not know, and neither its ICMP nor its ICMPv6 asks
-- anybody about such a type: heuristics are asked about echoes at most. To stand in ICMP's place in
-- the table of IP's protocols, and to call it from there, would not do: where a capture has cut
-- ICMP, Wireshark leaves by an exception, past us, and 200 of them fill Lua's stack for good. So
-- this is a post-dissector. When all others are done it looks for the IP header that says ICMP, as
-- the hook in kernel/rocc/cnp_receive.c does: behind whatever tags or tunnels, but with no
-- extension header, and fragments are not put together. ICMP stays as it is, with its type, code
-- and checksum.
--
-- Lengths are judged by the packet as it was on the link. Where the capture kept less of it than a
-- field needs, that is noted, and nothing more is shown.

local rocc = Proto("rocc", "RoCC congestion notification")

local VERSION = 2
local KEYS = 2
local HEAD = 64
local STATE = 44
local MESSAGE_MAX = 256
local IPV4 = 20
local IPV6 = 40
local QUOTED_L4 = 8
local IS_ICMP, ICMP = 1, 253		-- IP's number, and ICMP's type
local IS_ICMPV6, ICMPV6 = 58, 200
local RATE_MAX = 0xffffffff

local NS, KBIT, BYTES = { " ns" }, { " kbit/s" }, { " bytes" }
local CODE_RATE, CODE_QUEUE = 0, 1
local codes = { [CODE_RATE] = "RATE", [CODE_QUEUE] = "QUEUE" }
local keys = { [0] = "not signed" }
local tunings = { [0] = "steps", [1] = "smooth" }
local protocols = { [6] = "TCP", [17] = "UDP", [33] = "DCCP", [132] = "SCTP", [136] = "UDP-Lite" }
local TCP = 6

local f = {
	code	= ProtoField.uint8("rocc.code", "Code", base.DEC, codes),
	rate	= ProtoField.uint32("rocc.rate", "Rate", base.UNIT_STRING, KBIT),
	version	= ProtoField.uint8("rocc.version", "Version"),
	key	= ProtoField.uint8("rocc.key", "Key"),
	queue	= ProtoField.uint16("rocc.queue", "Queue of the port"),
	port	= ProtoField.uint32("rocc.port", "Port of the congestion point"),
	address	= ProtoField.ipv6("rocc.address", "Address of the congestion point"),
	epoch	= ProtoField.uint64("rocc.epoch", "Epoch of the congestion point", base.HEX),
	sequence = ProtoField.uint32("rocc.sequence", "Sequence number of the interval"),
	interval = ProtoField.uint32("rocc.interval", "Interval", base.UNIT_STRING, NS),
	gap	= ProtoField.uint32("rocc.gap", "Since the flow was told before",
				    base.UNIT_STRING, NS),
	rate_min = ProtoField.uint32("rocc.rate_min", "Least rate", base.UNIT_STRING, KBIT),
	tag	= ProtoField.uint64("rocc.tag", "Tag", base.HEX),

	state	= ProtoField.none("rocc.state", "Queue"),
	tuning	= ProtoField.uint8("rocc.state.tuning", "Gains", base.DEC, tunings),
	rate_max = ProtoField.uint32("rocc.state.rate_max", "Largest rate", base.UNIT_STRING, KBIT),
	alpha	= ProtoField.uint64("rocc.state.alpha", "alpha"),
	beta	= ProtoField.uint64("rocc.state.beta", "beta"),
	q_cur	= ProtoField.uint32("rocc.state.q_cur", "Length", base.UNIT_STRING, BYTES),
	q_old	= ProtoField.uint32("rocc.state.q_old", "Length one interval before",
				    base.UNIT_STRING, BYTES),
	q_ref	= ProtoField.uint32("rocc.state.q_ref", "Reference length", base.UNIT_STRING,
				    BYTES),
	q_mid	= ProtoField.uint32("rocc.state.q_mid", "Growth that halves the rate",
				    base.UNIT_STRING, BYTES),
	q_max	= ProtoField.uint32("rocc.state.q_max",
				    "Length from which on the rate is the least", base.UNIT_STRING,
				    BYTES),

	flow	= ProtoField.none("rocc.flow", "Flow"),
	ip	= ProtoField.uint8("rocc.flow.version", "IP version", base.DEC, nil, 0xf0),
	proto	= ProtoField.uint8("rocc.flow.proto", "Protocol", base.DEC, protocols),
	src	= ProtoField.ipv4("rocc.flow.src", "Source"),
	dst	= ProtoField.ipv4("rocc.flow.dst", "Destination"),
	src6	= ProtoField.ipv6("rocc.flow.src6", "Source"),
	dst6	= ProtoField.ipv6("rocc.flow.dst6", "Destination"),
	options	= ProtoField.bytes("rocc.flow.options", "IP options (skipped)"),
	l4	= ProtoField.bytes("rocc.flow.l4", "Behind the IP header"),
	sport	= ProtoField.uint16("rocc.flow.sport", "Source port"),
	dport	= ProtoField.uint16("rocc.flow.dport", "Destination port"),
	seq	= ProtoField.uint32("rocc.flow.seq", "TCP sequence number"),

	rest	= ProtoField.bytes("rocc.rest", "Behind the quoted packet (ignored, but signed)"),
}
rocc.fields = f

local e = {
	malformed = ProtoExpert.new("rocc.malformed", "Malformed: a host refuses the CNP",
				    expert.group.MALFORMED, expert.severity.ERROR),
	range	= ProtoExpert.new("rocc.range", "Out of range: a host refuses the CNP",
				  expert.group.PROTOCOL, expert.severity.ERROR),
	version	= ProtoExpert.new("rocc.other_version",
				  "Another version or code: a host refuses the CNP",
				  expert.group.UNDECODED, expert.severity.WARN),
	flow	= ProtoExpert.new("rocc.wrong_flow", "A CNP has to go to the source of the flow",
				  expert.group.PROTOCOL, expert.severity.WARN),
	cut	= ProtoExpert.new("rocc.cut", "The capture has not kept the whole packet",
				  expert.group.UNDECODED, expert.severity.NOTE),
}
rocc.experts = e

-- where IP headers are, and what they carry
local ip_proto, ipv6_nxt = Field.new("ip.proto"), Field.new("ipv6.nxt")

-- what the info column puts before the reason
local label = { malformed = "malformed: ", range = "out of range: ", version = "", cut = "" }

-- Why reading ends, as an error() that dissector() catches: malformed(TREE, TEXT) and its like
local function stop(kind)
	return function(tree, text)
		error({ tree = tree, kind = kind, text = text })
	end
end
local malformed, out_of_range = stop("malformed"), stop("range")
local other_version, cut = stop("version"), stop("cut")

-- A part of the message that has to be there by the message's own length
local function part(tvb, at, len, tree)
	if at + len > tvb:len() then
		cut(tree, "the capture has not kept the whole packet")
	end
	return tvb(at, len)
end

-- A tree of up to LEN bytes from AT on, as far as they are there
local function subtree(field, tvb, at, len, root)
	len = math.min(len, tvb:len() - at)
	if len < 1 then
		return root:add(field)
	end
	return root:add(field, tvb(at, len))
end

-- 1500 -> "1500 ns", 40000 -> "40 us"
local function duration(ns)
	for _, unit in ipairs({ { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 } }) do
		if ns >= unit[2] and ns % (unit[2] / 10) == 0 then
			return string.format("%.10g %s", ns / unit[2], unit[1])
		end
	end
	return string.format("%d ns", ns)
end

-- 33333333 -> "33.33 Gbit/s"
local function speed(kbit)
	local more = kbit == RATE_MAX and " or more" or ""

	for _, unit in ipairs({ { "Gbit/s", 1000000 }, { "Mbit/s", 1000 } }) do
		if kbit >= unit[2] then
			return string.format("%.4g %s%s", kbit / unit[2], unit[1], more)
		end
	end
	return string.format("%d kbit/s", kbit)
end

-- "::ffff:10.0.0.1" -> "10.0.0.1"
local function address(range)
	return (tostring(range:ipv6()):gsub("^::ffff:(%d+%.)", "%1"))
end

local function say_mapped(range)
	return tostring(range:ipv6()):match("^::ffff:(%d+%..*)")
end

-- Shows fields that follow each other, each { NAME, SIZE [, what to say of it] }, from AT on.
-- Returns their ranges by name.
local function fields(list, tvb, at, tree, checks)
	local seen = {}

	for _, field in ipairs(list) do
		local name, size, say = field[1], field[2], field[3]

		seen[name] = part(tvb, at, size, tree)
		if f[name] then
			local item = tree:add(f[name], seen[name])
			local text = say and say(seen[name])

			if text then
				item:append_text(" (" .. text .. ")")
			end
		end
		if checks[name] then
			checks[name](seen, tree)
		end
		at = at + size
	end
	return seen
end

local function say_rate(range)
	return speed(range:uint())
end

local function say_gain(range)
	return string.format("%.6g bit/s for a byte", range:uint64():tonumber() / 1024)
end

local function say_key(range)
	return keys[range:uint()] or range:uint() <= KEYS and "signed" or "there is no such key"
end

local function say_time(range)
	return duration(range:uint())
end

local function say_gap(range)
	return range:uint() == 0 and "an interval" or duration(range:uint())
end

-- Of a clock, to the second
local function say_epoch(range)
	return os.date("!%Y-%m-%d %H:%M:%S", (range:uint64() / 1000000000):tonumber())
end

-- struct rocc_cnp; ICMP shows its type and checksum
local head = {
	{ "type", 1 }, { "code", 1 }, { "checksum", 2 }, { "rate", 4, say_rate }, { "version", 1 },
	{ "key", 1, say_key }, { "queue", 2 }, { "port", 4 }, { "address", 16, say_mapped },
	{ "epoch", 8, say_epoch }, { "sequence", 4 }, { "interval", 4, say_time },
	{ "gap", 4, say_gap }, { "rate_min", 4, say_rate }, { "tag", 8 },
}

-- struct rocc_cnp_queue
local state = {
	{ "tuning", 1 }, { "reserved", 3 }, { "rate_max", 4, say_rate }, { "alpha", 8, say_gain },
	{ "beta", 8, say_gain }, { "q_cur", 4 }, { "q_old", 4 }, { "q_ref", 4 }, { "q_mid", 4 },
	{ "q_max", 4 },
}

-- What makes the rest unreadable. All that is out of range is so only if the rest can be read.
local head_checks = {
	version = function(seen, tree)
		if seen.version:uint() ~= VERSION then
			other_version(tree, "of version " .. seen.version:uint())
		elseif not codes[seen.code:uint()] then
			other_version(tree, "of code " .. seen.code:uint())
		end
	end,
}

-- Returns the size of the quoted IP header, which with what has to follow it is there.
local function quoted_header(tvb, at, left, v6, tree)
	local ip, size

	if left < 1 then
		malformed(tree, "it quotes no packet")
	end
	tree:add(f.ip, part(tvb, at, 1, tree))
	ip, size = math.floor(tvb(at, 1):uint() / 16), IPV6
	if ip == 4 then
		size = tvb(at, 1):uint() % 16 * 4
	elseif ip ~= 6 then
		malformed(tree, "what it quotes is not IP")
	end
	if size < IPV4 then
		malformed(tree, "the quoted header is shorter than " .. IPV4 .. " bytes")
	elseif left < size + QUOTED_L4 then
		malformed(tree, "what it quotes is shorter than " .. size + QUOTED_L4 .. " bytes")
	elseif (ip == 6) ~= v6 then
		malformed(tree, "the quoted packet is of another IP version")
	end
	return size
end

-- The 8 bytes behind the quoted header, RANGE. Returns what to put behind the addresses.
local function quoted_l4(range, proto, tree)
	local l4 = tree:add(f.l4, range)

	if not protocols[proto] then
		return "", ""
	end
	l4:add(f.sport, range(0, 2))
	l4:add(f.dport, range(2, 2))
	if proto == TCP then
		l4:add(f.seq, range(4, 4))
	end
	return " " .. range(0, 2):uint(), " " .. range(2, 2):uint()
end

-- The quoted packet, with LEFT bytes from there on, in a CNP that is sent to TO. Returns where it
-- ends, and the words for the info column.
local function flow(tvb, at, left, v6, to, root)
	local tree = subtree(f.flow, tvb, at, left, root)
	local size = quoted_header(tvb, at, left, v6, tree)
	local proto_at, proto, source, dest, sport, dport, text

	if not v6 then
		if part(tvb, at + 6, 2, tree):uint() % 0x2000 ~= 0 then
			malformed(tree, "the quoted packet is a fragment, but not the first")
		end
	end
	proto_at = v6 and at + 6 or at + 9
	tree:add(f.proto, part(tvb, proto_at, 1, tree))
	proto = tvb(proto_at, 1):uint()
	if v6 then
		tree:add(f.src6, part(tvb, at + 8, 16, tree))
		tree:add(f.dst6, part(tvb, at + 24, 16, tree))
		source, dest = tvb(at + 8, 16):ipv6(), tvb(at + 24, 16):ipv6()
	else
		tree:add(f.src, part(tvb, at + 12, 4, tree))
		tree:add(f.dst, part(tvb, at + 16, 4, tree))
		source, dest = tvb(at + 12, 4):ipv4(), tvb(at + 16, 4):ipv4()
		if size > IPV4 then
			tree:add(f.options, part(tvb, at + IPV4, size - IPV4, tree))
		end
	end
	sport, dport = quoted_l4(part(tvb, at + size, QUOTED_L4, tree), proto, tree)
	tree:set_len(size + QUOTED_L4)
	if source ~= to then
		tree:add_proto_expert_info(e.flow, "it does not go to the source of the flow")
	end
	text = string.format("%s %s%s > %s%s", protocols[proto] or "protocol " .. proto,
			     tostring(source), sport, tostring(dest), dport)
	tree:append_text(": " .. text)
	return at + size + QUOTED_L4, text
end

-- The values, once all is there
local function ranges(h, s, tree)
	if h.rate:uint() == 0 then
		out_of_range(tree, "its rate is 0")
	elseif h.rate_min:uint() == 0 then
		out_of_range(tree, "its least rate is 0")
	elseif h.epoch:uint64() == UInt64(0) then
		out_of_range(tree, "its epoch is 0")
	elseif h.interval:uint() == 0 then
		out_of_range(tree, "its interval is 0")
	elseif h.key:uint() > KEYS then
		out_of_range(tree, "there is no key " .. h.key:uint())
	elseif s and h.rate_min:uint() > s.rate_max:uint() then
		out_of_range(tree, "its least rate is above its largest")
	elseif s and not tunings[s.tuning:uint()] then
		out_of_range(tree, "its gains are of no known tuning")
	end
end

-- The queue of code 1, with LEFT bytes from there on
local function queue(tvb, at, left, root)
	local tree = subtree(f.state, tvb, at, STATE, root)

	if left < STATE then
		malformed(tree, "the queue is shorter than " .. STATE .. " bytes")
	end
	return fields(state, tvb, at, tree, {})
end

-- The whole message of LEN bytes, sent to DEST; WORDS takes what the info column will say.
local function message(tvb, len, dest, tree, words)
	local at, h, s = HEAD, nil, nil

	if len > MESSAGE_MAX then
		malformed(tree, "longer than " .. MESSAGE_MAX .. " bytes")
	elseif len < HEAD then
		malformed(tree, "shorter than " .. HEAD .. " bytes")
	end
	h = fields(head, tvb, 0, tree, head_checks)
	if h.code:uint() == CODE_QUEUE then
		s = queue(tvb, at, len - at, tree)
		at = at + STATE
	end
	words[1] = (s and "last rate " or "rate ") .. speed(h.rate:uint())
	if s then
		words[#words + 1] = string.format("queue %d bytes, was %d", s.q_cur:uint(),
						  s.q_old:uint())
	end
	words[#words + 1] = string.format("point %s port %d queue %d", address(h.address),
					  h.port:uint(), h.queue:uint())
	words[#words + 1] = "seq " .. h.sequence:uint()
	at, words[#words + 1] = flow(tvb, at, len - at, h.type:uint() == ICMPV6, dest, tree)
	if tvb:len() > at then
		tree:add(f.rest, tvb(at))
	end
	ranges(h, s, tree)
end

-- The first of FIELD's values in a frame that is VALUE, if the capture has the SIZE bytes of the
-- header that it is the byte AT of, and where the header starts
local function first(field, value, at, size)
	for _, info in ipairs({ field() }) do
		if info.value == value then
			local start = info.offset - at

			return info.source:len() >= start + size and info, start
		end
	end
end

-- The first IP header that says ICMP, IPv4 or IPv6: the data source that it is in, where its ICMP
-- starts and ends by what it says, its destination, and the type of CNPs. What an ICMP error quotes
-- comes later.
local function find_icmp()
	local four, at = first(ip_proto, IS_ICMP, 9, IPV4)
	local six, at6 = first(ipv6_nxt, IS_ICMPV6, 6, IPV6)

	if six and not (four and at < at6) then
		local header = six.source(at6, IPV6)

		return six.source, at6 + IPV6, at6 + IPV6 + header(4, 2):uint(),
		       header(24, 16):ipv6(), ICMPV6
	elseif four and four.source(at + 6, 2):uint() % 0x4000 == 0 then
		local header = four.source(at, IPV4)

		return four.source, at + header(0, 1):uint() % 16 * 4, at + header(2, 2):uint(),
		       header(16, 4):ipv4(), ICMP
	end
end

function rocc.dissector(_, pinfo, root)
	local source, at, last, dest, kind = find_icmp()
	local words = {}

	if not source or source:len() <= at or last <= at or source(at, 1):uint() ~= kind then
		return 0
	end

	local len = math.min(last, source:reported_len()) - at
	local tvb = source(at, math.min(len, source:len() - at)):tvb()
	local tree = root:add(rocc, tvb())
	local ok, why = pcall(message, tvb, len, dest, tree, words)

	pinfo.cols.protocol = "ROCC"
	if not ok then
		if type(why) ~= "table" then
			error(why, 0)
		end
		why.tree:add_proto_expert_info(e[why.kind], why.text)
		words[#words + 1] = string.format("[%s%s]", label[why.kind], why.text)
	end
	pinfo.cols.info = table.concat(words, ", ")
	return len
end

register_postdissector(rocc)
