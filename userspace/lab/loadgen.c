// SPDX-License-Identifier: GPL-2.0-only
/*
 * loadgen: request/response load over the kernel's own TCP, with the time of each completion.
 *
 *	loadgen server			answers each request with as many bytes as it asks for
 *	loadgen rpc PEER ...		asks random peers at random times for random sizes
 *	loadgen incast PEER ...		asks all peers at one instant, again and again
 *
 * Open loop. The whole schedule (when, whom, how many bytes) is drawn from the seed before the
 * first request is sent, so that it is the same whatever the network does, and a completion is
 * counted from the instant in the schedule, not from when this process got round to sending:
 * else a slow network would hide its own slowness.
 *
 * Connections. Each peer has a pool of open connections. A request takes one that is idle, the
 * last used first; if none is idle it opens another one and waits for its handshake. So a
 * request is never queued behind another request of the same pair (one connection per pair
 * would do that: the completion would measure its predecessor), and most requests pay no
 * handshake (one connection per request would: with most sizes below one packet the handshake's
 * packets, and a lost SYN's second of waiting, would be most of what is measured). All else is
 * the kernel's: slow start after idle, loss recovery, congestion control.
 *
 * What is asked for. A request is struct req_header; the flow of the given size is the
 * response. With --echo the request carries as many bytes of its own.
 *
 * Limits: IPv4; no name look-ups; the log is kept in memory until the end. One thread, one epoll
 * set, level triggered. A timerfd wakes it for the next entry of the schedule: epoll's own
 * time-out counts milliseconds.
 *
 * The completions are written as CSV: group,start_ns,peer,bytes,fct_ns. group is the number of
 * the incast, 0 for rpc; start_ns counts from the start of the run; fct_ns is empty if the
 * response was not complete when the run ended.
 */
#include <argp.h>
#include <arpa/inet.h>
#include <endian.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "lab.h"

#define REQ_MAGIC		0x534c5543U
#define DEFAULT_PORT		7000
#define MAX_EVENTS		64
#define CONNECT_RETRY_NS	20000000ULL
#define LOGNORMAL_SIGMA		2.0	/* BFC, section 6.1 */

/* First bytes of each request, big-endian. */
struct req_header {
	uint32_t magic;
	uint32_t unused;
	uint64_t request_bytes;		/* that follow this header */
	uint64_t response_bytes;	/* that shall come back */
};

enum mode { MODE_SERVER, MODE_RPC, MODE_INCAST };
enum arrivals { ARRIVALS_POISSON, ARRIVALS_LOGNORMAL };

static struct config {
	enum mode mode;
	enum arrivals arrivals;
	const char *netns;
	const char *sizes;		/* file of the size law */
	const char *out;
	const char *pid_file;
	int port;
	int echo;
	int daemon;
	double rate;			/* requests/s of this client */
	double duration_s;		/* requests are scheduled for that long */
	double drain_s;			/* then wait that long for the last ones */
	double offset_s;		/* incast: first burst */
	double every_s;			/* incast: from burst to burst */
	unsigned int bursts;
	unsigned int conns;		/* per peer, opened before the start */
	uint64_t bytes;			/* incast: per connection */
	uint64_t seed;
	uint64_t start_ns;		/* 0: as soon as the connections are there */
} config = {
	.port = DEFAULT_PORT,
	.rate = 100,
	.duration_s = 5,
	.drain_s = 5,
	.every_s = 1,
	.bursts = 1,
	.conns = 2,
	.bytes = 14600,
	.seed = 1,
};

/* -- random numbers: splitmix64, the same on every machine -- */

static uint64_t random_u64(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* 0 < x < 1, so that its logarithm exists */
static double random_unit(uint64_t *state)
{
	return ((double)(random_u64(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double random_normal(uint64_t *state)
{
	double a = random_unit(state), b = random_unit(state);

	return sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

/* Seconds to the next arrival; both laws have mean 1 / rate. */
static double random_gap(uint64_t *state)
{
	if (config.arrivals == ARRIVALS_POISSON)
		return -log(random_unit(state)) / config.rate;
	return exp(LOGNORMAL_SIGMA * random_normal(state) -
		   LOGNORMAL_SIGMA * LOGNORMAL_SIGMA / 2) / config.rate;
}

/* -- the law of sizes: points of a cumulative distribution, linear between them -- */

struct size_law {
	unsigned int n;
	double *bytes;
	double *fraction;
};

static void size_law_read(struct size_law *law, const char *path)
{
	unsigned int room = 0, line = 0;
	FILE *f = fopen(path, "r");
	double bytes, fraction;
	char text[128];

	if (!f)
		lab_die(errno, "size law %s", path);
	while (fgets(text, sizeof(text), f)) {
		line++;
		if (text[0] == '#' || text[0] == '\n')
			continue;
		if (sscanf(text, "%lf %lf", &bytes, &fraction) != 2)
			lab_die(0, "%s:%u: expected bytes and fraction", path, line);
		if (law->n && (bytes < law->bytes[law->n - 1] ||
			       fraction < law->fraction[law->n - 1]))
			lab_die(0, "%s:%u: values must not decrease", path, line);
		if (law->n == room) {
			room = room ? 2 * room : 64;
			law->bytes = realloc(law->bytes, room * sizeof(*law->bytes));
			law->fraction = realloc(law->fraction, room * sizeof(*law->fraction));
			if (!law->bytes || !law->fraction)
				lab_die(ENOMEM, "%s", path);
		}
		law->bytes[law->n] = bytes;
		law->fraction[law->n++] = fraction;
	}
	fclose(f);
	if (law->n < 2 || law->fraction[0] != 0 || law->fraction[law->n - 1] != 1)
		lab_die(0, "%s: fractions must go from 0 to 1", path);
}

static uint64_t size_law_draw(const struct size_law *law, uint64_t *state)
{
	unsigned int low = 0, high = law->n - 1, mid;
	double u = random_unit(state), width, bytes;

	while (high - low > 1) {
		mid = (low + high) / 2;
		if (law->fraction[mid] < u)
			low = mid;
		else
			high = mid;
	}
	width = law->fraction[high] - law->fraction[low];
	bytes = law->bytes[low];
	if (width > 0)
		bytes += (law->bytes[high] - law->bytes[low]) * (u - law->fraction[low]) / width;
	return bytes < 1 ? 1 : (uint64_t)(bytes + 0.5);
}

/* -- the schedule -- */

struct job {
	uint64_t at_ns;			/* since the start */
	uint64_t bytes;
	uint64_t fct_ns;		/* 0 while not complete */
	unsigned int peer;
	unsigned int group;
};

struct schedule {
	struct job *jobs;
	size_t n, room;
};

static void schedule_add(struct schedule *s, uint64_t at_ns, unsigned int peer, uint64_t bytes,
			 unsigned int group)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->jobs = realloc(s->jobs, s->room * sizeof(*s->jobs));
		if (!s->jobs)
			lab_die(ENOMEM, "schedule of %zu requests", s->room);
	}
	s->jobs[s->n++] = (struct job) {
		.at_ns = at_ns, .bytes = bytes, .peer = peer, .group = group,
	};
}

static void schedule_rpc(struct schedule *s, unsigned int peers)
{
	uint64_t state = config.seed, bytes;
	struct size_law law = { 0 };
	unsigned int peer;
	double at_s;

	if (!config.sizes)
		lab_die(0, "rpc needs --sizes FILE");
	size_law_read(&law, config.sizes);
	for (at_s = random_gap(&state); at_s < config.duration_s; at_s += random_gap(&state)) {
		peer = random_u64(&state) % peers;
		bytes = size_law_draw(&law, &state);
		schedule_add(s, (uint64_t)(at_s * 1e9), peer, bytes, 0);
	}
	free(law.bytes);
	free(law.fraction);
}

static void schedule_incast(struct schedule *s, unsigned int peers)
{
	unsigned int burst, conn, peer;
	uint64_t at_ns;

	for (burst = 0; burst < config.bursts; burst++) {
		at_ns = (uint64_t)((config.offset_s + burst * config.every_s) * 1e9);
		for (conn = 0; conn < config.conns; conn++)
			for (peer = 0; peer < peers; peer++)
				schedule_add(s, at_ns, peer, config.bytes, burst + 1);
	}
}

static void schedule_write(const struct schedule *s, char **names)
{
	FILE *f = config.out ? fopen(config.out, "w") : stdout;
	const struct job *job;

	if (!f)
		lab_die(errno, "%s", config.out);
	fprintf(f, "group,start_ns,peer,bytes,fct_ns\n");
	for (job = s->jobs; job < s->jobs + s->n; job++) {
		fprintf(f, "%u,%llu,%s,%llu,", job->group, (unsigned long long)job->at_ns,
			names[job->peer], (unsigned long long)job->bytes);
		if (job->fct_ns)
			fprintf(f, "%llu", (unsigned long long)job->fct_ns);
		fputc('\n', f);
	}
	if (fflush(f) || ferror(f))
		lab_die(errno, "%s", config.out ? config.out : "standard output");
	if (config.out)
		fclose(f);
}

/* -- sockets -- */

static int epoll_fd;
static const char zeros[65536];

static void socket_watch(int fd, int op, uint32_t events, void *ptr)
{
	struct epoll_event ev = { .events = events, .data.ptr = ptr };

	if (epoll_ctl(epoll_fd, op, fd, &ev) < 0)
		lab_die(errno, "epoll_ctl");
}

static void socket_nodelay(int fd)
{
	int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0)
		lab_die(errno, "TCP_NODELAY");
}

/* Sends up to @left zeros: how many went, -1 if the connection is broken. */
static int64_t socket_send_zeros(int fd, uint64_t left)
{
	size_t n = left < sizeof(zeros) ? left : sizeof(zeros);
	ssize_t sent = send(fd, zeros, n, MSG_NOSIGNAL);

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	return sent;
}

/* Takes up to @left bytes without looking at them: how many came, 0 for none yet, -1 if the
 * connection is broken or at its end. MSG_TRUNC makes TCP drop them without copying.
 */
static int64_t socket_discard(int fd, uint64_t left)
{
	size_t n = left < (1U << 20) ? left : 1U << 20;
	ssize_t got = recv(fd, NULL, n, MSG_TRUNC);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (!got)
		errno = ECONNRESET;
	return got ? got : -1;
}

/* -- server -- */

struct server_conn {
	int fd;
	uint32_t events;		/* that epoll watches */
	struct req_header header;
	size_t header_got;
	uint64_t request_left;
	uint64_t response_left;
};

static void server_close(struct server_conn *c)
{
	close(c->fd);
	free(c);
}

static void server_accept(int listen_fd)
{
	struct server_conn *c;
	int fd;

	while ((fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		socket_nodelay(fd);
		c = lab_alloc(1, sizeof(*c));
		c->fd = fd;
		c->events = EPOLLIN;
		socket_watch(fd, EPOLL_CTL_ADD, c->events, c);
	}
}

/* What has come: 1 if a whole request, 0 if not yet, -1 if the connection is to be closed. */
static int server_receive(struct server_conn *c)
{
	char *header = (char *)&c->header;
	int64_t got;

	if (c->header_got < sizeof(c->header)) {
		got = recv(c->fd, header + c->header_got, sizeof(c->header) - c->header_got, 0);
		if (got <= 0)
			return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
		c->header_got += (size_t)got;
		if (c->header_got < sizeof(c->header))
			return 0;
		if (be32toh(c->header.magic) != REQ_MAGIC)
			return -1;
		c->request_left = be64toh(c->header.request_bytes);
	}
	while (c->request_left) {
		got = socket_discard(c->fd, c->request_left);
		if (got <= 0)
			return (int)got;
		c->request_left -= (uint64_t)got;
	}
	c->header_got = 0;
	c->response_left = be64toh(c->header.response_bytes);
	return 1;
}

/* One response at a time: the next request is not read before this one has been answered. */
static void server_event(struct server_conn *c)
{
	uint32_t events;
	int64_t sent;
	int whole;

	if (!c->response_left) {
		whole = server_receive(c);
		if (whole < 0)
			return server_close(c);
	}
	while (c->response_left) {
		sent = socket_send_zeros(c->fd, c->response_left);
		if (sent < 0)
			return server_close(c);
		if (!sent)
			break;
		c->response_left -= (uint64_t)sent;
	}
	events = c->response_left ? EPOLLOUT : EPOLLIN;
	if (events != c->events) {
		c->events = events;
		socket_watch(c->fd, EPOLL_CTL_MOD, events, c);
	}
}

static int server_listen(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)config.port),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0)
		lab_die(errno, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		lab_die(errno, "port %d", config.port);
	if (listen(fd, 1024) < 0)
		lab_die(errno, "listen");
	return fd;
}

/* The parent ends when the child listens: who started us may send requests at once. */
static void server_daemon(void)
{
	pid_t pid = fork();
	FILE *f;

	if (pid < 0)
		lab_die(errno, "fork");
	if (!pid) {
		setsid();
		return;
	}
	if (config.pid_file) {
		f = fopen(config.pid_file, "w");
		if (!f || fprintf(f, "%d\n", (int)pid) < 0 || fclose(f))
			lab_die(errno, "%s", config.pid_file);
	}
	_exit(0);
}

static int server_run(void)
{
	struct epoll_event events[MAX_EVENTS];
	int listen_fd = server_listen(), i, n;

	if (config.daemon)
		server_daemon();
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		lab_die(errno, "epoll");
	socket_watch(listen_fd, EPOLL_CTL_ADD, EPOLLIN, NULL);
	for (;;) {
		n = epoll_wait(epoll_fd, events, MAX_EVENTS, -1);
		if (n < 0 && errno != EINTR)
			lab_die(errno, "epoll_wait");
		for (i = 0; i < n; i++) {
			if (events[i].data.ptr)
				server_event(events[i].data.ptr);
			else
				server_accept(listen_fd);
		}
	}
}

/* -- client -- */

struct conn {
	struct conn *next;		/* in its peer's idle list, or in the list to retry */
	struct job *job;		/* NULL: none */
	int fd;
	uint32_t events;		/* that epoll watches */
	unsigned int peer;
	int connected;
	struct req_header header;
	size_t header_sent;
	uint64_t request_left;
	uint64_t response_left;
};

struct peer {
	struct sockaddr_in addr;
	struct conn *idle;
};

static struct client {
	struct peer *peers;
	unsigned int n_peers;
	struct schedule schedule;
	size_t next;			/* first job not yet begun */
	size_t done;
	unsigned int conns;		/* opened in all */
	unsigned int connected;
	struct conn *retry;		/* refused before the start */
	uint64_t retry_ns;
	uint64_t start_ns;		/* 0: connecting */
	uint64_t late_ns;		/* longest from a job's instant to when it was begun */
	int timer_fd;
} client;

static void conn_events(struct conn *c, uint32_t events)
{
	if (events == c->events)
		return;
	socket_watch(c->fd, c->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, events, c);
	c->events = events;
}

static void conn_connect(struct conn *c)
{
	const struct peer *peer = &client.peers[c->peer];

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		lab_die(errno, "socket number %u", client.conns);
	socket_nodelay(c->fd);
	if (connect(c->fd, (const struct sockaddr *)&peer->addr, sizeof(peer->addr)) < 0 &&
	    errno != EINPROGRESS)
		lab_die(errno, "connect to %s", inet_ntoa(peer->addr.sin_addr));
	c->events = 0;
	conn_events(c, EPOLLOUT);
}

static struct conn *conn_open(unsigned int peer)
{
	struct conn *c = lab_alloc(1, sizeof(*c));

	client.conns++;
	c->peer = peer;
	conn_connect(c);
	return c;
}

static void conn_idle(struct conn *c)
{
	c->next = client.peers[c->peer].idle;
	client.peers[c->peer].idle = c;
	conn_events(c, EPOLLIN);
}

static void __attribute__((noreturn)) conn_broken(const struct conn *c)
{
	lab_die(errno, "connection to %s", inet_ntoa(client.peers[c->peer].addr.sin_addr));
}

/* The server may not listen yet: before the start a refused connection is tried again. */
static void conn_connected(struct conn *c)
{
	socklen_t size = sizeof(int);
	int err = 0;

	getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &size);
	if (err && (client.start_ns || err != ECONNREFUSED)) {
		errno = err;
		conn_broken(c);
	}
	if (err) {
		close(c->fd);
		c->next = client.retry;
		client.retry = c;
		client.retry_ns = lab_now_ns() + CONNECT_RETRY_NS;
		return;
	}
	c->connected = 1;
	client.connected++;
	if (!c->job)
		conn_idle(c);
}

static void conn_send(struct conn *c)
{
	const char *header = (const char *)&c->header;
	int64_t sent;

	while (c->header_sent < sizeof(c->header)) {
		sent = send(c->fd, header + c->header_sent, sizeof(c->header) - c->header_sent,
			    MSG_NOSIGNAL | (c->request_left ? MSG_MORE : 0));
		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			return conn_events(c, EPOLLIN | EPOLLOUT);
		if (sent < 0)
			conn_broken(c);
		c->header_sent += (size_t)sent;
	}
	while (c->request_left) {
		sent = socket_send_zeros(c->fd, c->request_left);
		if (sent < 0)
			conn_broken(c);
		if (!sent)
			return conn_events(c, EPOLLIN | EPOLLOUT);
		c->request_left -= (uint64_t)sent;
	}
	conn_events(c, EPOLLIN);
}

static void conn_receive(struct conn *c)
{
	int64_t got;

	while (c->response_left) {
		got = socket_discard(c->fd, c->response_left);
		if (got < 0)
			conn_broken(c);
		if (!got)
			return;
		c->response_left -= (uint64_t)got;
	}
	c->job->fct_ns = lab_now_ns() - client.start_ns - c->job->at_ns;
	c->job = NULL;
	client.done++;
	conn_idle(c);
}

static void conn_event(struct conn *c, uint32_t events)
{
	if (!c->connected) {
		conn_connected(c);
		if (!c->connected)
			return;
		events &= ~(uint32_t)EPOLLIN;
	}
	if (!c->job) {
		if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) {
			errno = ECONNRESET;
			conn_broken(c);
		}
		return;
	}
	if (events & EPOLLOUT)
		conn_send(c);
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		conn_receive(c);
}

/* Begins a job, on an idle connection of its peer or on a new one. */
static void client_begin(struct job *job)
{
	struct peer *peer = &client.peers[job->peer];
	struct conn *c = peer->idle;

	if (c)
		peer->idle = c->next;
	else
		c = conn_open(job->peer);
	c->job = job;
	c->request_left = config.echo ? job->bytes : 0;
	c->response_left = job->bytes;
	c->header_sent = 0;
	c->header = (struct req_header) {
		.magic = htobe32(REQ_MAGIC),
		.request_bytes = htobe64(c->request_left),
		.response_bytes = htobe64(job->bytes),
	};
	if (c->connected)
		conn_send(c);
}

static void client_timer(uint64_t at_ns)
{
	struct itimerspec it = {
		.it_value.tv_sec = (time_t)(at_ns / LAB_NSEC_PER_SEC),
		.it_value.tv_nsec = (long)(at_ns % LAB_NSEC_PER_SEC),
	};

	if (timerfd_settime(client.timer_fd, TFD_TIMER_ABSTIME, &it, NULL) < 0)
		lab_die(errno, "timerfd");
}

static void client_poll(void)
{
	struct epoll_event events[MAX_EVENTS];
	int n = epoll_wait(epoll_fd, events, MAX_EVENTS, -1), i;
	uint64_t expired;

	if (n < 0 && errno != EINTR)
		lab_die(errno, "epoll_wait");
	for (i = 0; i < n; i++) {
		if (events[i].data.ptr)
			conn_event(events[i].data.ptr, events[i].events);
		else if (read(client.timer_fd, &expired, sizeof(expired)) < 0 && errno != EAGAIN)
			lab_die(errno, "timerfd");
	}
}

static void client_retry(void)
{
	struct conn *c, *next;

	for (c = client.retry, client.retry = NULL; c; c = next) {
		next = c->next;
		conn_connect(c);
	}
}

/* Opens all pools and returns at the instant of the start. */
static void client_connect(void)
{
	uint64_t limit_ns = config.start_ns ? config.start_ns
					    : lab_now_ns() + 10 * LAB_NSEC_PER_SEC;
	unsigned int peer, i, all = client.n_peers * config.conns;

	for (i = 0; i < config.conns; i++)
		for (peer = 0; peer < client.n_peers; peer++)
			conn_open(peer);
	while (client.connected < all) {
		if (client.retry && lab_now_ns() >= client.retry_ns)
			client_retry();
		if (lab_now_ns() >= limit_ns)
			lab_die(0, "%u of %u connections were not there at the start",
				all - client.connected, all);
		client_timer(client.retry && client.retry_ns < limit_ns ? client.retry_ns :
									  limit_ns);
		client_poll();
	}
	while (lab_now_ns() < config.start_ns) {
		client_timer(config.start_ns);
		client_poll();
	}
	client.start_ns = config.start_ns ? config.start_ns : lab_now_ns();
}

static void client_begin_due(uint64_t now_ns)
{
	struct schedule *s = &client.schedule;
	uint64_t due_ns;

	while (client.next < s->n) {
		due_ns = client.start_ns + s->jobs[client.next].at_ns;
		if (due_ns > now_ns)
			break;
		if (now_ns - due_ns > client.late_ns)
			client.late_ns = now_ns - due_ns;
		client_begin(&s->jobs[client.next++]);
	}
}

static void client_load(void)
{
	struct schedule *s = &client.schedule;
	uint64_t end_ns, now_ns;

	end_ns = client.start_ns + (s->n ? s->jobs[s->n - 1].at_ns : 0) +
		 (uint64_t)(config.drain_s * 1e9);
	while (client.done < s->n) {
		now_ns = lab_now_ns();
		if (now_ns >= end_ns)
			break;
		client_begin_due(now_ns);
		client_timer(client.next < s->n ? client.start_ns + s->jobs[client.next].at_ns :
						  end_ns);
		client_poll();
	}
}

static void client_open(unsigned int n, char **names)
{
	unsigned int i;

	client.n_peers = n;
	client.peers = lab_alloc(n, sizeof(*client.peers));
	for (i = 0; i < n; i++) {
		client.peers[i].addr.sin_family = AF_INET;
		client.peers[i].addr.sin_port = htons((uint16_t)config.port);
		if (inet_pton(AF_INET, names[i], &client.peers[i].addr.sin_addr) != 1)
			lab_die(0, "%s is not an IPv4 address", names[i]);
	}
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	client.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (epoll_fd < 0 || client.timer_fd < 0)
		lab_die(errno, "epoll, timerfd");
	socket_watch(client.timer_fd, EPOLL_CTL_ADD, EPOLLIN, NULL);
}

static int client_run(unsigned int n, char **names)
{
	client_open(n, names);
	if (config.mode == MODE_RPC)
		schedule_rpc(&client.schedule, n);
	else
		schedule_incast(&client.schedule, n);
	client_connect();
	client_load();
	schedule_write(&client.schedule, names);
	fprintf(stderr, "%s: %zu requests, %zu complete, %u connections, at most %llu us late\n",
		config.mode == MODE_RPC ? "rpc" : "incast", client.schedule.n, client.done,
		client.conns, (unsigned long long)client.late_ns / 1000);
	return client.done == client.schedule.n ? 0 : 3;
}

/* -- command line -- */

enum option_key {
	OPT_NETNS = 256, OPT_SIZES, OPT_RATE, OPT_ARRIVALS, OPT_DURATION, OPT_DRAIN, OPT_OFFSET,
	OPT_EVERY, OPT_BURSTS, OPT_BYTES, OPT_SEED, OPT_START, OPT_ECHO, OPT_DAEMON, OPT_PID,
};

static const struct argp_option options[] = {
	{ "netns", OPT_NETNS, "NAME", 0, "Run in this network namespace", 0 },
	{ "port", 'p', "PORT", 0, "TCP port (7000)", 0 },
	{ "daemon", OPT_DAEMON, NULL, 0, "server: go to the background when listening", 1 },
	{ "pid-file", OPT_PID, "FILE", 0, "server: write the daemon's process number", 1 },
	{ "sizes", OPT_SIZES, "FILE", 0, "rpc: law of sizes: bytes, cumulative fraction", 2 },
	{ "rate", OPT_RATE, "N", 0, "rpc: requests per second (100)", 2 },
	{ "arrivals", OPT_ARRIVALS, "LAW", 0, "rpc: poisson or lognormal (sigma 2)", 2 },
	{ "duration", OPT_DURATION, "SECONDS", 0, "rpc: schedule requests that long (5)", 2 },
	{ "bytes", OPT_BYTES, "N", 0, "incast: bytes per connection (14600)", 3 },
	{ "bursts", OPT_BURSTS, "N", 0, "incast: how many (1)", 3 },
	{ "offset", OPT_OFFSET, "SECONDS", 0, "incast: the first one (0)", 3 },
	{ "every", OPT_EVERY, "SECONDS", 0, "incast: from one to the next (1)", 3 },
	{ "conns", 'c', "N", 0, "Connections per peer, opened before the start (2)", 4 },
	{ "echo", OPT_ECHO, NULL, 0, "Requests are as large as responses", 4 },
	{ "seed", OPT_SEED, "N", 0, "Of the schedule (1)", 4 },
	{ "start-at", OPT_START, "NS", 0, "Instant of CLOCK_MONOTONIC to start at", 4 },
	{ "drain", OPT_DRAIN, "SECONDS", 0, "Wait that long for the last responses (5)", 4 },
	{ "out", 'o', "FILE", 0, "CSV of completions (standard output)", 4 },
	{ 0 }
};

static double parse_number(struct argp_state *state, const char *arg, double least, double most)
{
	char *end;
	double x = strtod(arg, &end);

	if (end == arg || *end || !(x >= least && x <= most))
		argp_error(state, "%s: expected a number from %g to %g", arg, least, most);
	return x;
}

static enum arrivals parse_arrivals(struct argp_state *state, const char *arg)
{
	if (!strcmp(arg, "poisson"))
		return ARRIVALS_POISSON;
	if (strcmp(arg, "lognormal"))
		argp_error(state, "arrivals are poisson or lognormal");
	return ARRIVALS_LOGNORMAL;
}

static void parse_mode(struct argp_state *state, const char *arg)
{
	static const char * const names[] = { "server", "rpc", "incast" };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (!strcmp(arg, names[i])) {
			config.mode = (enum mode)i;
			return;
		}
	}
	argp_error(state, "%s: expected server, rpc or incast", arg);
}

/* Numbers: where each goes and what is allowed. Integers too are exact as doubles here. */
static int parse_numeric(int key, const char *arg, struct argp_state *state)
{
	switch (key) {
	case 'p':
		config.port = (int)parse_number(state, arg, 1, 65535);
		break;
	case 'c':
		config.conns = (unsigned int)parse_number(state, arg, 0, 10000);
		break;
	case OPT_RATE:
		config.rate = parse_number(state, arg, 1e-3, 1e7);
		break;
	case OPT_DURATION:
		config.duration_s = parse_number(state, arg, 0, 1e6);
		break;
	case OPT_DRAIN:
		config.drain_s = parse_number(state, arg, 0, 1e6);
		break;
	case OPT_OFFSET:
		config.offset_s = parse_number(state, arg, 0, 1e6);
		break;
	case OPT_EVERY:
		config.every_s = parse_number(state, arg, 0, 1e6);
		break;
	case OPT_BURSTS:
		config.bursts = (unsigned int)parse_number(state, arg, 1, 1e6);
		break;
	case OPT_BYTES:
		config.bytes = (uint64_t)parse_number(state, arg, 1, 1e12);
		break;
	case OPT_SEED:
		config.seed = strtoull(arg, NULL, 0);
		break;
	case OPT_START:
		config.start_ns = strtoull(arg, NULL, 10);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static unsigned int arg_first_peer;	/* index in argv, 0 if none */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case OPT_NETNS:
		config.netns = arg;
		break;
	case OPT_SIZES:
		config.sizes = arg;
		break;
	case OPT_ARRIVALS:
		config.arrivals = parse_arrivals(state, arg);
		break;
	case OPT_ECHO:
		config.echo = 1;
		break;
	case OPT_DAEMON:
		config.daemon = 1;
		break;
	case OPT_PID:
		config.pid_file = arg;
		break;
	case 'o':
		config.out = arg;
		break;
	case ARGP_KEY_ARG:
		parse_mode(state, arg);
		arg_first_peer = (unsigned int)state->next;
		state->next = state->argc;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		break;
	default:
		return parse_numeric(key, arg, state);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_option, "server\nrpc PEER...\nincast PEER...",
		"Request/response load over TCP, with the time of each completion as CSV.\v"
		"Exits with 3 if responses were missing at the end.", NULL, NULL, NULL,
	};
	struct rlimit files;

	lab_progname = "loadgen";
	argp_err_exit_status = LAB_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (config.netns)
		lab_netns_enter(config.netns);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (config.mode == MODE_SERVER)
		return server_run();
	if (arg_first_peer >= (unsigned int)argc)
		lab_die(0, "no peers given");
	return client_run((unsigned int)argc - arg_first_peer, argv + arg_first_peer);
}
