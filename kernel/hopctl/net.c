// SPDX-License-Identifier: GPL-2.0-only
/*
 * net.c - what hopctl has in each network namespace: handles and their pause counters
 *
 * A namespace is a switch. Each of its ports gets a range of handles, one for each sub-queue
 * of its neighbour, and each handle has a counter: how many packets are queued here, at
 * whatever egress port, that came from that sub-queue and hold a pause for it (BFC, section
 * 3.3.2). The counters are one flat array, so that counting needs nothing but the handle.
 *
 * A qdisc may also have the bytes counted that came by each handle, whatever egress port they wait
 * at, and decide by their sum. The pause that they hold then is one of the handle's pause counter,
 * taken and given back once, so that all that goes by these counters goes for it, too. Or it
 * counts by port, and all of that port's neighbour is paused at once: then no counter is touched,
 * and the neighbour is told that all of its sub-queues are paused, counters or not.
 *
 * A packet may outlive the port that labelled it. So a range that loses its port is parked:
 * nothing new is counted on it (hop_handle() honours only handles that a port owns), and it is
 * given away again when an RCU grace period has passed and all of its counters are 0.
 *
 *   field                    protector
 *   hop_net.counters         RTNL writes it once, before the first range; read without
 *   hop_net.ingress          RTNL writes it once, before the first who counts bytes
 *   the counters, bytes      atomic
 *   hop_net.owner[]          written under hop_net.lock, read under RCU
 *   used, parked, ports      hop_net.lock
 *   hrtt_max                 written under hop_net.lock, READ_ONCE elsewhere
 *   hop_port.range           hop_port.lock
 *
 * Limits: 32768 handles in a namespace, 4096 for a port. What finds no room stays unlabelled
 * and is asked for again at each HELLO.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/netns/generic.h>

#include "port.h"
#include "trace.h"

LIST_HEAD(hop_ports);
unsigned int hop_net_id;

struct hop_net *hop_net_of(const struct net_device *dev)
{
	return net_generic(dev_net(dev), hop_net_id);
}

/**
 * hop_net_counters - have the array of pause counters
 * @net: the namespace
 *
 * Context: RTNL.
 * Return: 0 or -ENOMEM.
 */
int hop_net_counters(struct hop_net *net)
{
	atomic_t *counters;

	ASSERT_RTNL();
	if (net->counters)
		return 0;
	counters = kvcalloc(HOP_HANDLES, sizeof(*counters), GFP_KERNEL);
	if (!counters)
		return -ENOMEM;
	/* pairs with the address dependency of whoever finds an owner and counts for it */
	smp_store_release(&net->counters, counters);
	return 0;
}

/* A packet's counter stays at its place for as long as the namespace lives. */
static atomic_t *handle_counter(const struct hop_net *net, u32 handle)
{
	return &net->counters[handle - HOP_HANDLE_FIRST];
}

int hop_ingress_use(struct hop_member *m)
{
	struct hop_net *net = m->net;
	struct hop_ingress *ingress;

	ASSERT_RTNL();
	if (!net || net->ingress)
		return 0;
	ingress = kvzalloc(sizeof(*ingress), GFP_KERNEL);
	if (!ingress)
		return -ENOMEM;
	/* pairs with READ_ONCE() of those who look for idle handles; users come after this call */
	smp_store_release(&net->ingress, ingress);
	return 0;
}
EXPORT_SYMBOL_GPL(hop_ingress_use);

/**
 * hop_ingress_of - bytes that are queued of what came by an origin
 * @net: the namespace
 * @origin: the origin
 */
u32 hop_ingress_of(const struct hop_net *net, u16 origin)
{
	const struct hop_ingress *ingress = READ_ONCE(net->ingress);

	return ingress ? atomic_read(&ingress->bytes[origin]) : 0;
}

static bool range_is_idle(const struct hop_net *net, const struct hop_range *r)
{
	u32 i;

	if (!poll_state_synchronize_rcu(r->gp))
		return false;
	for (i = 0; i < r->count; i++)
		if (atomic_read(handle_counter(net, r->first + i)) ||
		    hop_ingress_of(net, r->first + i))
			return false;
	return true;
}

static void range_free(struct hop_net *net, struct hop_range *r)
{
	bitmap_clear(net->used, (r->first - HOP_HANDLE_FIRST) / HOP_HANDLE_ALIGN,
		     r->count / HOP_HANDLE_ALIGN);
	kfree(r);
}

static void range_sweep(struct hop_net *net)
{
	struct hop_range *r, *next;

	lockdep_assert_held(&net->lock);
	list_for_each_entry_safe(r, next, &net->parked, node) {
		if (!range_is_idle(net, r))
			continue;
		list_del(&r->node);
		range_free(net, r);
	}
}

static struct hop_range *range_alloc(struct hop_net *net, u32 groups)
{
	struct hop_range *r = kzalloc(sizeof(*r), GFP_ATOMIC);
	unsigned long at;

	if (!r)
		return NULL;
	for (; groups; groups--) {
		at = bitmap_find_next_zero_area(net->used, HOP_HANDLE_WORDS, 0, groups, 0);
		if (at < HOP_HANDLE_WORDS)
			break;
	}
	if (!groups) {
		kfree(r);
		return NULL;
	}
	bitmap_set(net->used, at, groups);
	r->first = HOP_HANDLE_FIRST + at * HOP_HANDLE_ALIGN;
	r->count = groups * HOP_HANDLE_ALIGN;
	return r;
}

/**
 * hop_range_get - give a port handles for its neighbour's sub-queues
 * @port: the port; a range that it has and that is as large as it can be is left alone
 * @queues: how many sub-queues the neighbour announced
 *
 * Takes the largest range that there is if there is none for all. A port that has too small a
 * one keeps it until a larger one is found. Context: port's lock.
 */
void hop_range_get(struct hop_port *port, unsigned int queues)
{
	u32 want = min_t(u32, queues, HOP_HANDLE_SHARE);
	struct hop_net *net = port->net;
	struct hop_range *r;
	u32 i, at;

	lockdep_assert_held(&port->lock);
	if (!want)
		return;
	if (port->range && port->range->count >= want) {
		WRITE_ONCE(port->handles, port->range->first << 16 | want);
		return;
	}

	spin_lock(&net->lock);
	range_sweep(net);
	r = range_alloc(net, DIV_ROUND_UP(want, HOP_HANDLE_ALIGN));
	if (r && port->range && r->count <= port->range->count) {
		range_free(net, r);
		r = NULL;
	}
	spin_unlock(&net->lock);
	if (!r)
		return;

	hop_range_put(port);
	spin_lock(&net->lock);
	at = (r->first - HOP_HANDLE_FIRST) / HOP_HANDLE_ALIGN;
	for (i = 0; i < r->count / HOP_HANDLE_ALIGN; i++)
		rcu_assign_pointer(net->owner[at + i], port);
	hop_elide_update(net);
	spin_unlock(&net->lock);
	port->range = r;
	WRITE_ONCE(port->handles, r->first << 16 | min(want, r->count));
}

/**
 * hop_range_put - take a port's handles away
 * @port: the port
 *
 * Packets may still hold pauses by them, so they are parked. Context: port's lock.
 */
void hop_range_put(struct hop_port *port)
{
	struct hop_range *r = port->range;
	struct hop_net *net = port->net;
	u32 i, at;

	lockdep_assert_held(&port->lock);
	WRITE_ONCE(port->handles, 0);
	if (!r)
		return;
	port->range = NULL;
	at = (r->first - HOP_HANDLE_FIRST) / HOP_HANDLE_ALIGN;
	spin_lock(&net->lock);
	for (i = 0; i < r->count / HOP_HANDLE_ALIGN; i++)
		RCU_INIT_POINTER(net->owner[at + i], NULL);
	hop_elide_update(net);
	r->gp = start_poll_synchronize_rcu();
	list_add_tail(&r->node, &net->parked);
	spin_unlock(&net->lock);
}

/**
 * hop_range_is_held - are all of the neighbour's sub-queues to be paused, whatever counters say?
 * @port: the port
 */
bool hop_range_is_held(const struct hop_port *port)
{
	const struct hop_ingress *ingress = READ_ONCE(port->net->ingress);

	return READ_ONCE(port->pauses_all) && ingress && test_bit(port->origin, ingress->held);
}

/* The bits of so many sub-queues that are in a word */
static u64 word_up_to(u32 queues, unsigned int word)
{
	u32 first = word * 64;

	if (queues >= first + 64)
		return U64_MAX;
	return queues > first ? BIT_ULL(queues - first) - 1 : 0;
}

/* Is it paused for its bytes, as all of a link are? */
static bool range_pauses_bytes(const struct hop_port *port, u32 handle)
{
	const struct hop_ingress *ingress = READ_ONCE(port->net->ingress);

	return ingress && test_bit(handle, ingress->held);
}

/**
 * hop_range_word - which of 64 sub-queues of the neighbour have to be paused
 * @port: the port
 * @word: word of the bitmap
 *
 * Context: port's lock.
 * Return: a bit for each counter that is not 0 and counts; all bits if what came by the port
 *	holds a pause.
 */
u64 hop_range_word(const struct hop_port *port, unsigned int word)
{
	u32 count = port->handles & 0xffff;
	u32 i, handle, first = word * 64;
	bool one = port->pauses_one;
	u64 bits = 0;

	lockdep_assert_held(&port->lock);
	if (hop_range_is_held(port))
		return word_up_to(port->peer.hello.queues, word);
	for (i = 0; i < 64 && first + i < count; i++) {
		handle = port->range->first + first + i;
		if (atomic_read(handle_counter(port->net, handle)) > 0 &&
		    (likely(one) || range_pauses_bytes(port, handle)))
			bits |= BIT_ULL(i);
	}
	return bits;
}

/**
 * hop_range_sum - packets that hold a pause by one of a port's handles
 * @port: the port
 *
 * Context: RTNL or RCU; no lock, so the sum is of one moment only if nothing moves.
 * Return: the sum of its counters.
 */
u64 hop_range_sum(const struct hop_port *port)
{
	u32 handles = READ_ONCE(port->handles);
	u32 i, first = handles >> 16;
	u64 sum = 0;

	for (i = 0; i < (handles & 0xffff); i++)
		sum += atomic_read(handle_counter(port->net, first + i));
	return sum;
}

/**
 * hop_range_bytes - what is queued here of what came by one of a port's handles
 * @port: the port
 *
 * Context: RTNL or RCU, as hop_range_sum().
 * Return: bytes, at those egress ports whose qdisc counts them.
 */
u64 hop_range_bytes(const struct hop_port *port)
{
	u32 handles = READ_ONCE(port->handles);
	u32 i, first = handles >> 16;
	u64 sum = 0;

	for (i = 0; i < (handles & 0xffff); i++)
		sum += hop_ingress_of(port->net, first + i);
	return sum;
}

/**
 * hop_net_marks - packets that ever held a pause
 * @net: the namespace
 *
 * Context: RTNL.
 * Return: the sum over its members, which wraps.
 */
u32 hop_net_marks(const struct hop_net *net)
{
	const struct hop_member *m;
	const struct hop_port *port;
	u32 sum = 0;

	ASSERT_RTNL();
	list_for_each_entry(port, &hop_ports, node) {
		if (port->net != net)
			continue;
		list_for_each_entry(m, &port->members, node)
			sum += READ_ONCE(m->marks);
	}
	return sum;
}

/**
 * hop_range_clear - set pause counters back that no packet holds
 * @port: the port
 * @marks: hop_net_marks() before no packet held a pause and all that had let go was undone
 *
 * A counter is a packet's if one has been marked since then. Else what it shows is left from
 * before, and is taken off: a packet that is marked meanwhile adds its own. Context: RTNL, port's
 * lock.
 * Return: how many there were.
 */
u64 hop_range_clear(struct hop_port *port, u32 marks)
{
	struct hop_ingress *ingress = port->net->ingress;
	u32 i, count = port->handles & 0xffff;
	atomic_t *counter;
	u64 cleared = 0;
	int left;

	ASSERT_RTNL();
	lockdep_assert_held(&port->lock);
	for (i = 0; i < count; i++) {
		counter = handle_counter(port->net, port->range->first + i);
		left = atomic_read(counter);
		if (!left)
			continue;
		smp_rmb();	/* counter before marks: see member_marks() */
		if (hop_net_marks(port->net) != marks)
			break;
		if (ingress)
			clear_bit(port->range->first + i, ingress->held);
		atomic_sub(left, counter);
		set_bit(i / 64, port->pausing_dirty);
		cleared++;
	}
	return cleared;
}

/**
 * hop_handles_used - handles that are not to be had
 * @net: the namespace
 *
 * Return: those of ports and those that are parked.
 */
u32 hop_handles_used(struct hop_net *net)
{
	u32 groups;

	spin_lock_bh(&net->lock);
	groups = bitmap_weight(net->used, HOP_HANDLE_WORDS);
	spin_unlock_bh(&net->lock);
	return groups * HOP_HANDLE_ALIGN;
}

/* Is the device with this ifindex above the port's? Remembered until an upper device changes. */
static bool port_is_below(struct hop_port *port, int ifindex)
{
	int *slot = &port->uppers[ifindex & (HOP_UPPERS - 1)];
	struct net_device *upper;
	bool below;

	if (ifindex <= 0)
		return false;
	if (READ_ONCE(*slot) == ifindex)
		return true;
	rcu_read_lock();
	upper = dev_get_by_index_rcu(dev_net(port->dev), ifindex);
	below = upper && netdev_has_upper_dev_all_rcu(port->dev, upper);
	if (below)
		WRITE_ONCE(*slot, ifindex);
	rcu_read_unlock();
	return below;
}

static struct hop_port *handle_owner(const struct hop_net *net, u32 handle)
{
	u32 at = (handle - HOP_HANDLE_FIRST) / HOP_HANDLE_ALIGN;

	return rcu_dereference_bh(net->owner[at]);
}

/**
 * hop_handle_owner - whose handle is it?
 * @net: the namespace
 * @handle: what hop_handle() returned once
 * @queue: the neighbour's sub-queue that it stands for
 *
 * Context: RCU with bottom halves off.
 * Return: the port, NULL if it is nobody's any more.
 */
struct hop_port *hop_handle_owner(const struct hop_net *net, u16 handle, unsigned int *queue)
{
	struct hop_port *port = handle_owner(net, handle);

	if (port)
		*queue = handle - (READ_ONCE(port->handles) >> 16);
	return port;
}

u16 hop_handle(const struct hop_member *m, const struct sk_buff *skb)
{
	u32 handle = skb->tc_index, handles;
	struct hop_port *port;

	if (handle < HOP_HANDLE_FIRST || unlikely(!m->port))
		return 0;
	port = handle_owner(m->net, handle);
	if (unlikely(!port))
		goto forged;
	handles = READ_ONCE(port->handles);
	if (unlikely(handle - (handles >> 16) >= (handles & 0xffff)))
		goto forged;
	if (skb->skb_iif == port->dev->ifindex || port_is_below(port, skb->skb_iif))
		return handle;
	/* a tunnel takes from a packet what it came by; what this box sends has a socket */
	if (!skb->skb_iif && !skb->sk)
		return handle;
forged:
	hop_pcpu_inc(m->port, forged);
	return 0;
}
EXPORT_SYMBOL_GPL(hop_handle);

static void pause_tell(struct hop_port *port, bool pause)
{
	if (pause)
		hop_pcpu_inc(port, pauses);
	else
		hop_pcpu_inc(port, resumes);
	hop_urgent_add(port);
	tasklet_schedule(&port->work);
}

/* A counter left or reached 0: the port that owns it, if any, has to say so. The atomic before
 * and set_bit(), both with what orders them, come before the worker is woken; the worker clears
 * the bit before it reads the counter. So the last change is always seen.
 *
 * The worker runs when the processor is done with what has come in one go, hundreds of packets,
 * say. It cannot be said here, under a qdisc's lock. So the port's receive hook says it with the
 * next packet (tx.c), and leaves nothing to do for the worker.
 */
static void pause_mark(const struct hop_member *m, u16 handle, bool pause)
{
	struct hop_port *port = handle_owner(m->net, handle);
	u32 queue;

	if (unlikely(!port))
		return;
	queue = handle - (READ_ONCE(port->handles) >> 16);
	if (likely(queue < HOP_QUEUES_MAX))
		set_bit(queue / 64, port->pausing_dirty);
	trace_hop_pause_count(port, handle, queue, pause);
	pause_tell(port, pause);
}

/* The same of all that came by a port, and so of all words */
static bool link_mark(const struct hop_member *m, u16 origin, bool pause)
{
	struct hop_port *port = idr_find(&m->net->origins, origin);
	unsigned int i;

	if (unlikely(!port || !READ_ONCE(port->pauses_all)))
		return false;
	for (i = 0; i < BITS_TO_LONGS(HOP_BITMAP_WORDS); i++)
		WRITE_ONCE(port->pausing_dirty[i], ULONG_MAX);
	pause_tell(port, pause);
	return true;
}

/* Before the counter, for hop_range_clear(): whoever sees the one go up sees the other, too. */
static void member_marks(struct hop_member *m)
{
	WRITE_ONCE(m->marked, m->marked + 1);
	WRITE_ONCE(m->marks, m->marks + 1);
}

void hop_pause_inc(struct hop_member *m, u16 handle)
{
	member_marks(m);
	if (atomic_inc_return(handle_counter(m->net, handle)) == 1)
		pause_mark(m, handle, true);
}
EXPORT_SYMBOL_GPL(hop_pause_inc);

void hop_pause_dec(struct hop_member *m, u16 handle)
{
	WRITE_ONCE(m->marked, m->marked - 1);
	if (atomic_dec_return(handle_counter(m->net, handle)) == 0)
		pause_mark(m, handle, false);
}
EXPORT_SYMBOL_GPL(hop_pause_dec);

u32 hop_ingress_add(struct hop_member *m, u16 origin, u32 bytes)
{
	member_marks(m);
	return atomic_add_return(bytes, &m->net->ingress->bytes[origin]);
}
EXPORT_SYMBOL_GPL(hop_ingress_add);

u32 hop_ingress_sub(struct hop_member *m, u16 origin, u32 bytes)
{
	WRITE_ONCE(m->marked, m->marked - 1);
	return atomic_sub_return(bytes, &m->net->ingress->bytes[origin]);
}
EXPORT_SYMBOL_GPL(hop_ingress_sub);

void hop_ingress_forget(struct hop_member *m, u16 origin, u32 bytes)
{
	atomic_sub(bytes, &m->net->ingress->bytes[origin]);
}
EXPORT_SYMBOL_GPL(hop_ingress_forget);

u16 hop_handle_of(const struct hop_port *port, u16 queue)
{
	u32 handles = READ_ONCE(port->handles);

	return queue < (handles & 0xffff) ? (handles >> 16) + queue : 0;
}
EXPORT_SYMBOL_GPL(hop_handle_of);

u32 hop_ingress_bytes(const struct hop_port *port, u16 queue)
{
	u16 handle = hop_handle_of(port, queue);

	return handle ? hop_ingress_of(port->net, handle) : 0;
}
EXPORT_SYMBOL_GPL(hop_ingress_bytes);

/* Do other packets' counts of the handle pause nobody (hop_port.pauses_one)? */
static bool handle_needs_bytes(const struct hop_member *m, u16 handle)
{
	const struct hop_port *port = handle_owner(m->net, handle);

	return port && !READ_ONCE(port->pauses_one);
}

/* Two processors may be here with one handle. Each packet's arrival comes before its departure, so
 * whoever takes the last one out sees every pause that there was. The counter may be -1 for a
 * moment, when who takes the pause away overtakes who has just set the bit: nothing was told
 * then, and nothing has to be.
 */
static noinline bool ingress_turn(struct hop_member *m, u16 origin, bool on)
{
	unsigned long *held = m->net->ingress->held;

	if (on ? test_and_set_bit(origin, held) : !test_and_clear_bit(origin, held))
		return false;
	if (origin < HOP_HANDLE_FIRST)
		return link_mark(m, origin, on);
	if ((on ? atomic_inc_return(handle_counter(m->net, origin)) != 1 :
		  atomic_dec_return(handle_counter(m->net, origin)) != 0) &&
	    !handle_needs_bytes(m, origin))
		return false;
	pause_mark(m, origin, on);
	return true;
}

bool hop_ingress_pause(struct hop_member *m, u16 origin, bool on)
{
	if (test_bit(origin, m->net->ingress->held) == on)
		return false;
	return ingress_turn(m, origin, on);
}
EXPORT_SYMBOL_GPL(hop_ingress_pause);

void hop_ingress_hold(struct hop_member *m, int by)
{
	atomic_add(by, &m->net->holds);
}
EXPORT_SYMBOL_GPL(hop_ingress_hold);

/**
 * hop_net_hrtt - the largest HRTT of the namespace's ports anew
 * @net: the namespace
 *
 * All sub-queues of a switch use one threshold formula, and it has to hold for the longest link
 * that a paused packet may come by (BFC, section 3.3.2). Context: any lock but hop_net.lock.
 */
void hop_net_hrtt(struct hop_net *net)
{
	struct hop_port *port;
	u32 used, max = 0;

	spin_lock_bh(&net->lock);
	list_for_each_entry(port, &net->ports, net_node) {
		used = READ_ONCE(port->hrtt_used);
		/* one whom nobody trusts does not raise it above what is taken without knowing */
		if (READ_ONCE(port->hrtt_doubtful))
			used = min(used, HOP_HRTT_UNKNOWN_NS);
		max = max(max, used);
	}
	WRITE_ONCE(net->hrtt_max, max ?: HOP_HRTT_UNKNOWN_NS);
	spin_unlock_bh(&net->lock);
}

void hop_net_add(struct hop_port *port)
{
	spin_lock_bh(&port->net->lock);
	list_add_tail(&port->net_node, &port->net->ports);
	hop_elide_update(port->net);
	spin_unlock_bh(&port->net->lock);
}

void hop_net_del(struct hop_port *port)
{
	spin_lock_bh(&port->net->lock);
	list_del(&port->net_node);
	spin_unlock_bh(&port->net->lock);
	hop_net_hrtt(port->net);
}

static int __net_init net_init(struct net *n)
{
	struct hop_net *net = net_generic(n, hop_net_id);

	spin_lock_init(&net->lock);
	INIT_LIST_HEAD(&net->parked);
	INIT_LIST_HEAD(&net->ports);
	INIT_LIST_HEAD(&net->pairs);
	INIT_LIST_HEAD(&net->shared);
	net->hrtt_max = HOP_HRTT_UNKNOWN_NS;
	idr_init(&net->origins);
	return 0;
}

/* All devices, and so all ports and all packets of qdiscs, are gone. */
static void __net_exit net_exit(struct net *n)
{
	struct hop_net *net = net_generic(n, hop_net_id);
	struct hop_range *r, *next;

	WARN_ON_ONCE(!list_empty(&net->ports));
	WARN_ON_ONCE(!list_empty(&net->shared));
	WARN_ON_ONCE(!idr_is_empty(&net->origins));
	hop_pairs_forget(net, 0);
	list_for_each_entry_safe(r, next, &net->parked, node)
		range_free(net, r);
	idr_destroy(&net->origins);
	kvfree(net->origin_cache);
	kvfree(net->ingress);
	kvfree(net->roots);
	kvfree(net->counters);
}

struct pernet_operations hop_net_ops = {
	.init	= net_init,
	.exit	= net_exit,
	.id	= &hop_net_id,
	.size	= sizeof(struct hop_net),
};
