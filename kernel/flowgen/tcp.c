// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp.c - transport tcp: a connection of the kernel's TCP for each flow
 *
 * The sender connects when the flow starts, sends, and closes its direction. The flow is done
 * when the receiver has read the last byte, and acknowledged when the sender's FIN is. Then both
 * ends are reset, so that no connection waits for its old packets: a run may have a million.
 *
 * All of it happens in one ordered workqueue of the run, in the order of the events, and so
 * without locks. Sockets are non-blocking; their callbacks queue the work of their connection. The
 * receiver finds the flow of a new connection by its addresses and ports: the source port is a
 * function of seed and flow, and the next one that is free if another flow between these two
 * endpoints has it.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <net/tcp_states.h>

#include "flowgen.h"

#define FG_TCP_BITS	12
#define FG_TCP_CHUNK	FLOWGEN_PAYLOAD_MAX

/**
 * struct fg_calls - callbacks of a socket
 * @data_ready: see struct sock
 * @write_space: likewise
 * @state_change: likewise
 * @error_report: likewise
 */
struct fg_calls {
	void (*data_ready)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

/**
 * struct fg_tcp - the connections of a run
 * @wq: where everything happens
 * @reap: closes what is to be closed
 * @plain: callbacks of any TCP socket
 * @conns: struct fg_conn that have been opened; @wq
 * @table: of them, by the ports and addresses of the connection; @wq
 */
struct fg_tcp {
	struct workqueue_struct *wq;
	struct work_struct reap;
	struct fg_calls plain;
	struct list_head conns;
	DECLARE_HASHTABLE(table, FG_TCP_BITS);
};

/**
 * struct fg_conn - a connection
 * @run: of this run
 * @number: of the flow
 * @port: of the sender
 * @acked: the sender knows that all has arrived
 * @answered: the receiver has acknowledged the FIN
 * @node: in fg_tcp.table
 * @list: in fg_tcp.conns
 * @work: looks at the sockets
 * @tx: sender, or NULL
 * @rx: receiver, or NULL
 * @unsent: bytes
 * @unread: bytes
 */
struct fg_conn {
	struct fg_run *run;
	u32 number;
	u16 port;
	bool acked;
	bool answered;
	struct hlist_node node;
	struct list_head list;
	struct work_struct work;
	struct socket *tx;
	struct socket *rx;
	u64 unsent;
	u64 unread;
};

static struct fg_flow *fg_conn_flow(const struct fg_conn *conn)
{
	return &conn->run->flows[conn->number];
}

/* The reader's lock keeps the connection: fg_sock_detach() waits for it. */
static void fg_conn_event(struct sock *sk)
{
	struct fg_conn *conn;

	read_lock_bh(&sk->sk_callback_lock);
	rcu_read_lock();
	conn = rcu_dereference_sk_user_data(sk);
	if (conn)
		queue_work(conn->run->tcp->wq, &conn->work);
	rcu_read_unlock();
	read_unlock_bh(&sk->sk_callback_lock);
}

static void fg_conn_space(struct sock *sk)
{
	if (!sk_stream_is_writeable(sk) || !sk->sk_socket)
		return;
	clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	fg_conn_event(sk);
}

static const struct fg_calls fg_conn_calls = {
	.data_ready = fg_conn_event,
	.write_space = fg_conn_space,
	.state_change = fg_conn_event,
	.error_report = fg_conn_event,
};

/* A new connection has this callback too, until it is accepted, but no user data. */
static void fg_listen_event(struct sock *sk)
{
	struct fg_end *end;

	read_lock_bh(&sk->sk_callback_lock);
	rcu_read_lock();
	end = rcu_dereference_sk_user_data(sk);
	if (end)
		queue_work(end->run->tcp->wq, &end->accept);
	rcu_read_unlock();
	read_unlock_bh(&sk->sk_callback_lock);
}

static void fg_sock_set(struct sock *sk, const struct fg_calls *calls, void *data)
{
	write_lock_bh(&sk->sk_callback_lock);
	__rcu_assign_sk_user_data_with_flags(sk, data, SK_USER_DATA_NOCOPY);
	sk->sk_data_ready = calls->data_ready;
	sk->sk_write_space = calls->write_space;
	sk->sk_state_change = calls->state_change;
	sk->sk_error_report = calls->error_report;
	write_unlock_bh(&sk->sk_callback_lock);
}

static void fg_sock_get(const struct sock *sk, struct fg_calls *calls)
{
	calls->data_ready = sk->sk_data_ready;
	calls->write_space = sk->sk_write_space;
	calls->state_change = sk->sk_state_change;
	calls->error_report = sk->sk_error_report;
}

/* No callback of ours any more at a listening socket */
static void fg_tcp_detach(struct fg_end *end)
{
	if (end->run->tcp->plain.data_ready)
		fg_sock_set(end->sock->sk, &end->run->tcp->plain, NULL);
}

static void fg_sock_reset(struct fg_tcp *tcp, struct socket **sock)
{
	if (!*sock)
		return;
	fg_sock_set((*sock)->sk, &tcp->plain, NULL);
	sock_no_linger((*sock)->sk);
	sock_release(*sock);
	*sock = NULL;
}

/* What TCP has sent since it was asked last */
static void fg_conn_count(struct fg_conn *conn)
{
	struct fg_flow *flow = fg_conn_flow(conn);
	struct fg_end *end = conn->run->ends[flow->src];
	const struct tcp_sock *tp = tcp_sk(conn->tx->sk);
	u64 sent = READ_ONCE(tp->data_segs_out), again = READ_ONCE(tp->total_retrans);

	spin_lock_bh(&end->lock);
	end->count[FLOWGEN_C_PACKETS] += sent - flow->sent;
	end->count[FLOWGEN_C_RETRANSMITS] += again - flow->again;
	flow->sent = sent;
	flow->again = again;
	spin_unlock_bh(&end->lock);
}

/* The connection has come to its end: frees it. */
static void fg_conn_over(struct fg_conn *conn, bool complete)
{
	struct fg_run *run = conn->run;
	struct fg_end *end = run->ends[fg_conn_flow(conn)->src];

	if (complete) {
		spin_lock_bh(&end->lock);
		end->count[FLOWGEN_C_COMPLETED]++;
		spin_unlock_bh(&end->lock);
	}
	fg_sock_reset(run->tcp, &conn->rx);
	fg_sock_reset(run->tcp, &conn->tx);
	hash_del(&conn->node);
	list_del(&conn->list);
	cancel_work(&conn->work);
	kfree(conn);
	fg_flow_over(run, complete);
}

static bool fg_conn_is_dead(const struct fg_conn *conn)
{
	const struct fg_flow *flow = fg_conn_flow(conn);
	const struct fg_run *run = conn->run;

	return !fg_run_is_on(run) || READ_ONCE(run->ends[flow->src]->dead) ||
	       READ_ONCE(run->ends[flow->dst]->dead);
}

static u32 fg_conn_key(u16 dst, u16 port)
{
	return jhash_1word((u32)dst << 16 | port, 0);
}

static struct fg_conn *fg_conn_find(const struct fg_run *run, u16 dst, u16 port,
				    const struct in6_addr *from)
{
	struct fg_conn *conn;

	hash_for_each_possible(run->tcp->table, conn, node, fg_conn_key(dst, port)) {
		const struct fg_flow *flow = fg_conn_flow(conn);

		if (conn->port == port && flow->dst == dst &&
		    ipv6_addr_equal(&run->ends[flow->src]->address, from))
			return conn;
	}
	return NULL;
}

/* Return: 0 if all ports are taken. */
static u16 fg_conn_port(const struct fg_conn *conn)
{
	const struct fg_flow *flow = fg_conn_flow(conn);
	const struct fg_run *run = conn->run;
	u16 first = gbn_port(run->config.seed, conn->number), port = first;

	do {
		if (!fg_conn_find(run, flow->dst, port, &run->ends[flow->src]->address))
			return port;
		port = port == U16_MAX ? GBN_PORT_MIN : port + 1;
	} while (port != first);
	return 0;
}

static int fg_tcp_control(const struct fg_run *run, struct socket *sock)
{
	const char *cc = run->config.cc;

	return !*cc ? 0 : sock->ops->setsockopt(sock, SOL_TCP, TCP_CONGESTION,
						KERNEL_SOCKPTR((void *)cc), strlen(cc));
}

/* The lowest bits of the TOS byte are ECN's, and TCP's own. */
static void fg_sock_set_class(struct sock *sk, u8 class)
{
	WRITE_ONCE(sk->sk_priority, class);
	inet_sk(sk)->tos = class << 5 | (inet_sk(sk)->tos & INET_ECN_MASK);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		inet6_sk(sk)->tclass = class << 5 | (inet6_sk(sk)->tclass & INET_ECN_MASK);
#endif
}

static int fg_conn_connect(struct fg_conn *conn)
{
	const struct fg_flow *flow = fg_conn_flow(conn);
	struct fg_run *run = conn->run;
	const struct fg_end *end = run->ends[flow->src];
	struct sockaddr_storage address;
	int len, err;

	sock_set_reuseaddr(conn->tx->sk);
	fg_sock_set_class(conn->tx->sk, flow->class);
	err = fg_tcp_control(run, conn->tx);
	if (err)
		return err;
	len = fg_end_sockaddr(end, conn->port, &address);
	err = kernel_bind(conn->tx, (struct sockaddr *)&address, len);
	if (err)
		return err;
	fg_sock_set(conn->tx->sk, &fg_conn_calls, conn);
	len = fg_end_sockaddr(run->ends[flow->dst], run->config.port, &address);
	err = kernel_connect(conn->tx, (struct sockaddr *)&address, len, O_NONBLOCK);
	return err == -EINPROGRESS ? 0 : err;
}

static int fg_conn_open(struct fg_conn *conn)
{
	const struct fg_flow *flow = fg_conn_flow(conn);
	const struct fg_end *end = conn->run->ends[flow->src];
	int err;

	conn->port = fg_conn_port(conn);
	hash_add(conn->run->tcp->table, &conn->node, fg_conn_key(flow->dst, conn->port));
	list_add_tail(&conn->list, &conn->run->tcp->conns);
	if (!conn->port)
		return -EADDRNOTAVAIL;
	err = sock_create_kern(end->net, end->family, SOCK_STREAM, IPPROTO_TCP, &conn->tx);
	return err ?: fg_conn_connect(conn);
}

static int fg_conn_eat(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset,
		       size_t len)
{
	return len;
}

/* All has been read, the FIN too: that, if it is there, is acknowledged now and not some 40 ms
 * later, since the sender's knowledge is what acked_ns is about.
 */
static void fg_conn_answer(struct fg_conn *conn)
{
	struct sock *sk = conn->rx->sk;

	if (!conn->answered && READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) {
		conn->answered = true;
		tcp_sock_set_quickack(sk, 1);
	}
}

static int fg_conn_read(struct fg_conn *conn)
{
	read_descriptor_t desc = { .count = 1 };
	struct fg_flow *flow = fg_conn_flow(conn);
	struct socket *sock = conn->rx;
	u64 before;
	int n;

	if (!sock)
		return 0;
	before = conn->unread;
	lock_sock(sock->sk);
	n = sock->ops->read_sock(sock->sk, &desc, fg_conn_eat);
	release_sock(sock->sk);
	if (n < 0)
		return n;
	if (n > conn->unread)
		return -EPROTO;
	conn->unread -= n;
	if (conn->unread)
		return sock->sk->sk_err || sock->sk->sk_state == TCP_CLOSE ? -ECONNRESET : 0;
	if (before)
		WRITE_ONCE(flow->done_ns, fg_now() - conn->run->start_ns);
	fg_conn_answer(conn);
	return 0;
}

static int fg_conn_send(struct fg_conn *conn)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec chunk = { .iov_base = fg_end_zeros() };
	int n;

	while (conn->unsent) {
		chunk.iov_len = min_t(u64, conn->unsent, FG_TCP_CHUNK);
		msg.msg_flags &= ~MSG_MORE;
		if (conn->unsent > FG_TCP_CHUNK)
			msg.msg_flags |= MSG_MORE;
		n = kernel_sendmsg(conn->tx, &msg, &chunk, 1, chunk.iov_len);
		if (n < 0)
			return n == -EAGAIN ? 0 : n;
		conn->unsent -= n;
		if (!conn->unsent)
			kernel_sock_shutdown(conn->tx, SHUT_WR);
	}
	return 0;
}

/* How far the sender is. The state says whether its FIN was acknowledged. */
static int fg_conn_write(struct fg_conn *conn)
{
	struct sock *sk = conn->tx->sk;
	int state, err;

	if (sk->sk_err)
		return -sk->sk_err;
	if (READ_ONCE(sk->sk_state) == TCP_SYN_SENT)
		return 0;
	err = fg_conn_send(conn);
	if (err)
		return err;
	state = READ_ONCE(sk->sk_state);
	if (!conn->unsent && !conn->acked &&
	    (state == TCP_FIN_WAIT2 || state == TCP_TIME_WAIT)) {
		conn->acked = true;
		WRITE_ONCE(fg_conn_flow(conn)->acked_ns, fg_now() - conn->run->start_ns);
	}
	return state == TCP_CLOSE ? -ECONNRESET : 0;
}

static int fg_conn_step(struct fg_conn *conn)
{
	int err;

	if (fg_conn_is_dead(conn))
		return -ESHUTDOWN;
	if (!conn->tx)
		return fg_conn_open(conn);
	err = fg_conn_read(conn);
	return err ?: fg_conn_write(conn);
}

static void fg_conn_work(struct work_struct *work)
{
	struct fg_conn *conn = container_of(work, struct fg_conn, work);
	int err = fg_conn_step(conn);

	if (conn->tx)
		fg_conn_count(conn);
	if (err || (conn->acked && !conn->unread))
		fg_conn_over(conn, !err);
}

static void fg_tcp_start(struct fg_run *run, u32 number)
{
	struct fg_flow *flow = &run->flows[number];
	struct fg_end *end = run->ends[flow->src];
	struct fg_conn *conn = kzalloc(sizeof(*conn), GFP_ATOMIC);

	if (!conn) {
		spin_lock(&end->lock);
		end->count[FLOWGEN_C_NO_MEMORY]++;
		spin_unlock(&end->lock);
		fg_flow_over(run, false);
		return;
	}
	conn->run = run;
	conn->number = number;
	conn->unsent = flow->bytes;
	conn->unread = flow->bytes;
	INIT_HLIST_NODE(&conn->node);
	INIT_LIST_HEAD(&conn->list);
	INIT_WORK(&conn->work, fg_conn_work);
	queue_work(run->tcp->wq, &conn->work);
}

static void fg_peer(const struct sock *sk, struct in6_addr *address)
{
	memset(address, 0, sizeof(*address));
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		*address = sk->sk_v6_daddr;
		return;
	}
#endif
	address->s6_addr32[3] = sk->sk_daddr;
}

static void fg_accept_one(struct fg_end *end, struct socket *sock)
{
	struct fg_run *run = end->run;
	struct in6_addr from;
	struct fg_conn *conn;

	fg_peer(sock->sk, &from);
	conn = fg_conn_find(run, end->number, ntohs(inet_sk(sock->sk)->inet_dport), &from);
	if (!conn || conn->rx) {
		spin_lock_bh(&end->lock);
		end->count[FLOWGEN_C_RX_ADDRESS]++;
		spin_unlock_bh(&end->lock);
		fg_sock_reset(run->tcp, &sock);
		return;
	}
	conn->rx = sock;
	fg_sock_set_class(sock->sk, fg_conn_flow(conn)->class);
	fg_sock_set(sock->sk, &fg_conn_calls, conn);
	queue_work(run->tcp->wq, &conn->work);
}

static void fg_accept(struct work_struct *work)
{
	struct fg_end *end = container_of(work, struct fg_end, accept);
	struct socket *sock;

	while (!READ_ONCE(end->dead) && !kernel_accept(end->sock, &sock, O_NONBLOCK))
		fg_accept_one(end, sock);
}

static int fg_tcp_listen(struct fg_end *end)
{
	struct fg_calls calls;
	int err;

	INIT_WORK(&end->accept, fg_accept);
	err = fg_tcp_control(end->run, end->sock);
	if (err)
		return err;
	fg_sock_get(end->sock->sk, &end->run->tcp->plain);
	calls = end->run->tcp->plain;
	calls.data_ready = fg_listen_event;
	fg_sock_set(end->sock->sk, &calls, end);
	return kernel_listen(end->sock, U16_MAX);
}

static void fg_tcp_reap_work(struct work_struct *work)
{
	struct fg_tcp *tcp = container_of(work, struct fg_tcp, reap);
	struct fg_conn *conn, *next;

	list_for_each_entry_safe(conn, next, &tcp->conns, list)
		if (fg_conn_is_dead(conn))
			fg_conn_over(conn, false);
}

/* Give up the flows of dead endpoints, or all if the run is over. */
static void fg_tcp_settle(struct fg_run *run)
{
	queue_work(run->tcp->wq, &run->tcp->reap);
	flush_workqueue(run->tcp->wq);
}

/**
 * fg_tcp_check - is there a congestion control of this name?
 * @cc: the name
 *
 * Return: 0 or -errno.
 */
int fg_tcp_check(const char *cc)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;
	err = sock->ops->setsockopt(sock, SOL_TCP, TCP_CONGESTION, KERNEL_SOCKPTR((void *)cc),
				    strlen(cc));
	sock_release(sock);
	return err;
}

static int fg_tcp_new(struct fg_run *run)
{
	struct fg_tcp *tcp = kvzalloc(sizeof(*tcp), GFP_KERNEL);

	if (!tcp)
		return -ENOMEM;
	tcp->wq = alloc_ordered_workqueue("flowgen", 0);
	if (!tcp->wq) {
		kvfree(tcp);
		return -ENOMEM;
	}
	INIT_WORK(&tcp->reap, fg_tcp_reap_work);
	INIT_LIST_HEAD(&tcp->conns);
	hash_init(tcp->table);
	run->tcp = tcp;
	return 0;
}

static void fg_tcp_free(struct fg_run *run)
{
	destroy_workqueue(run->tcp->wq);
	kvfree(run->tcp);
}

const struct fg_transport fg_tcp_transport = {
	.socket		= SOCK_STREAM,
	.protocol	= IPPROTO_TCP,
	.run_new	= fg_tcp_new,
	.run_settle	= fg_tcp_settle,
	.run_free	= fg_tcp_free,
	.start		= fg_tcp_start,
	.end_open	= fg_tcp_listen,
	.end_detach	= fg_tcp_detach,
};
