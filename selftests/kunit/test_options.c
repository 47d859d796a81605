// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_options.c - scalar options: bfc's own table, row by row, with real attributes
 *
 * Each value goes through a netlink message and the kernel's own parser, as from a user's tc.
 */
#include <kunit/test.h>
#include <linux/module.h>

/* The qdisc is not to be registered from here. */
#undef module_init
#undef module_exit
#define module_init(function)
#define module_exit(function)
#include "../../kernel/bfc/threshold.c"
#include "../../kernel/bfc/queue.c"
#include "../../kernel/bfc/stats.c"
#include "../../kernel/bfc/options.c"
#include "../../kernel/bfc/setup.c"
#include "../../kernel/bfc/control.c"
#include "../../kernel/bfc/main.c"

#define OPTIONS	ARRAY_SIZE(bfc_options)

/* A message with options, and how the last attempt with it ended */
struct options {
	struct sk_buff		*skb;
	struct nlattr		*tb[TCA_BFC_MAX + 1];
	struct netlink_ext_ack	extack;
	struct bfc_config	config;
};

static int options_init(struct kunit *test)
{
	struct options *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);

	if (!o)
		return -ENOMEM;
	o->skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!o->skb)
		return -ENOMEM;
	o->config = bfc_defaults;
	test->priv = o;
	return 0;
}

static void options_exit(struct kunit *test)
{
	struct options *o = test->priv;

	if (o)
		kfree_skb(o->skb);
}

static const struct hop_option *option_row(u16 attr)
{
	const struct hop_option *row = bfc_options;

	while (row->attr != attr)
		row++;
	return row;
}

static void option_put(struct kunit *test, struct options *o, u16 attr, u64 value)
{
	int err;

	switch (option_row(attr)->size) {
	case 1:
		err = nla_put_u8(o->skb, attr, value);
		break;
	case 2:
		err = nla_put_u16(o->skb, attr, value);
		break;
	case 4:
		err = nla_put_u32(o->skb, attr, value);
		break;
	default:	/* as programs send them: without padding */
		err = nla_put(o->skb, attr, sizeof(value), &value);
	}
	KUNIT_ASSERT_EQ(test, err, 0);
}

/* Reads the message into the configuration, and empties it for the next one. */
static int options_take(struct kunit *test, struct options *o, bool creating)
{
	int err;

	memset(&o->extack, 0, sizeof(o->extack));
	err = nla_parse(o->tb, TCA_BFC_MAX, (struct nlattr *)o->skb->data, o->skb->len,
			bfc_policy, NULL);
	KUNIT_ASSERT_EQ(test, err, 0);
	err = hop_options_parse(bfc_options, OPTIONS, o->tb, &o->config, creating, &o->extack);
	skb_trim(o->skb, 0);
	return err;
}

static int option_take(struct kunit *test, struct options *o, u16 attr, u64 value, bool creating)
{
	option_put(test, o, attr, value);
	return options_take(test, o, creating);
}

static u64 option_is(const struct options *o, u16 attr)
{
	return hop_option_read(&o->config, option_row(attr));
}

/* One value for one row, at creation: taken or refused as the row says, and nothing else moves. */
static void option_edge(struct kunit *test, struct options *o, const struct hop_option *row,
			u64 value)
{
	bool fits = (value >= row->min && value <= row->max) || (row->zero && !value);
	struct bfc_config want = bfc_defaults;
	int err;

	o->config = bfc_defaults;
	err = option_take(test, o, row->attr, value, true);
	KUNIT_EXPECT_EQ_MSG(test, err, fits ? 0 : -EINVAL, "%s: %llu", row->rule, value);
	KUNIT_EXPECT_PTR_EQ(test, o->extack._msg, fits ? NULL : row->rule);
	KUNIT_EXPECT_PTR_EQ(test, o->extack.bad_attr, fits ? NULL : o->tb[row->attr]);
	if (fits)
		hop_option_write(&want, row, value);
	KUNIT_EXPECT_EQ_MSG(test, memcmp(&o->config, &want, sizeof(want)), 0, "%s: %llu",
			    row->rule, value);
}

static void options_range(struct kunit *test)
{
	struct options *o = test->priv;
	const struct hop_option *row;

	for (row = bfc_options; row < bfc_options + OPTIONS; row++) {
		u64 most = row->size == 8 ? U64_MAX : (1ULL << 8 * row->size) - 1;

		KUNIT_ASSERT_LE(test, row->min, row->max);
		KUNIT_ASSERT_LE(test, row->max, most);
		option_edge(test, o, row, 0);
		if (row->min)
			option_edge(test, o, row, row->min - 1);
		option_edge(test, o, row, row->min);
		option_edge(test, o, row, row->min + (row->max - row->min) / 2);
		option_edge(test, o, row, row->max);
		if (row->max < most)
			option_edge(test, o, row, row->max + 1);
		option_edge(test, o, row, most);
	}
}

/* What a row's field is has to be what the policy lets through. */
static void options_sizes(struct kunit *test)
{
	const struct hop_option *row;

	for (row = bfc_options; row < bfc_options + OPTIONS; row++) {
		u8 type = bfc_policy[row->attr].type;

		KUNIT_EXPECT_EQ_MSG(test, row->size,
				    type == NLA_U8 ? 1 : type == NLA_U16 ? 2 :
				    type == NLA_U32 ? 4 : type == NLA_U64 ? 8 : 0,
				    "%s", row->rule);
	}
}

static void options_fixed(struct kunit *test)
{
	struct options *o = test->priv;
	const struct hop_option *row;
	unsigned int fixed = 0;

	for (row = bfc_options; row < bfc_options + OPTIONS; row++) {
		u64 old, other;
		int err;

		KUNIT_ASSERT_EQ(test, option_take(test, o, row->attr, row->min, true), 0);
		old = option_is(o, row->attr);
		KUNIT_ASSERT_EQ(test, old, row->min);
		KUNIT_EXPECT_EQ_MSG(test, option_take(test, o, row->attr, old, false), 0,
				    "the old value, %s", row->rule);
		other = row->max;
		err = option_take(test, o, row->attr, other, false);
		if (!row->fixed) {
			KUNIT_EXPECT_EQ_MSG(test, err, 0, "%s", row->rule);
			KUNIT_EXPECT_EQ(test, option_is(o, row->attr), other);
			continue;
		}
		fixed++;
		KUNIT_EXPECT_EQ_MSG(test, err, -EOPNOTSUPP, "%s", row->rule);
		KUNIT_EXPECT_STREQ(test, o->extack._msg,
				   "this option can be set at creation only");
		KUNIT_EXPECT_PTR_EQ(test, o->extack.bad_attr, o->tb[row->attr]);
		KUNIT_EXPECT_EQ(test, option_is(o, row->attr), old);
		/* no value at all comes before not now */
		if (row->max < U8_MAX)
			KUNIT_EXPECT_EQ(test, option_take(test, o, row->attr, U8_MAX, false),
					-EINVAL);
	}
	KUNIT_EXPECT_EQ(test, fixed, 5);
}

/* Of several, the first one that is wrong in the order of the table is named. */
static void options_names_the_bad_one(struct kunit *test)
{
	struct options *o = test->priv;

	option_put(test, o, TCA_BFC_LEASE, 1);
	option_put(test, o, TCA_BFC_TH_SCALE, 0);
	option_put(test, o, TCA_BFC_LIMIT, 5000);
	KUNIT_EXPECT_EQ(test, options_take(test, o, true), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, o->extack.bad_attr, o->tb[TCA_BFC_TH_SCALE]);
	KUNIT_EXPECT_STREQ(test, o->extack._msg, "th-scale must be 1 to 10000 percent");
	KUNIT_EXPECT_EQ(test, option_is(o, TCA_BFC_TH_SCALE), bfc_defaults.th_scale);
	KUNIT_EXPECT_EQ(test, option_is(o, TCA_BFC_LEASE), bfc_defaults.lease_ns);
}

static void options_absent(struct kunit *test)
{
	struct options *o = test->priv;

	KUNIT_EXPECT_EQ(test, options_take(test, o, false), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&o->config, &bfc_defaults, sizeof(o->config)), 0);
}

static void options_without_extack(struct kunit *test)
{
	struct options *o = test->priv;

	KUNIT_EXPECT_EQ(test, hop_option_refuse(NULL, NULL, "a rule", -ERANGE), -ERANGE);
	option_put(test, o, TCA_BFC_LIMIT, 0);
	KUNIT_ASSERT_EQ(test, nla_parse(o->tb, TCA_BFC_MAX, (struct nlattr *)o->skb->data,
					o->skb->len, bfc_policy, NULL), 0);
	KUNIT_EXPECT_EQ(test, hop_options_parse(bfc_options, OPTIONS, o->tb, &o->config, true,
						NULL), -EINVAL);
}

static const struct {
	u16		attr[2];	/* the last one is blamed */
	u64		value[2];
	const char	*rule;
} options_tied[] = {
	{ { TCA_BFC_QUEUES, TCA_BFC_CLASSES }, { 10, 3 },
	  "queues must be a multiple of classes" },
	{ { TCA_BFC_CLASSES, TCA_BFC_FLOWS }, { 2, 4 },
	  "flows must be a multiple of classes x ways" },
	{ { TCA_BFC_WAYS, TCA_BFC_FLOWS }, { 4, 6 },
	  "flows must be a multiple of classes x ways" },
	{ { TCA_BFC_FLOWS, TCA_BFC_WAYS }, { 12, 3 }, "ways must be 1 or 4" },
	{ { TCA_BFC_TPID, TCA_BFC_TPID }, { 0x88a8, 0x8200 }, "tpid must be 0x88a8 or 0x8100" },
	{ { TCA_BFC_REFRESH, TCA_BFC_LEASE }, { 20000, 39999 },
	  "lease must be at least 2 refreshes" },
};

/* Rules between options */
static void options_validate(struct kunit *test)
{
	struct options *o = test->priv;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, bfc_validate(o->tb, &o->config, &o->extack), 0);
	for (i = 0; i < ARRAY_SIZE(options_tied); i++) {
		o->config = bfc_defaults;
		option_put(test, o, options_tied[i].attr[0], options_tied[i].value[0]);
		option_put(test, o, options_tied[i].attr[1], options_tied[i].value[1]);
		KUNIT_ASSERT_EQ(test, options_take(test, o, true), 0);
		KUNIT_EXPECT_EQ(test, bfc_validate(o->tb, &o->config, &o->extack), -EINVAL);
		KUNIT_EXPECT_STREQ(test, o->extack._msg, options_tied[i].rule);
		KUNIT_EXPECT_PTR_EQ(test, o->extack.bad_attr, o->tb[options_tied[i].attr[1]]);
	}
}

/* What is dumped is what was set, in each row, and can be set again. */
static void options_dump(struct kunit *test)
{
	struct options *o = test->priv;
	const struct hop_option *row;
	struct bfc_config want = {};

	for (row = bfc_options; row < bfc_options + OPTIONS; row++)
		hop_option_write(&want, row, row->max - (row->max > row->min));
	KUNIT_ASSERT_EQ(test, hop_options_dump(bfc_options, OPTIONS, &want, o->skb, TCA_BFC_PAD),
			0);
	memset(&o->config, 0, sizeof(o->config));
	/* not options_take(): a dump may hold padding */
	KUNIT_ASSERT_EQ(test, nla_parse_deprecated(o->tb, TCA_BFC_MAX,
						   (struct nlattr *)o->skb->data, o->skb->len,
						   bfc_policy, NULL), 0);
	KUNIT_EXPECT_EQ(test, hop_options_parse(bfc_options, OPTIONS, o->tb, &o->config, true,
						&o->extack), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&o->config, &want, sizeof(want)), 0);
}

static void options_dump_no_room(struct kunit *test)
{
	struct options *o = test->priv;

	skb_put_zero(o->skb, skb_tailroom(o->skb) - 40);
	KUNIT_EXPECT_EQ(test, hop_options_dump(bfc_options, OPTIONS, &bfc_defaults, o->skb,
					       TCA_BFC_PAD), -EMSGSIZE);
}

static struct kunit_case options_cases[] = {
	KUNIT_CASE(options_range),
	KUNIT_CASE(options_sizes),
	KUNIT_CASE(options_fixed),
	KUNIT_CASE(options_names_the_bad_one),
	KUNIT_CASE(options_absent),
	KUNIT_CASE(options_without_extack),
	KUNIT_CASE(options_validate),
	KUNIT_CASE(options_dump),
	KUNIT_CASE(options_dump_no_room),
	{}
};

static struct kunit_suite options_suite = {
	.name		= "sluice_options",
	.init		= options_init,
	.exit		= options_exit,
	.test_cases	= options_cases,
};
kunit_test_suite(options_suite);
