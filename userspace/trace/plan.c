// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan.c - words to a plan
 *
 * Values are taken by a table, in whatever order they were given; then what needs others is
 * settled: lists of hosts need their number, loads need links.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum kind { KIND_COUNT, KIND_SIZE, KIND_TIME, KIND_RATE, KIND_SHARE, KIND_WORD };

static const struct {
	const char *name;
	enum kind kind;
	uint64_t least, most;	/* of numbers */
	const char *what;
} options[PLAN_KEYS] = {
	[PLAN_HOSTS] = { "hosts", KIND_COUNT, 2, TRACE_HOSTS_MAX, "a number of hosts from 2 to 65536" },
	[PLAN_RACKS] = { "racks", KIND_COUNT, 1, TRACE_HOSTS_MAX, "a number of racks from 1 to 65536" },
	[PLAN_PER_RACK] = { "per-rack", KIND_COUNT, 1, TRACE_HOSTS_MAX,
			    "a number of hosts from 1 to 65536" },
	[PLAN_RATE] = { "rate", KIND_RATE, 1000, 1000000000000000, "a rate such as 100gbit" },
	[PLAN_UPLINKS] = { "uplinks", KIND_WORD, 0, 0, NULL },
	[PLAN_DURATION] = { "duration", KIND_TIME, 1, GEN_DURATION_MAX,
			    "a time such as 50ms, up to 3600s" },
	[PLAN_SEED] = { "seed", KIND_COUNT, 0, UINT64_MAX, "a number" },
	[PLAN_PAYLOAD] = { "payload", KIND_SIZE, 1, 65535, "a size from 1 to 65535 bytes" },
	[PLAN_HEADER] = { "header", KIND_SIZE, 0, 65535, "a size up to 65535 bytes" },
	[PLAN_MIN_FRAME] = { "min-frame", KIND_SIZE, 0, 65535, "a size up to 65535 bytes" },
	[PLAN_LAW] = { "law", KIND_WORD, 0, 0, NULL },
	[PLAN_ARRIVALS] = { "arrivals", KIND_WORD, 0, 0, NULL },
	[PLAN_SIGMA] = { "sigma", KIND_SHARE, 0, 5, "a number above 0, up to 5" },
	[PLAN_LOAD] = { "load", KIND_SHARE, 0, 100, "a share above 0 such as 0.6 or 60%" },
	[PLAN_ON] = { "on", KIND_WORD, 0, 0, NULL },
	[PLAN_LOCALITY] = { "locality", KIND_SHARE, 0, 1, "a share from 0 to 1" },
	[PLAN_PAIRS] = { "pairs", KIND_WORD, 0, 0, NULL },
	[PLAN_FLOWS] = { "flows", KIND_COUNT, 1, GEN_FLOWS_MAX, "a number from 1 to 50000000" },
	[PLAN_START] = { "start", KIND_TIME, 0, GEN_DURATION_MAX,
			 "a time such as 30us, up to 3600s" },
	[PLAN_CLASS] = { "class", KIND_COUNT, 0, TRACE_CLASS_MAX, "a class from 0 to 7" },
	[PLAN_CLASSES] = { "classes", KIND_COUNT, 1, TRACE_CLASS_MAX + 1, "a number from 1 to 8" },
	[PLAN_LABEL] = { "label", KIND_WORD, 0, 0, NULL },
	[PLAN_INCAST] = { "incast", KIND_WORD, 0, 0, NULL },
	[PLAN_LONG] = { "long", KIND_WORD, 0, 0, NULL },
};

/**
 * struct values - the words as they were taken, before they are settled
 */
struct values {
	uint64_t number[PLAN_KEYS];
	double share[PLAN_KEYS];
	const char *word[PLAN_KEYS];
	bool given[PLAN_KEYS];
};

static int __attribute__((format(printf, 2, 3)))
refuse(char *error, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(error, TRACE_ERROR_MAX, fmt, args);
	va_end(args);
	return -1;
}

const char *plan_name(enum plan_key key)
{
	return options[key].name;
}

static int take_number(struct values *v, enum plan_key key, const char *value)
{
	uint64_t *number = &v->number[key];

	switch (options[key].kind) {
	case KIND_COUNT:
		if (word_number(value, options[key].most, number))
			return -1;
		break;
	case KIND_SIZE:
		if (word_size(value, number))
			return -1;
		break;
	case KIND_TIME:
		if (word_time(value, number))
			return -1;
		break;
	default:
		if (word_rate(value, number))
			return -1;
		break;
	}
	return *number < options[key].least || *number > options[key].most ? -1 : 0;
}

static int take(struct values *v, enum plan_key key, const char *value, char *error)
{
	bool bad = false;

	if (v->given[key] && key != PLAN_INCAST && key != PLAN_LONG)
		return refuse(error, "--%s is given twice", options[key].name);
	/* it becomes a comment of the trace, which is one line */
	for (const char *c = value; *c; c++)
		if (iscntrl((unsigned char)*c))
			return refuse(error, "--%s: there is a control character in its value",
				      options[key].name);
	v->given[key] = true;
	v->word[key] = value;
	if (options[key].kind == KIND_SHARE)
		bad = word_share(value, &v->share[key]) || v->share[key] > options[key].most ||
		      (key != PLAN_LOCALITY && !(v->share[key] > 0));
	else if (options[key].kind != KIND_WORD)
		bad = take_number(v, key, value);
	if (bad)
		return refuse(error, "--%s takes %s, not \"%.64s\"", options[key].name,
			      options[key].what, value);
	return 0;
}

/* Hosts and links. */

static int settle_hosts(struct plan *plan, const struct values *v, char *error)
{
	uint64_t hosts = v->number[PLAN_HOSTS], racks = v->number[PLAN_RACKS];
	uint64_t per_rack = v->number[PLAN_PER_RACK];

	if (v->given[PLAN_RACKS] && v->given[PLAN_PER_RACK]) {
		if (v->given[PLAN_HOSTS] && hosts != racks * per_rack)
			return refuse(error, "%" PRIu64 " racks of %" PRIu64 " are not %" PRIu64
				      " hosts", racks, per_rack, hosts);
		hosts = racks * per_rack;
	} else if (v->given[PLAN_RACKS]) {
		if (!hosts || hosts % racks)
			return refuse(error, "--racks needs --per-rack, or --hosts that it divides");
		per_rack = hosts / racks;
	} else if (v->given[PLAN_PER_RACK]) {
		if (!hosts || hosts % per_rack)
			return refuse(error, "--per-rack needs --racks, or --hosts that it divides");
	} else if (!hosts) {
		return refuse(error, "how many hosts? --hosts, or --racks and --per-rack");
	}
	if (hosts < 2 || hosts > TRACE_HOSTS_MAX)
		return refuse(error, "there have to be 2 to %d hosts, not %" PRIu64, TRACE_HOSTS_MAX,
			      hosts);
	plan->hosts = hosts;
	plan->per_rack = per_rack;
	return 0;
}

/* 4x100gbit+40gbit: what they carry together */
static int parse_uplinks(const char *word, uint64_t *sum)
{
	char *copy = strdup(word), *rest = copy, *link, *x;
	uint64_t links, rate;
	int err = copy ? 0 : -1;

	*sum = 0;
	while (!err && (link = strsep(&rest, "+"))) {
		links = 1;
		x = strchr(link, 'x');
		if (x) {
			*x = '\0';
			err = word_number(link, 65536, &links) || !links;
			link = x + 1;
		}
		if (err || word_rate(link, &rate) || !rate || rate > 1000000000000000)
			err = -1;
		else
			*sum += links * rate;
		if (*sum > 1000000000000000000)
			err = -1;
	}
	free(copy);
	return err;
}

static int settle_links(struct plan *plan, const struct values *v, char *error)
{
	plan->rate = v->number[PLAN_RATE];
	if (v->given[PLAN_UPLINKS] && parse_uplinks(v->word[PLAN_UPLINKS], &plan->uplinks))
		return refuse(error, "--uplinks takes links such as 8x100gbit or 2x40gbit+100gbit, "
			      "not \"%.64s\"", v->word[PLAN_UPLINKS]);
	if (v->given[PLAN_UPLINKS] && !plan->per_rack)
		return refuse(error, "--uplinks are those of a rack: see --racks");
	plan->duration_ns = v->number[PLAN_DURATION];
	plan->seed = v->given[PLAN_SEED] ? v->number[PLAN_SEED] : 1;
	plan->frame.payload = v->given[PLAN_PAYLOAD] ? v->number[PLAN_PAYLOAD] : 1000;
	plan->frame.header = v->given[PLAN_HEADER] ? v->number[PLAN_HEADER] : 62;
	plan->frame.least = v->given[PLAN_MIN_FRAME] ? v->number[PLAN_MIN_FRAME] : 64;
	return 0;
}

/* Pairs of hosts. */

static int all_pairs(struct pairs *p, const struct hosts *from, const struct hosts *to)
{
	for (size_t i = 0; i < from->count; i++)
		for (size_t j = 0; j < to->count; j++)
			if (from->list[i] != to->list[j] &&
			    (p->count >= GEN_PAIRS_MAX ||
			     pairs_add(p, from->list[i], to->list[j])))
				return -1;
	return 0;
}

static int all_hosts(uint32_t hosts, struct hosts *h)
{
	char word[32];

	snprintf(word, sizeof(word), "0-%u", hosts - 1);
	return word_hosts(word, hosts, h);
}

/* HOSTS:HOSTS/HOSTS:HOSTS...: each sender of a group with each of its receivers */
static int parse_pairs(struct pairs *p, uint32_t hosts, const char *word)
{
	char *copy = strdup(word), *rest = copy, *group, *colon;
	struct hosts from = { NULL }, to = { NULL };
	int err = copy ? 0 : -1;

	while (!err && (group = strsep(&rest, "/"))) {
		colon = strchr(group, ':');
		if (colon)
			*colon++ = '\0';
		err = !colon || word_hosts(group, hosts, &from) || word_hosts(colon, hosts, &to) ||
		      all_pairs(p, &from, &to) ? -1 : 0;
		free(from.list);
		free(to.list);
		from.list = to.list = NULL;
	}
	free(copy);
	return err || !p->count ? -1 : 0;
}

static int refuse_pairs(const struct plan *plan, const char *option, const char *value, char *error)
{
	return refuse(error, "%s takes pairs such as 0-14:15 or 0:5/1:5 of hosts below %u, "
		      "not \"%.64s\"", option, plan->hosts, value);
}

static int every_pair(struct pairs *p, uint32_t hosts, char *error)
{
	struct hosts all;
	int err;

	if ((uint64_t)hosts * (hosts - 1) > GEN_PAIRS_MAX)
		return refuse(error, "these are more than %d pairs of hosts: see --pairs",
			      GEN_PAIRS_MAX);
	if (all_hosts(hosts, &all))
		return refuse(error, "out of memory");
	err = all_pairs(p, &all, &all);
	free(all.list);
	return err ? refuse(error, "out of memory") : 0;
}

/* The background. */

static int settle_arrivals(struct background *b, const struct values *v, char *error)
{
	const char *word = v->word[PLAN_ARRIVALS];

	b->sigma = v->given[PLAN_SIGMA] ? v->share[PLAN_SIGMA] : 2;
	if (!word || !strcmp(word, "poisson"))
		b->arrivals = ARRIVALS_POISSON;
	else if (!strcmp(word, "lognormal"))
		b->arrivals = ARRIVALS_LOGNORMAL;
	else if (!strcmp(word, "even"))
		b->arrivals = ARRIVALS_EVEN;
	else
		return refuse(error, "--arrivals takes poisson, lognormal or even, not \"%.64s\"",
			      word);
	if (v->given[PLAN_SIGMA] && b->arrivals != ARRIVALS_LOGNORMAL)
		return refuse(error, "--sigma is for --arrivals lognormal");
	return 0;
}

static int settle_load(const struct plan *plan, struct background *b, const struct values *v,
		       char *error)
{
	const char *word = v->word[PLAN_ON];

	if (word && strcmp(word, "edge") && strcmp(word, "core"))
		return refuse(error, "--on takes edge or core, not \"%.64s\"", word);
	b->core = word && !strcmp(word, "core");
	b->load = v->share[PLAN_LOAD];
	if (b->core && (!plan->per_rack || !plan->uplinks))
		return refuse(error, "--on core needs --racks, --per-rack and --uplinks");
	if (!b->core && !plan->rate)
		return refuse(error, "--load needs --rate, that of a host's link");
	b->locality = v->given[PLAN_LOCALITY] ? v->share[PLAN_LOCALITY] : -1;
	if (v->given[PLAN_LOCALITY] && !plan->per_rack)
		return refuse(error, "--locality is about racks: see --racks");
	if (!v->given[PLAN_DURATION] && !v->given[PLAN_FLOWS])
		return refuse(error, "how long? --duration or --flows");
	b->flows = v->number[PLAN_FLOWS];
	b->start_ns = v->number[PLAN_START];
	if (v->given[PLAN_DURATION] && b->start_ns >= v->number[PLAN_DURATION])
		return refuse(error, "--start is not before --duration: no flow begins");
	return 0;
}

static int set_label(char *label, const char *word, const char *option, char *error)
{
	if (!trace_label_valid(word))
		return refuse(error, "%s takes a label of 1 to %d of a-z 0-9 _ -, not \"%.64s\"",
			      option, TRACE_LABEL_MAX, word);
	strcpy(label, word);
	return 0;
}

static int settle_classes(struct background *b, const struct values *v, char *error)
{
	b->class = v->number[PLAN_CLASS];
	b->classes = v->given[PLAN_CLASSES] ? v->number[PLAN_CLASSES] : 1;
	if (b->class + b->classes > TRACE_CLASS_MAX + 1)
		return refuse(error, "%u classes from %u on are too many: the last is %d",
			      b->classes, b->class, TRACE_CLASS_MAX);
	return set_label(b->label, v->given[PLAN_LABEL] ? v->word[PLAN_LABEL] : "-", "--label",
			 error);
}

static int settle_background(struct plan *plan, const struct values *v, char *error)
{
	static const enum plan_key needs[] = {
		PLAN_LAW, PLAN_ARRIVALS, PLAN_SIGMA, PLAN_ON, PLAN_LOCALITY, PLAN_PAIRS, PLAN_FLOWS,
		PLAN_START, PLAN_CLASS, PLAN_CLASSES, PLAN_LABEL,
	};
	struct background *b = &plan->background;

	if (!v->given[PLAN_LOAD]) {
		for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
			if (v->given[needs[i]])
				return refuse(error, "--%s is for --load", options[needs[i]].name);
		return 0;
	}
	if (!v->given[PLAN_LAW])
		return refuse(error, "--load needs --law, that of the flows' sizes");
	if (settle_arrivals(b, v, error) || settle_load(plan, b, v, error) ||
	    settle_classes(b, v, error) || law_find(&b->law, v->word[PLAN_LAW], error))
		return -1;
	b->on = true;
	if (!v->given[PLAN_PAIRS])
		return every_pair(&b->pairs, plan->hosts, error);
	if (parse_pairs(&b->pairs, plan->hosts, v->word[PLAN_PAIRS]))
		return refuse_pairs(plan, "--pairs", v->word[PLAN_PAIRS], error);
	return 0;
}

/* Incasts and long flows: KEY=VALUE behind commas. */

static int bad_value(const char *option, const char *key, const char *value, const char *what,
		     char *error)
{
	return refuse(error, "--%s: \"%s\" takes %s, not \"%.64s\"", option, key, what,
		      value ? value : "");
}

static int take_time(const char *option, const char *key, const char *value, uint64_t most,
		     uint64_t *ns, char *error)
{
	if (!value || word_time(value, ns) || *ns > most)
		return bad_value(option, key, value, most < GEN_DURATION_MAX ?
				 "a time up to 1s" : "a time such as 50us, up to 3600s", error);
	return 0;
}

static int take_class(const char *option, const char *value, unsigned int *class, char *error)
{
	uint64_t v;

	if (!value || word_number(value, TRACE_CLASS_MAX, &v))
		return bad_value(option, "class", value, "a class from 0 to 7", error);
	*class = v;
	return 0;
}

static int take_label(const char *option, const char *value, char *label, char *error)
{
	if (!value || !trace_label_valid(value))
		return bad_value(option, "label", value, "1 to 15 of a-z 0-9 _ -", error);
	strcpy(label, value);
	return 0;
}

static int take_hosts(const struct plan *plan, const char *option, const char *key,
		      const char *value, struct hosts *h, char *error)
{
	free(h->list);
	h->list = NULL;
	if (!value || word_hosts(value, plan->hosts, h))
		return bad_value(option, key, value, "hosts such as 0-3+7, below --hosts", error);
	return 0;
}

static int take_count(const char *option, const char *key, const char *value, uint64_t most,
		      uint64_t *n, char *error)
{
	if (!value || word_number(value, most, n) || !*n)
		return bad_value(option, key, value, "a number from 1", error);
	return 0;
}

static int incast_key(const struct plan *plan, struct incast *in, const char *key,
		      const char *value, char *error)
{
	uint64_t n;

	if (!strcmp(key, "at"))
		return take_time("incast", key, value, GEN_DURATION_MAX, &in->at_ns, error);
	if (!strcmp(key, "spacing"))
		return take_time("incast", key, value, GEN_DURATION_MAX, &in->spacing_ns, error);
	if (!strcmp(key, "jitter"))
		return take_time("incast", key, value, 1000000000, &in->jitter_ns, error);
	if (!strcmp(key, "times"))
		return take_count("incast", key, value, GEN_FLOWS_MAX, &in->times, error);
	if (!strcmp(key, "to"))
		return take_hosts(plan, "incast", key, value, &in->to, error);
	if (!strcmp(key, "from"))
		return take_hosts(plan, "incast", key, value, &in->from, error);
	if (!strcmp(key, "class"))
		return take_class("incast", value, &in->class, error);
	if (!strcmp(key, "label"))
		return take_label("incast", value, in->label, error);
	if (!strcmp(key, "receivers")) {
		if (take_count("incast", key, value, TRACE_HOSTS_MAX, &n, error))
			return -1;
		in->receivers = n;
		return 0;
	}
	if (!strcmp(key, "sizes")) {
		law_free(&in->sizes);
		return value ? law_find(&in->sizes, value, error) :
		       bad_value("incast", key, value, "a law", error);
	}
	if (value)
		return refuse(error, "--incast: there is no \"%.32s=\"; there are: at, times, to, "
			      "turn, from, remote, replace, even, receivers, spacing, jitter, "
			      "sizes, class, label", key);
	if (!strcmp(key, "turn"))
		in->turn = true;
	else if (!strcmp(key, "remote"))
		in->remote = true;
	else if (!strcmp(key, "replace"))
		in->sources = SOURCES_REPLACE;
	else if (!strcmp(key, "even"))
		in->sources = SOURCES_EVEN;
	else
		return refuse(error, "--incast: there is no \"%.32s\"; there are: turn, remote, "
			      "replace, even, and with a value at, times, to, from, receivers, "
			      "spacing, jitter, sizes, class, label", key);
	return 0;
}

/* DEGREE:BYTES:PERIOD */
static int incast_head(struct incast *in, char *head, char *error)
{
	char *degree = strsep(&head, ":"), *bytes = strsep(&head, ":"), *period = head;
	uint64_t n;

	if (!period)
		return refuse(error, "--incast takes DEGREE:BYTES:PERIOD[,KEY=VALUE...], such as "
			      "100:20MB:500us");
	if (word_number(degree, GEN_FLOWS_MAX, &n) || !n)
		return refuse(error, "--incast: the degree is a number from 1, not \"%.64s\"",
			      degree);
	in->degree = n;
	if (strcmp(bytes, "-") && (word_size(bytes, &in->bytes) || in->bytes < in->degree ||
				   in->bytes > TRACE_BYTES_MAX))
		return refuse(error, "--incast: the size of all %u flows together is one such as "
			      "20MB, at least a byte each, not \"%.64s\"", in->degree, bytes);
	if (word_time(period, &in->period_ns) || in->period_ns > GEN_DURATION_MAX)
		return refuse(error, "--incast: the period is a time such as 500us, or 0 for once, "
			      "not \"%.64s\"", period);
	return 0;
}

static int check_incast(const struct plan *plan, struct incast *in, char *error)
{
	if (!in->bytes && !in->sizes.count)
		return refuse(error, "--incast: a size of \"-\" needs sizes=LAW");
	if (in->bytes && in->sizes.count)
		return refuse(error, "--incast: with sizes=LAW the size is \"-\"");
	if (in->period_ns && !in->times && !plan->duration_ns && !plan->background.on)
		return refuse(error, "--incast: how often? times=N, --duration, or a period of 0");
	if (!in->period_ns && in->times > 1)
		return refuse(error, "--incast: times=%" PRIu64 " needs a period", in->times);
	if (!in->period_ns)
		in->times = 1;
	if (in->times > 1 && in->period_ns > TRACE_START_MAX / 2 / in->times)
		return refuse(error, "--incast: the last of the times would be too late");
	if (in->remote && !plan->per_rack)
		return refuse(error, "--incast: remote is about racks: see --racks");
	if ((!in->to.list && all_hosts(plan->hosts, &in->to)) ||
	    (!in->from.list && all_hosts(plan->hosts, &in->from)))
		return refuse(error, "out of memory");
	if (in->receivers > in->to.count)
		return refuse(error, "--incast: %u receivers, and only %zu hosts to be one",
			      in->receivers, in->to.count);
	return 0;
}

static int settle_incast(struct plan *plan, const char *value, char *error)
{
	char *copy = strdup(value), *rest = copy, *word, *is;
	struct incast *in = &plan->incasts[plan->n_incasts++];
	int err;

	*in = (struct incast) { .receivers = 1, .label = "incast" };
	if (!copy)
		return refuse(error, "out of memory");
	err = incast_head(in, strsep(&rest, ","), error);
	while (!err && (word = strsep(&rest, ","))) {
		is = strchr(word, '=');
		if (is)
			*is++ = '\0';
		err = incast_key(plan, in, word, is, error);
	}
	free(copy);
	return err ? err : check_incast(plan, in, error);
}

/**
 * struct long_words - what the pairs of long flows are to be made of
 */
struct long_words {
	struct hosts from, to;
	const char *pairs;
};

static int long_key(const struct plan *plan, struct longs *l, struct long_words *w,
		    const char *key, const char *value, char *error)
{
	if (!strcmp(key, "at"))
		return take_time("long", key, value, GEN_DURATION_MAX, &l->at_ns, error);
	if (!strcmp(key, "every"))
		return take_time("long", key, value, GEN_DURATION_MAX, &l->every_ns, error);
	if (!strcmp(key, "from"))
		return take_hosts(plan, "long", key, value, &w->from, error);
	if (!strcmp(key, "to"))
		return take_hosts(plan, "long", key, value, &w->to, error);
	if (!strcmp(key, "class"))
		return take_class("long", value, &l->class, error);
	if (!strcmp(key, "label"))
		return take_label("long", value, l->label, error);
	if (!strcmp(key, "pairs")) {
		w->pairs = value;
		return value ? 0 : bad_value("long", key, value, "pairs such as 0:5/1:5", error);
	}
	if (!strcmp(key, "size")) {
		if (!value || word_size(value, &l->bytes) || !l->bytes ||
		    l->bytes > TRACE_BYTES_MAX)
			return bad_value("long", key, value, "a size such as 10MB", error);
		return 0;
	}
	return refuse(error, "--long: there is no \"%.32s\"; there are: size, at, every, from, to, "
		      "pairs, class, label", key);
}

static int long_pairs(const struct plan *plan, struct longs *l, struct long_words *w, char *error)
{
	if (w->pairs) {
		if (w->from.list || w->to.list)
			return refuse(error, "--long: either pairs, or from and to");
		l->given = true;
		return parse_pairs(&l->pairs, plan->hosts, w->pairs) ?
		       refuse_pairs(plan, "--long: \"pairs\"", w->pairs, error) : 0;
	}
	if ((!w->from.list && all_hosts(plan->hosts, &w->from)) ||
	    (!w->to.list && all_hosts(plan->hosts, &w->to)))
		return refuse(error, "out of memory");
	if (all_pairs(&l->pairs, &w->from, &w->to))
		return refuse(error, "--long: these are more than %d pairs of hosts", GEN_PAIRS_MAX);
	return l->pairs.count ? 0 : refuse(error, "--long: no host is left to send to");
}

static int settle_long(struct plan *plan, const char *value, char *error)
{
	char *copy = strdup(value), *rest = copy, *word, *is;
	struct longs *l = &plan->longs[plan->n_longs++];
	struct long_words w = { .pairs = NULL };
	uint64_t n;
	int err = 0;

	*l = (struct longs) { .label = "long" };
	if (!copy)
		return refuse(error, "out of memory");
	word = strsep(&rest, ",");
	if (word_number(word, GEN_FLOWS_MAX, &n) || !n)
		err = refuse(error, "--long takes a number of flows from 1, then KEY=VALUE behind "
			     "commas, not \"%.64s\"", word);
	else
		l->count = n;
	while (!err && (word = strsep(&rest, ","))) {
		is = strchr(word, '=');
		if (is)
			*is++ = '\0';
		err = long_key(plan, l, &w, word, is, error);
	}
	if (!err && !l->bytes && (!plan->duration_ns || !plan->rate))
		err = refuse(error, "--long: size=SIZE, or --duration and --rate for the whole run");
	err = err ? err : long_pairs(plan, l, &w, error);
	free(w.from.list);
	free(w.to.list);
	free(copy);
	return err;
}

static int settle_parts(struct plan *plan, const struct plan_word *words, size_t count, char *error)
{
	int err = 0;

	plan->incasts = calloc(count + 1, sizeof(*plan->incasts));
	plan->longs = calloc(count + 1, sizeof(*plan->longs));
	if (!plan->incasts || !plan->longs)
		return refuse(error, "out of memory");
	for (size_t i = 0; !err && i < count; i++)
		if (words[i].key == PLAN_INCAST)
			err = settle_incast(plan, words[i].value, error);
		else if (words[i].key == PLAN_LONG)
			err = settle_long(plan, words[i].value, error);
	return err;
}

int plan_parse(struct plan *plan, const struct plan_word *words, size_t count, char *error)
{
	struct values *v = calloc(1, sizeof(*v));
	int err = v ? 0 : refuse(error, "out of memory");

	for (size_t i = 0; !err && i < count; i++)
		err = take(v, words[i].key, words[i].value, error);
	if (!err && !v->given[PLAN_LOAD] && !v->given[PLAN_INCAST] && !v->given[PLAN_LONG])
		err = refuse(error, "nothing to make: --load, --incast or --long");
	if (!err)
		err = settle_hosts(plan, v, error) || settle_links(plan, v, error) ||
		      settle_background(plan, v, error) ||
		      settle_parts(plan, words, count, error) || gen_prepare(plan, error) ? -1 : 0;
	free(v);
	return err;
}

/* The comments. */

static int note_options(const struct plan_word *words, size_t count, struct trace *t)
{
	for (size_t i = 0; i < count; i++)
		if (trace_note(t, "option --%s %s", plan_name(words[i].key), words[i].value))
			return -1;
	return 0;
}

static int note_background(const struct plan *plan, struct trace *t)
{
	static const char * const arrivals[] = { "poisson", "lognormal", "even" };
	const struct background *b = &plan->background;

	return trace_note(t, "load %.9g of the busiest link, on %s", b->load,
			  b->core ? "core" : "edge") ||
	       trace_note(t, "arrivals %s", arrivals[b->arrivals]) ||
	       (b->arrivals == ARRIVALS_LOGNORMAL && trace_note(t, "sigma %.9g", b->sigma)) ||
	       trace_note(t, "law %s", b->law.name) ||
	       trace_note(t, "law-points %zu digest %016" PRIx64, b->law.count,
			  law_digest(&b->law)) ||
	       trace_note(t, "law-mean-bytes %.3f", law_mean(&b->law)) ||
	       trace_note(t, "law-mean-line-bytes %.3f", law_mean_on_line(&b->law, &plan->frame)) ||
	       trace_note(t, "mean-gap-ns %.6f", b->gap_ns) ? -1 : 0;
}

int plan_note(const struct plan *plan, const struct plan_word *words, size_t count,
	      struct trace *t)
{
	int err = note_options(words, count, t) ||
		  trace_note(t, "seed %" PRIu64, plan->seed) ||
		  trace_note(t, "hosts %u", plan->hosts) ||
		  (plan->per_rack && trace_note(t, "per-rack %u", plan->per_rack)) ||
		  (plan->rate && trace_note(t, "rate %" PRIu64, plan->rate)) ||
		  (plan->uplinks && trace_note(t, "uplinks %" PRIu64, plan->uplinks)) ||
		  (plan->duration_ns && trace_note(t, "duration-ns %" PRIu64, plan->duration_ns)) ||
		  trace_note(t, "payload %u", plan->frame.payload) ||
		  trace_note(t, "header %u", plan->frame.header) ||
		  trace_note(t, "min-frame %u", plan->frame.least) ||
		  (plan->background.on && note_background(plan, t));

	return err ? -1 : 0;
}
