-- SPDX-License-Identifier: GPL-2.0-only
--
-- hopctl.lua - Wireshark's view of control frames (Documentation/protocol.md)
--
-- Reads a frame by the rules of kernel/hopctl/frame.c and gives the same verdict: what the
-- module drops is marked as malformed, out of range or of another version. What a single frame
-- cannot show (right epochs, sequence numbers, trust) is not judged.
--
-- Lengths are judged by the frame as it was on the link. Where the capture kept less of it than
-- a field needs, that is noted, and nothing more is shown.

local hopctl = Proto("hopctl", "Hop-by-hop flow control")

local VERSION = 1
local HEADER = 12
local TLV_HEAD = 4
local FRAME_MAX = 1500
local QUEUES_MAX = 4094
local WORDS_MAX = 64
local LANES_MAX = 256
local ROOT = 6
local HOPS_MAX = 16
local ETHERTYPE = 0x88b5
local DESTINATION = "0180C200000E"

local NS = { " ns" }
local roles = { [1] = "host", [2] = "switch" }
local types = {
	[1] = "HELLO", [2] = "PAUSE STATE", [3] = "PAUSE ACK", [4] = "PROBE", [5] = "PROBE ECHO",
	[6] = "GOODBYE", [8] = "END", [9] = "BALANCES", [30] = "EXAMPLE STATE", [31] = "EXAMPLE ACK",
	[36] = "PAUSE ROOTS",
}
-- in the order of their bits
local hello_flags = { "STRIPS_TAGS", "ECHO_VALID", "TAGS", "STRIPPING" }

local f = {
	version	= ProtoField.uint8("hopctl.version", "Version"),
	flags	= ProtoField.uint8("hopctl.flags", "Flags", base.HEX),
	length	= ProtoField.uint16("hopctl.length", "Length of all contents"),
	epoch	= ProtoField.uint32("hopctl.epoch", "Epoch of the sender", base.HEX),
	yours	= ProtoField.uint32("hopctl.epoch.yours", "Epoch of the receiver", base.HEX),
	padding	= ProtoField.bytes("hopctl.padding", "Padding"),

	tlv	= ProtoField.bytes("hopctl.tlv", "Content"),
	type	= ProtoField.uint16("hopctl.tlv.type", "Type", base.DEC, types),
	bytes	= ProtoField.uint16("hopctl.tlv.length", "Length"),
	unknown	= ProtoField.bytes("hopctl.tlv.unknown", "Unknown"),

	role	= ProtoField.uint8("hopctl.hello.role", "Role", base.DEC, roles),
	hflags	= ProtoField.uint8("hopctl.hello.flags", "Flags", base.HEX),
	kinds	= ProtoField.uint16("hopctl.hello.kinds", "Kinds", base.HEX),
	bfc	= ProtoField.bool("hopctl.hello.kinds.bfc", "bfc", 16, nil, 0x0001),
	pfc	= ProtoField.bool("hopctl.hello.kinds.pfc", "pfc", 16, nil, 0x0002),
	floodgate = ProtoField.bool("hopctl.hello.kinds.floodgate", "floodgate", 16, nil, 0x0004),
	flowsail = ProtoField.bool("hopctl.hello.kinds.flowsail", "flowsail", 16, nil, 0x0008),
	example	= ProtoField.bool("hopctl.hello.kinds.example", "example", 16, nil, 0x8000),
	queues	= ProtoField.uint16("hopctl.hello.queues", "Sub-queues"),
	tpid	= ProtoField.uint16("hopctl.hello.tpid", "TPID of the fabric tag", base.HEX),
	ring	= ProtoField.uint32("hopctl.hello.ring", "Ring time", base.UNIT_STRING, NS),
	sent	= ProtoField.uint64("hopctl.hello.sent", "Sent at", base.UNIT_STRING, NS),
	echo	= ProtoField.uint64("hopctl.hello.echo", "Answers the one sent at",
				    base.UNIT_STRING, NS),
	held	= ProtoField.uint64("hopctl.hello.held", "Held for", base.UNIT_STRING, NS),

	seq	= ProtoField.uint32("hopctl.pause.seq", "Sequence number"),
	lease	= ProtoField.uint32("hopctl.pause.lease", "Lease", base.UNIT_STRING, NS),
	first	= ProtoField.uint16("hopctl.pause.first", "First word"),
	count	= ProtoField.uint16("hopctl.pause.count", "Count of words"),
	word	= ProtoField.uint64("hopctl.pause.word", "Word", base.HEX),
	paused	= ProtoField.uint16("hopctl.pause.queue", "Paused sub-queue"),

	queue_held = ProtoField.uint16("hopctl.root.queue", "Paused sub-queue"),
	root	= ProtoField.uint16("hopctl.root.id", "Root"),
	hops	= ProtoField.uint8("hopctl.root.hops", "Hops to it"),
	more	= ProtoField.uint8("hopctl.root.more", "There are others"),

	ack	= ProtoField.uint32("hopctl.ack.seq", "Sequence number"),

	nonce	= ProtoField.uint32("hopctl.probe.nonce", "Nonce", base.HEX),
	vid	= ProtoField.uint16("hopctl.probe.vid", "VLAN id"),
	size	= ProtoField.uint16("hopctl.probe.size", "Size of the tagged frame"),

	block	= ProtoField.uint32("hopctl.end.block", "Block that has ended"),
	lane	= ProtoField.uint16("hopctl.end.lane", "Transmit queue"),
	lanes	= ProtoField.uint16("hopctl.end.lanes", "Transmit queues"),
	keys	= ProtoField.uint16("hopctl.end.count", "Count of keys"),
	key	= ProtoField.uint16("hopctl.end.key", "Key"),

	done	= ProtoField.uint32("hopctl.balances.block", "Complete block"),
	counted	= ProtoField.uint16("hopctl.balances.count", "Count of balances"),
	of	= ProtoField.uint16("hopctl.balance.key", "Key"),
	balance	= ProtoField.int32("hopctl.balance.bytes", "Bytes"),
}
for bit, name in ipairs(hello_flags) do
	f[name] = ProtoField.bool("hopctl.hello.flags." .. name:lower(), name, 8, nil,
				  2 ^ (bit - 1))
end
hopctl.fields = f

local e = {
	malformed = ProtoExpert.new("hopctl.malformed", "Malformed: the module drops the frame",
				    expert.group.MALFORMED, expert.severity.ERROR),
	range	= ProtoExpert.new("hopctl.range", "Out of range: the module drops the frame",
				  expert.group.PROTOCOL, expert.severity.ERROR),
	version	= ProtoExpert.new("hopctl.other_version", "Another version: the module drops the frame",
				  expert.group.UNDECODED, expert.severity.WARN),
	unknown	= ProtoExpert.new("hopctl.unknown", "Of a type that is not known",
				  expert.group.UNDECODED, expert.severity.NOTE),
	tag	= ProtoExpert.new("hopctl.wrong_tag", "A probe has to have the tag and size that it says",
				  expert.group.PROTOCOL, expert.severity.WARN),
	cut	= ProtoExpert.new("hopctl.cut", "The capture has not kept the whole frame",
				  expert.group.UNDECODED, expert.severity.NOTE),
}
hopctl.experts = e

-- what the info column puts before the reason
local label = { malformed = "malformed: ", range = "out of range: ", version = "", cut = "" }

local vlan_ids = { Field.new("ieee8021ad.id"), Field.new("vlan.id") }
local destination = Field.new("eth.dst")

-- Why reading ends, as an error() that dissector() catches: malformed(TREE, TEXT) and its like
local function stop(kind)
	return function(tree, text)
		error({ tree = tree, kind = kind, text = text })
	end
end
local malformed, out_of_range = stop("malformed"), stop("range")
local other_version, cut = stop("version"), stop("cut")

-- A part of the frame that has to be there by the frame's own length
local function part(tvb, at, len, tree)
	if at + len > tvb:captured_len() then
		cut(tree, "the capture has not kept the whole frame")
	end
	return tvb(at, len)
end

-- 1500 -> "1500 ns", 800000 -> "800 us"
local function duration(ns)
	for _, unit in ipairs({ { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 } }) do
		if ns >= unit[2] and ns % (unit[2] / 10) == 0 then
			return string.format("%.10g %s", ns / unit[2], unit[1])
		end
	end
	return string.format("%d ns", ns)
end

-- { 3, 4, 5, 17 } -> "3-5 17"
local function ranges(numbers)
	local text, i = {}, 1

	while i <= #numbers do
		local last = i

		while numbers[last + 1] == numbers[last] + 1 do
			last = last + 1
		end
		if #text == 16 then
			text[#text + 1] = "..."
			break
		end
		text[#text + 1] = last > i and numbers[i] .. "-" .. numbers[last] or numbers[i]
		i = last + 1
	end
	return #text > 0 and table.concat(text, " ") or "none"
end

-- The readers of contents: each shows the fields of a value, RANGE, in TREE, and returns the words
-- for the info column. RANGE has at least the struct's size.

local function hello(range, tree)
	local role, queues = range(0, 1):uint(), range(4, 2):uint()
	local bits, words = nil, {}

	tree:add(f.role, range(0, 1))
	bits = tree:add(f.hflags, range(1, 1))
	for bit, name in ipairs(hello_flags) do
		bits:add(f[name], range(1, 1))
		if math.floor(range(1, 1):uint() / 2 ^ (bit - 1)) % 2 == 1 then
			words[#words + 1] = name
		end
	end
	bits:append_text(" " .. table.concat(words, " "))
	local kinds = tree:add(f.kinds, range(2, 2))
	kinds:add(f.bfc, range(2, 2))
	kinds:add(f.pfc, range(2, 2))
	kinds:add(f.floodgate, range(2, 2))
	kinds:add(f.flowsail, range(2, 2))
	kinds:add(f.example, range(2, 2))
	tree:add(f.queues, range(4, 2))
	tree:add(f.tpid, range(6, 2))
	tree:add(f.ring, range(8, 4))
	tree:add(f.sent, range(12, 8))
	tree:add(f.echo, range(20, 8))
	tree:add(f.held, range(28, 8))
	if not roles[role] then
		out_of_range(tree, "the role is neither host nor switch")
	elseif queues > QUEUES_MAX then
		out_of_range(tree, "more than " .. QUEUES_MAX .. " sub-queues")
	end
	return string.format("%s, %d queues, %s", roles[role], queues, table.concat(words, " "))
end

-- Adds a word's sub-queues that are paused, and their fields.
local function pause_word(range, tree, first, paused)
	for byte = 7, 0, -1 do
		local bits = range(byte, 1):uint()

		for bit = 0, 7 do
			if math.floor(bits / 2 ^ bit) % 2 == 1 then
				paused[#paused + 1] = first + 8 * (7 - byte) + bit
				tree:add(f.paused, range(byte, 1), paused[#paused])
			end
		end
	end
end

-- A told state, whose pages are words; SHOW(WORD, ITEM, NUMBER) has to say what is in one
local function told(range, tree, show)
	local seq, lease = range(0, 4):uint(), range(4, 4):uint()
	local first, count = range(8, 2):uint(), range(10, 2):uint()

	tree:add(f.seq, range(0, 4))
	tree:add(f.lease, range(4, 4)):append_text(" (" .. duration(lease) .. ")")
	tree:add(f.first, range(8, 2))
	tree:add(f.count, range(10, 2))
	if math.floor((range:len() - 12) / 8) < count then
		malformed(tree, "fewer words than it says")
	elseif count == 0 or first + count > WORDS_MAX then
		out_of_range(tree, "words that do not exist")
	end
	for i = 0, count - 1 do
		local word = range(12 + 8 * i, 8)
		local item = tree:add(f.word, word)

		item:append_text(string.format(" (word %d)", first + i))
		show(word, item, first + i)
	end
	return string.format("seq %d, lease %s", seq, duration(lease)),
	       string.format("words %d-%d", first, first + count - 1)
end

local function pause_state(range, tree)
	local paused = {}
	local head, words = told(range, tree, function(word, item, number)
		pause_word(word, item, 64 * number, paused)
	end)

	return string.format("%s, paused %s, %s", head, ranges(paused), words)
end

local function example_state(range, tree)
	return string.format("%s, %s", told(range, tree, function() end))
end

-- One root for each paused sub-queue; what is left over is no whole one.
local function pause_roots(range, tree)
	local words = {}

	for at = 0, range:len() - ROOT, ROOT do
		local queue, id = range(at, 2):uint(), range(at + 2, 2):uint()
		local hops, more = range(at + 4, 1):uint(), range(at + 5, 1):uint() % 2
		local text = queue .. ": not known"

		if id ~= 0 then
			text = string.format("%d: %d, %d hops", queue, id, hops)
		end
		tree:add(f.queue_held, range(at, 2))
		tree:add(f.root, range(at + 2, 2))
		tree:add(f.hops, range(at + 4, 1))
		tree:add(f.more, range(at + 5, 1), more)
		if queue >= QUEUES_MAX then
			out_of_range(tree, "no sub-queue")
		elseif hops > HOPS_MAX then
			out_of_range(tree, "more than " .. HOPS_MAX .. " hops")
		end
		words[#words + 1] = text .. (more == 1 and " and others" or "")
	end
	return table.concat(words, "; ")
end

local function pause_ack(range, tree)
	tree:add(f.ack, range(0, 4))
	return string.format("seq %d", range(0, 4):uint())
end

local function probe(range, tree)
	local vid = range(4, 2):uint()

	tree:add(f.nonce, range(0, 4))
	tree:add(f.vid, range(4, 2))
	tree:add(f.size, range(6, 2))
	if vid == 0 or vid > QUEUES_MAX then
		out_of_range(tree, "no VLAN id of a sub-queue")
	end
	return string.format("nonce %08x, vid %d, %d bytes", range(0, 4):uint(), vid,
			     range(6, 2):uint())
end

-- A probe counts only if it arrives as it was sent. An echo comes without a tag.
local function tagged_probe(range, tree, pinfo)
	local text, vid = probe(range, tree), nil

	for _, id in ipairs(vlan_ids) do
		vid = vid or id()
	end
	if not vid then
		tree:add_proto_expert_info(e.tag, "a probe without a tag")
	elseif vid.value ~= range(4, 2):uint() then
		tree:add_proto_expert_info(e.tag, "its tag has another VLAN id")
	elseif pinfo.len ~= range(6, 2):uint() then
		tree:add_proto_expert_info(e.tag, "it has " .. pinfo.len .. " bytes")
	end
	return text
end

local function goodbye()
	return ""
end

local function finish(range, tree)
	local lane, lanes, count = range(4, 2):uint(), range(6, 2):uint(), range(8, 2):uint()

	tree:add(f.block, range(0, 4))
	tree:add(f.lane, range(4, 2))
	tree:add(f.lanes, range(6, 2))
	tree:add(f.keys, range(8, 2))
	if math.floor((range:len() - 10) / 2) < count then
		malformed(tree, "fewer keys than it says")
	elseif lane >= lanes or lanes > LANES_MAX then
		out_of_range(tree, "a transmit queue that does not exist")
	end
	for i = 0, count - 1 do
		tree:add(f.key, range(10 + 2 * i, 2))
	end
	return string.format("block %d by %d of %d, %d keys", range(0, 4):uint(), lane, lanes, count)
end

local function balances(range, tree)
	local count = range(4, 2):uint()

	tree:add(f.done, range(0, 4))
	tree:add(f.counted, range(4, 2))
	if math.floor((range:len() - 6) / 6) < count then
		malformed(tree, "fewer balances than it says")
	end
	for i = 0, count - 1 do
		tree:add(f.of, range(6 + 6 * i, 2))
		tree:add(f.balance, range(8 + 6 * i, 4))
	end
	return string.format("block %d, %d keys", range(0, 4):uint(), count)
end

-- by type: size of the struct, reader
local contents = {
	[1] = { 36, hello },
	[2] = { 12, pause_state },
	[3] = { 4, pause_ack },
	[4] = { 8, tagged_probe },
	[5] = { 8, probe },
	[6] = { 0, goodbye },
	[8] = { 10, finish },
	[9] = { 6, balances },
	[30] = { 12, example_state },
	[31] = { 4, pause_ack },
	[36] = { ROOT, pause_roots },
}

-- Told states and their acknowledgements, which a frame may have several of, and so many in all
local several, SEVERAL_MOST = { [2] = true, [3] = true, [30] = true, [31] = true }, 8

-- What a value is longer than all that it says
local function rest(kind, value, tree)
	local known = contents[kind][1]

	if kind == 2 or kind == 30 then
		known = known + 8 * value(10, 2):uint()
	elseif kind == 8 then
		known = known + 2 * value(8, 2):uint()
	elseif kind == 9 then
		known = known + 6 * value(4, 2):uint()
	elseif kind == 36 then
		known = value:len() - value:len() % ROOT
	end
	if value:len() > known then
		tree:add(f.unknown, value(known)):append_text(" (skipped)")
	end
end

-- One content at AT with LEFT bytes of contents. Returns its size and what to say of it.
local function content(tvb, at, left, root, seen, pinfo)
	local kind, len, tree, text

	if left < TLV_HEAD then
		malformed(root, "a content without room for its type and length")
	end
	kind, len = part(tvb, at, TLV_HEAD, root)(0, 2):uint(), tvb(at + 2, 2):uint()
	tree = root:add(f.tlv, tvb(at, math.min(TLV_HEAD + len, left, tvb:captured_len() - at)))
	tree.text = types[kind] or "Unknown content " .. kind
	tree:add(f.type, tvb(at, 2))
	tree:add(f.bytes, tvb(at + 2, 2))
	if len > left - TLV_HEAD then
		malformed(tree, "longer than what is left")
	elseif not contents[kind] then
		tree:add_proto_expert_info(e.unknown)
		if len > 0 then
			tree:add(f.unknown, part(tvb, at + TLV_HEAD, len, tree))
		end
		return TLV_HEAD + len, string.format("unknown %d", kind)
	elseif seen[kind] and not several[kind] then
		malformed(tree, "a second one of its type")
	elseif several[kind] and seen.several == SEVERAL_MOST then
		malformed(tree, "more than " .. SEVERAL_MOST .. " told states and acknowledgements")
	elseif len < contents[kind][1] then
		malformed(tree, "shorter than " .. contents[kind][1] .. " bytes")
	end
	seen[kind] = true
	seen.several = (seen.several or 0) + (several[kind] and 1 or 0)
	if len == 0 then
		return TLV_HEAD, types[kind]
	end
	local value = part(tvb, at + TLV_HEAD, len, tree)
	text = contents[kind][2](value, tree, pinfo)
	rest(kind, value, tree)
	tree:append_text(": " .. text)
	return TLV_HEAD + len, (types[kind] .. " " .. text):gsub(" $", "")
end

-- Shows the header; returns where contents end.
local function header(tvb, tree)
	local room = math.min(tvb:reported_len(), FRAME_MAX)
	local len

	if room < 1 then
		malformed(tree, "no header")
	end
	tree:add(f.version, part(tvb, 0, 1, tree))
	if tvb(0, 1):uint() ~= VERSION then
		other_version(tree, "of version " .. tvb(0, 1):uint())
	elseif room < HEADER then
		malformed(tree, "shorter than a header")
	end
	part(tvb, 0, HEADER, tree)
	tree:add(f.flags, tvb(1, 1))
	tree:add(f.length, tvb(2, 2))
	tree:add(f.epoch, tvb(4, 4))
	tree:add(f.yours, tvb(8, 4))
	len = tvb(2, 2):uint()
	if len > room - HEADER then
		malformed(tree, "its contents are longer than the frame")
	elseif tvb(4, 4):uint() == 0 then
		malformed(tree, "its epoch is 0")
	end
	return HEADER + len
end

-- The whole frame; WORDS takes what the info column will say.
local function frame(tvb, tree, pinfo, words)
	local last, seen = header(tvb, tree), {}
	local at, size = HEADER, nil

	while at < last do
		size, words[#words + 1] = content(tvb, at, last - at, tree, seen, pinfo)
		at = at + size
	end
	if #words == 0 then
		words[1] = "no contents"
	end
	if tvb:captured_len() > last then
		tree:add(f.padding, tvb(last))
	end
end

-- The EtherType is anybody's. (A capture of all devices at once has no destinations.)
local function is_ours()
	local to = destination()

	return not to or to.range:bytes():tohex() == DESTINATION
end

function hopctl.dissector(tvb, pinfo, root)
	if not is_ours() then
		return 0
	end

	local tree = root:add(hopctl, tvb())
	local words = {}
	local ok, why = pcall(frame, tvb, tree, pinfo, words)

	pinfo.cols.protocol = "HOPCTL"
	if not ok then
		if type(why) ~= "table" then
			error(why, 0)
		end
		why.tree:add_proto_expert_info(e[why.kind], why.text)
		words[#words + 1] = string.format("[%s%s]", label[why.kind], why.text)
	end
	pinfo.cols.info = table.concat(words, "; ")
	return tvb:reported_len()
end

DissectorTable.get("ethertype"):add(ETHERTYPE, hopctl)
