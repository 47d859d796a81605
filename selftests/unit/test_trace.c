// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_trace.c - traces of flows: their parsers, their laws, what is drawn
 *
 * Where a result is drawn, its bound is 5 standard deviations of what the law says; all draws are
 * from fixed seeds, so that a test that has passed passes always. Laws are held against sums
 * over each single size, and times against the distribution functions of GSL.
 */
#define _GNU_SOURCE
#include <gsl/gsl_cdf.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ns3.h"
#include "plan.h"
#include "real.h"
#include "unit.h"

static void equal(uint64_t got, uint64_t want, const char *what)
{
	check(got == want, what);
	if (got != want)
		printf("# is %" PRIu64 ", should be %" PRIu64 "\n", got, want);
}

static void near(double got, double want, double tolerance, const char *what)
{
	bool ok = fabs(got - want) <= tolerance;

	check(ok, what);
	if (!ok)
		printf("# is %.9g, should be %.9g to within %.3g\n", got, want, tolerance);
}

static void says(const char *got, const char *want, const char *what)
{
	bool ok = strstr(got, want);

	check(ok, what);
	if (!ok)
		printf("# is \"%s\", should have \"%s\"\n", got, want);
}

static double random_unit(void)
{
	return ((random64() >> 11) + 0.5) / 9007199254740992.0;
}

static uint64_t digest(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *c = bytes; n--; c++)
		hash = (hash ^ *c) * 0x100000001b3ULL;
	return hash;
}

static char error[TRACE_ERROR_MAX];

static FILE *text_file(const char *text, size_t n)
{
	/* fmemopen() takes no empty text */
	return n ? fmemopen((void *)text, n, "r") : fopen("/dev/null", "r");
}

/* -- logarithm and exponential -- */

static void test_real(void)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	double worst_log = 0, worst_exp = 0, x, y, gap;

	for (int i = 0; i < 200000; i++) {
		x = 1 + random_unit();
		x = ldexp(x, (int)(random64() % 200) - 100);
		y = real_log(x);
		gap = fabs(y - log(x)) / (fabs(log(x)) + 1e-3);
		worst_log = gap > worst_log ? gap : worst_log;
		hash = digest(hash, &y, sizeof(y));
		x = (random_unit() - 0.5) * 100;
		y = real_exp(x);
		gap = fabs(y - exp(x)) / exp(x);
		worst_exp = gap > worst_exp ? gap : worst_exp;
		hash = digest(hash, &y, sizeof(y));
	}
	near(worst_log, 0, 1e-14, "real_log is the logarithm");
	near(worst_exp, 0, 1e-14, "real_exp is the exponential");
	check(real_log(1) == 0 && real_exp(0) == 1 && real_exp(-1000) == 0, "real: fixed points");
	/* bits, on a machine whose bytes have the other order they would be others */
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		equal(hash, UINT64_C(4055390261229082937), "real: the same bits as on any machine");
}

/* -- words -- */

static void test_words(void)
{
	static const struct {
		int (*word)(const char *word, uint64_t *v);
		const char *text;
		uint64_t value;
	} good[] = {
		{ word_size, "1", 1 }, { word_size, "20MB", 20000000 }, { word_size, "1.5k", 1500 },
		{ word_size, "64KiB", 65536 }, { word_size, "0.5", 1 }, { word_size, "0", 0 },
		{ word_time, "500us", 500000 }, { word_time, "7.7ms", 7700000 },
		{ word_time, "0", 0 }, { word_time, "1s", 1000000000 }, { word_time, "3ns", 3 },
		{ word_rate, "100gbit", 100000000000 }, { word_rate, "2.5Gbit", 2500000000 },
		{ word_rate, "9bit", 9 },
	};
	static const struct {
		int (*word)(const char *word, uint64_t *v);
		const char *text;
	} bad[] = {
		{ word_size, "" }, { word_size, "-1" }, { word_size, " 1" }, { word_size, "1x" },
		{ word_size, "1e3" }, { word_size, "1.2.3" }, { word_size, "0.1" },
		{ word_size, "inf" }, { word_size, "nan" }, { word_size, "0x10" },
		{ word_size, "99999999999999999999" }, { word_size, ".5" }, { word_size, "1 k" },
		{ word_time, "5" }, { word_time, "5m" }, { word_time, "us" }, { word_time, "" },
		{ word_rate, "100" }, { word_rate, "10gbps" }, { word_rate, "gbit" },
	};
	struct hosts h;
	uint64_t v;
	double share;
	bool ok = true;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (good[i].word(good[i].text, &v) || v != good[i].value) {
			printf("# \"%s\" is %" PRIu64 "\n", good[i].text, v);
			ok = false;
		}
	check(ok, "words: values");
	ok = true;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!bad[i].word(bad[i].text, &v)) {
			printf("# \"%s\" is taken\n", bad[i].text);
			ok = false;
		}
	check(ok, "words: what is no value");
	check(!word_share("0.6", &share) && share == 0.6 && !word_share("60%", &share) &&
	      share == 0.6 && !word_share(".5", &share) && share == 0.5, "words: shares");
	check(word_share("", &share) && word_share("-1", &share) && word_share("1e1", &share) &&
	      word_share("%", &share) && word_share(".", &share) && word_share("5%%", &share),
	      "words: what is no share");
	check(!word_hosts("3+0-1", 4, &h) && h.count == 3 && h.list[0] == 3 && h.list[1] == 0 &&
	      h.list[2] == 1, "words: hosts");
	free(h.list);
	check(word_hosts("", 4, &h) && word_hosts("4", 4, &h) && word_hosts("2-1", 4, &h) &&
	      word_hosts("1+1", 4, &h) && word_hosts("0-2+1", 4, &h) && word_hosts("0-", 4, &h) &&
	      word_hosts("-1", 4, &h) && word_hosts("0++1", 4, &h) && word_hosts("a", 4, &h) &&
	      word_hosts("0-1-2", 4, &h), "words: what are no hosts");
}

/* -- laws -- */

static struct law law;

static int law_text(const char *text)
{
	FILE *f = text_file(text, strlen(text));
	int err;

	law_free(&law);
	error[0] = '\0';
	err = law_read(&law, f, "x", error);
	fclose(f);
	return err;
}

static void test_law_files(void)
{
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{ "", "x:1: there is no point in it" },
		{ "# nothing\n", "x:2: there is no point in it" },
		{ "0 0\n5\n", "x:2: a point of a law is BYTES FRACTION" },
		{ "0 0\n5 1 2\n", "x:2: a point of a law is BYTES FRACTION" },
		{ "0 0\nx 1\n", "x:2: a point of a law is BYTES FRACTION" },
		{ "0 0\n-1 1\n", "x:2: a point of a law is BYTES FRACTION" },
		{ "0 0\n5 nan\n", "x:2: a point of a law is BYTES FRACTION" },
		{ "0 0\n0x5 1\n", "x:2: a point of a law is BYTES FRACTION" },
		{ "0 0\n1e16 1\n", "x:2: a size above 1e+15 is too much" },
		{ "0 0\n1e999 1\n", "x:2: a size above 1e+15 is too much" },
		{ "0 0\n5 100\n", "x:2: fractions go from 0 to 1" },
		{ "1 0.5\n5 1\n", "x:1: the first fraction is not 0" },
		{ "5 0\n4 1\n", "x:2: the size is below that of the point before" },
		{ "0 0\n5 0.5\n6 0.4\n7 1\n", "x:3: the fraction is below that of the point before" },
		{ "0 0\n5 0.5\n", "x:3: the last fraction is not 1" },
		{ "0 0\n0 1\n", "x:3: there is no size in it but 0" },
	};
	static const char nul[] = "0 0\n5\0 1\n";
	FILE *f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(law_text(bad[i].text) == -1, "law: refused");
		says(error, bad[i].says, bad[i].says);
	}
	f = text_file(nul, sizeof(nul) - 1);
	law_free(&law);
	check(law_read(&law, f, "x", error) == -1, "law: a zero byte is refused");
	says(error, "x:2: this is no text", "law: and so it says");
	fclose(f);
	check(!law_text("# a comment\n\n0 0\n1e3 0.5\n2000\t1") && law.count == 3 &&
	      law.bytes[1] == 1000, "law: comments, blank lines, no end of the last one");
}

static const char *law_names(const char *name)
{
	law_free(&law);
	error[0] = '\0';
	return law_find(&law, name, error) ? error : "fine";
}

static void test_law_names(void)
{
	check(!strcmp(law_names("fixed:1KB"), "fine") && law_size(&law, 0.3) == 1000 &&
	      law_mean(&law) == 1000, "law: fixed");
	check(!strcmp(law_names("uniform:10:20"), "fine") && law_size(&law, 0.0001) == 10 &&
	      law_size(&law, 0.5) == 15 && law_size(&law, 0.9999) == 20, "law: uniform");
	near(law_mean(&law), 15, 1e-12, "law: mean of uniform");
	says(law_names("fixed:0"), "is not fixed:BYTES", "law: fixed:0");
	says(law_names("fixed:"), "is not fixed:BYTES", "law: fixed:");
	says(law_names("uniform:5"), "is not fixed:BYTES", "law: uniform:5");
	says(law_names("uniform:6:5"), "is not fixed:BYTES", "law: uniform:6:5");
	says(law_names("uniform:0:5"), "is not fixed:BYTES", "law: uniform:0:5");
	says(law_names("nope"), "there is no law \"nope\"; there are: alistorage2019",
	     "law: unknown");
	says(law_names("./no/such"), "./no/such: No such file", "law: no file");
	says(law_names("/"), "Is a directory", "law: a directory");
}

static uint64_t frame_naive(const struct frame *frame, uint64_t bytes)
{
	uint64_t line = 0, part, size;

	while (bytes) {
		part = bytes < frame->payload ? bytes : frame->payload;
		size = part + frame->header;
		line += size < frame->least ? frame->least : size;
		bytes -= part;
	}
	return line;
}

static const struct frame frames[] = {
	{ 1000, 62, 64 }, { 1, 0, 0 }, { 1460, 78, 84 },
	{ 10, 5, 64 }, { 100, 0, 64 }, { 64, 0, 64 },
};

#define N_FRAMES	(sizeof(frames) / sizeof(frames[0]))

static void test_frames(void)
{
	bool ok = true;

	for (size_t i = 0; i < N_FRAMES; i++)
		for (uint64_t bytes = 1; bytes < 5000; bytes += 1 + bytes / 300)
			ok &= frame_bytes(&frames[i], bytes) == frame_naive(&frames[i], bytes);
	check(ok, "frames: bytes on the line, packet by packet");
}

/* Share of flows of at most @x, by a walk along the points from @from on, which are not above. */
static double law_share_from(size_t *from, double x)
{
	for (size_t i = *from; i < law.count; i++) {
		if (law.bytes[i] <= x)
			continue;
		*from = i;
		if (!i)
			return 0;
		return law.fraction[i - 1] + (law.fraction[i] - law.fraction[i - 1]) *
		       (x - law.bytes[i - 1]) / (law.bytes[i] - law.bytes[i - 1]);
	}
	return 1;
}

static double law_share(double x)
{
	size_t from = 0;

	return law_share_from(&from, x);
}

/* Means by a sum over each size that can be drawn. */
static void sum_sizes(const struct frame *frame, double *mean, double *line)
{
	double last = 0, share;
	size_t from = 0;

	*mean = *line = 0;
	for (uint64_t k = 1; last < 1; k++) {
		share = law_share_from(&from, k + 0.5);
		*mean += k * (share - last);
		*line += frame_bytes(frame, k) * (share - last);
		last = share;
	}
}

static void test_law_means(void)
{
	static const char * const small[] = { "fb_keyvalue", "rocc_fb", "solar2022", "uniform:3:4000",
					      "fixed:77", "fb_webserver" };
	double mean, line;

	for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		law_names(small[i]);
		for (size_t k = 0; k < N_FRAMES; k++) {
			sum_sizes(&frames[k], &mean, &line);
			near(law_mean(&law), mean, 1e-9 * mean, small[i]);
			near(law_mean_on_line(&law, &frames[k]), line, 1e-9 * line,
			     "law: mean on the line by sum over sizes");
		}
	}
	law_text("6 0\n6 0.15\n13 0.2\n13 0.3\n20 0.3\n30 1\n");
	sum_sizes(&frames[0], &mean, &line);
	near(law_mean(&law), mean, 1e-9 * mean, "law: mean with steps and with a gap");
	near(law_quantile(&law, 0.1), 6, 0, "law: a step has one size");
	near(law_quantile(&law, 0.25), 13, 0, "law: and so has another");
	check(law_quantile(&law, 0.300001) > 19.999, "law: nothing is drawn from a gap");
}

static void test_law_draws(void)
{
	enum { N = 400000 };
	double mean, square, sd, sum, u, x0, x1;
	char what[80];

	for (const struct law_text *t = law_texts; t->name; t++) {
		bool ok = !strcmp(law_names(t->name), "fine"), points = true;
		uint64_t *below = calloc(law.count, sizeof(*below)), size;

		snprintf(what, sizeof(what), "law %s: parses, from 0 to 1", t->name);
		check(ok && law.fraction[0] == 0 && law.fraction[law.count - 1] == 1, what);
		mean = law_mean(&law);
		square = 0;
		for (size_t i = 1; i < law.count; i++) {
			x0 = law.bytes[i - 1];
			x1 = law.bytes[i];
			square += (law.fraction[i] - law.fraction[i - 1]) *
				  (x0 * x0 + x0 * x1 + x1 * x1) / 3;
		}
		sd = sqrt((square - mean * mean) / N);
		sum = 0;
		for (int n = 0; n < N; n++) {
			u = random_unit();
			size = law_size(&law, u);
			sum += size;
			/* the rank of the first point that is not below it */
			for (size_t i = 0; i < law.count; i += 1 + law.count / 12)
				below[i] += size <= floor(law.bytes[i] + 0.5);
		}
		snprintf(what, sizeof(what), "law %s: mean of sizes drawn", t->name);
		near(sum / N, mean, 5 * sd, what);
		for (size_t i = 0; i < law.count; i += 1 + law.count / 12) {
			/* a drawn size is rounded */
			double p = law_share(floor(law.bytes[i] + 0.5) + 0.499999);

			if (law.bytes[i] >= 1 &&
			    fabs((double)below[i] / N - p) > 5 * sqrt(p * (1 - p) / N) + 1e-9) {
				printf("# %g: %g, should be %g\n", law.bytes[i],
				       (double)below[i] / N, p);
				points = false;
			}
		}
		snprintf(what, sizeof(what), "law %s: shares of sizes drawn", t->name);
		check(points, what);
		free(below);
	}
}

/* -- the file of a trace -- */

static struct trace trace;

static int read_text(const char *text, size_t n)
{
	FILE *f = text_file(text, n);
	int err;

	trace_free(&trace);
	error[0] = '\0';
	err = trace_read(&trace, f, "x", error);
	fclose(f);
	return err;
}

static char *written(const struct trace *t, size_t *size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);

	if (trace_write(t, f))
		abort();
	fclose(f);
	return text;
}

#define HEAD	"# sluice-trace 1\n"

static void test_trace_file(void)
{
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{ "", "x:1: a trace begins with \"# sluice-trace 1\"" },
		{ "0 1 2 3\n", "x:1: a trace begins with" },
		{ "# sluice-trace 2\n", "x:1: version \"2\" is not known" },
		{ "# sluice-trace one\n", "x:1: version \"one\" is not known" },
		{ HEAD "0 1 2\n", "x:2: a flow is START_NS SRC DST BYTES" },
		{ HEAD "0 1 2 3 4 a b\n", "x:2: a flow is START_NS SRC DST BYTES" },
		{ HEAD "\n", "x:2: a flow is START_NS SRC DST BYTES" },
		{ HEAD "-1 1 2 3\n", "x:2: \"-1\" is no time in ns" },
		{ HEAD "1.5 1 2 3\n", "x:2: \"1.5\" is no time in ns" },
		{ HEAD "4611686018427387905 1 2 3\n", "is no time in ns" },
		{ HEAD "99999999999999999999999 1 2 3\n", "is no time in ns" },
		{ HEAD "0 65536 2 3\n", "x:2: \"65536\" is no number of a host" },
		{ HEAD "0 1 b 3\n", "x:2: \"b\" is no number of a host" },
		{ HEAD "0 1 2 0\n", "x:2: \"0\" is no size in bytes" },
		{ HEAD "0 1 2 1k\n", "x:2: \"1k\" is no size in bytes" },
		{ HEAD "0 1 2 281474976710657\n", "is no size in bytes" },
		{ HEAD "0 1 2 3 8\n", "x:2: \"8\" is no class from 0 to 7" },
		{ HEAD "0 1 2 3 0 Long\n", "x:2: \"Long\" is no label" },
		{ HEAD "0 1 2 3 0 sixteen-letters-\n", "is no label" },
		{ HEAD "0 2 2 3\n", "x:2: host 2 sends to itself" },
		{ HEAD "5 1 2 3\n4 1 2 3\n", "x:3: begins before the flow of the line above" },
		{ HEAD "0 1 2 15", "x:2: the last line has no end" },
		{ HEAD "# cut o", "x:2: the last line has no end" },
		{ HEAD "0 1 2 3\r\n", "is no size in bytes" },
	};
	static const char good[] = HEAD "# hosts 9\n#\n# a  b\n0 1 2 3\n0 1 2 3 7\n"
		"5 65535 0 281474976710656 0 a\n# behind\n4611686018427387904 1 2 3 1 z-_9\n";
	static const char nul[] = HEAD "0 1 2 3\0\n";
	size_t size;
	char *text;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(read_text(bad[i].text, strlen(bad[i].text)) == -1, "trace: refused");
		says(error, bad[i].says, bad[i].says);
	}
	check(read_text(nul, sizeof(nul) - 1) == -1 && strstr(error, "x:2: this is no text"),
	      "trace: a zero byte is refused");
	equal(read_text(good, sizeof(good) - 1), 0, "trace: is read");
	equal(trace.count, 4, "trace: all its flows");
	check(trace.flows[1].class == 7 && !strcmp(trace.flows[0].label, "-") &&
	      !strcmp(trace.flows[3].label, "z-_9") && trace.flows[2].src == 65535,
	      "trace: their fields");
	check(trace_noted(&trace, "hosts") && !strcmp(trace_noted(&trace, "hosts"), "9") &&
	      !trace_noted(&trace, "host"), "trace: comments");
	text = written(&trace, &size);
	equal(read_text(text, size), 0, "trace: what is written is read");
	check(trace.count == 4 && trace.n_notes == 4, "trace: and is all of it");
	free(text);
	equal(read_text(HEAD, strlen(HEAD)), 0, "trace: without a flow");
}

static void test_sort(void)
{
	bool ok = true;

	for (size_t n = 0; n < 200; n += 1 + n / 10) {
		trace_free(&trace);
		for (size_t i = 0; i < n; i++)
			trace_add(&trace, random64() % (n / 3 + 1), 0, 1, i + 1, 0, NULL);
		ok &= !trace_sort(&trace) && trace.count == n;
		for (size_t i = 1; i < n; i++)
			ok &= trace.flows[i - 1].start_ns < trace.flows[i].start_ns ||
			      (trace.flows[i - 1].start_ns == trace.flows[i].start_ns &&
			       trace.flows[i - 1].bytes < trace.flows[i].bytes);
	}
	check(ok, "trace: sorted, and equal starts keep their order");
}

/* -- plans -- */

static struct plan plan;

/* Options as one string: "hosts 8,law x" would need commas elsewhere, so a bar is between them. */
static int parse_plan(const char *text)
{
	struct plan_word words[32];
	char *copy = strdup(text), *rest = copy, *word, *value;
	size_t n = 0;
	int err;

	while ((word = strsep(&rest, "|"))) {
		value = strchr(word, ' ');
		*value++ = '\0';
		for (int key = 0; key < PLAN_KEYS; key++)
			if (!strcmp(plan_name(key), word))
				words[n++] = (struct plan_word) { key, value };
	}
	plan_free(&plan);
	error[0] = '\0';
	err = plan_parse(&plan, words, n, error);
	trace_free(&trace);
	if (!err && plan_note(&plan, words, n, &trace))
		err = -1;
	free(copy);
	return err;
}

static int make_plan(const char *text)
{
	int err = parse_plan(text);

	if (!err)
		err = gen_make(&plan, &trace, error);
	if (err)
		printf("# %s: %s\n", text, error);
	return err;
}

#define LOAD	"load 0.5|law fixed:1000|rate 10gbit|duration 1ms|"

static void test_plans(void)
{
	static const struct {
		const char *options;
		const char *says;
	} bad[] = {
		{ "hosts 8", "nothing to make: --load, --incast or --long" },
		{ "hosts 1|long 1", "--hosts takes a number of hosts from 2 to 65536, not \"1\"" },
		{ "hosts 65537|long 1", "--hosts takes a number of hosts from 2 to 65536" },
		{ "hosts -1|long 1", "--hosts takes a number of hosts" },
		{ "hosts 8|hosts 9|long 1", "--hosts is given twice" },
		{ "rate 10gbit|long 1", "how many hosts? --hosts, or --racks and --per-rack" },
		{ "racks 2|long 1", "--racks needs --per-rack, or --hosts that it divides" },
		{ "racks 3|hosts 8|long 1", "--racks needs --per-rack, or --hosts that it divides" },
		{ "per-rack 3|long 1", "--per-rack needs --racks, or --hosts that it divides" },
		{ "racks 2|per-rack 3|hosts 8|long 1", "2 racks of 3 are not 8 hosts" },
		{ "racks 65536|per-rack 65536|long 1", "there have to be 2 to 65536 hosts" },
		{ "racks 1|per-rack 1|long 1", "there have to be 2 to 65536 hosts" },
		{ LOAD "hosts 8|uplinks 4x10gbit", "--uplinks are those of a rack: see --racks" },
		{ LOAD "racks 2|per-rack 4|uplinks 4x10", "--uplinks takes links such as" },
		{ LOAD "racks 2|per-rack 4|uplinks 0x10gbit", "--uplinks takes links such as" },
		{ LOAD "racks 2|per-rack 4|uplinks 10gbit+", "--uplinks takes links such as" },
		{ LOAD "hosts 8|on core", "--on core needs --racks, --per-rack and --uplinks" },
		{ LOAD "racks 2|per-rack 4|on core", "--on core needs" },
		{ LOAD "hosts 8|on rack", "--on takes edge or core, not \"rack\"" },
		{ LOAD "hosts 8|arrivals pareto", "--arrivals takes poisson, lognormal or even" },
		{ LOAD "hosts 8|sigma 1", "--sigma is for --arrivals lognormal" },
		{ LOAD "hosts 8|arrivals lognormal|sigma 0", "--sigma takes a number above 0" },
		{ LOAD "hosts 8|arrivals lognormal|sigma 6", "--sigma takes a number above 0" },
		{ LOAD "hosts 8|locality 0.5", "--locality is about racks: see --racks" },
		{ LOAD "hosts 8|per-rack 4|locality 1.5", "--locality takes a share from 0 to 1" },
		{ LOAD "racks 8|per-rack 1|locality 0.5", "no pair of hosts is inside a rack" },
		{ LOAD "racks 1|per-rack 8|locality 0.5", "all pairs of hosts are inside a rack" },
		{ LOAD "racks 1|per-rack 8|uplinks 10gbit|on core", "there is no load on the core" },
		{ LOAD "racks 2|per-rack 4|uplinks 10gbit|on core|locality 1",
		  "there is no load on the core" },
		{ LOAD "hosts 8|pairs 0", "--pairs takes pairs such as 0-14:15" },
		{ LOAD "hosts 8|pairs 0:0", "--pairs takes pairs such as 0-14:15" },
		{ LOAD "hosts 8|pairs 0:8", "of hosts below 8, not \"0:8\"" },
		{ LOAD "hosts 8|pairs 0:1/", "--pairs takes pairs such as" },
		{ LOAD "hosts 65536", "these are more than 16777216 pairs of hosts: see --pairs" },
		{ LOAD "hosts 8|class 7|classes 2", "2 classes from 7 on are too many" },
		{ LOAD "hosts 8|class 8", "--class takes a class from 0 to 7" },
		{ LOAD "hosts 8|classes 0", "--classes takes a number from 1 to 8" },
		{ LOAD "hosts 8|label A", "--label takes a label of 1 to 15 of" },
		{ LOAD "hosts 8|payload 0", "--payload takes a size from 1 to 65535 bytes" },
		{ LOAD "hosts 8|seed x", "--seed takes a number, not \"x\"" },
		{ "hosts 8|load 0|law fixed:1", "--load takes a share above 0" },
		{ "hosts 8|load 0.5|law fixed:1|duration 1ms", "--load needs --rate" },
		{ "hosts 8|load 0.5|rate 10gbit|duration 1ms", "--load needs --law" },
		{ "hosts 8|load 0.5|rate 10gbit|law fixed:1", "how long? --duration or --flows" },
		{ "hosts 8|load 0.5|rate 10gbit|law no|duration 1ms", "there is no law \"no\"" },
		{ "hosts 8|load 0.5|rate 10|law fixed:1", "--rate takes a rate such as 100gbit" },
		{ "hosts 8|duration 1|long 1", "--duration takes a time such as 50ms" },
		{ "hosts 8|duration 3601s|long 1", "--duration takes a time such as 50ms" },
		{ "hosts 8|long 1|law fixed:1", "--law is for --load" },
		{ "hosts 8|long 1,size=1|flows 5", "--flows is for --load" },
		{ "hosts 8|long 1,size=1|start 5us", "--start is for --load" },
		{ LOAD "hosts 8|start x", "--start takes a time such as 30us" },
		{ LOAD "hosts 8|start 1ms", "--start is not before --duration" },
		{ "hosts 8|law a\nb|long 1,size=1", "--law: there is a control character in its value" },
		{ "hosts 8|incast 5", "--incast takes DEGREE:BYTES:PERIOD" },
		{ "hosts 8|incast 0:1MB:0", "--incast: the degree is a number from 1, not \"0\"" },
		{ "hosts 8|incast 5:4:0", "at least a byte each, not \"4\"" },
		{ "hosts 8|incast 5:1x:0", "at least a byte each, not \"1x\"" },
		{ "hosts 8|incast 5:1MB:5", "--incast: the period is a time such as 500us" },
		{ "hosts 8|incast 5:1MB:1ms", "--incast: how often? times=N, --duration, or" },
		{ "hosts 8|incast 5:1MB:0,times=2", "--incast: times=2 needs a period" },
		{ "hosts 8|incast 5:-:0", "--incast: a size of \"-\" needs sizes=LAW" },
		{ "hosts 8|incast 5:1MB:0,sizes=fixed:1", "--incast: with sizes=LAW the size is \"-\"" },
		{ "hosts 8|incast 5:-:0,sizes=no", "there is no law \"no\"" },
		{ "hosts 8|incast 5:1MB:0,sizes", "--incast: \"sizes\" takes a law" },
		{ "hosts 8|incast 5:1MB:0,remote", "--incast: remote is about racks" },
		{ "hosts 8|incast 5:1MB:0,to=8", "\"to\" takes hosts such as 0-3+7, below --hosts" },
		{ "hosts 8|incast 5:1MB:0,from=1+1", "\"from\" takes hosts such as 0-3+7" },
		{ "hosts 8|incast 5:1MB:0,receivers=2,to=1", "2 receivers, and only 1 hosts to be one" },
		{ "hosts 8|incast 5:1MB:0,receivers=0", "\"receivers\" takes a number from 1" },
		{ "hosts 8|incast 5:1MB:0,at=1", "\"at\" takes a time such as 50us" },
		{ "hosts 8|incast 5:1MB:0,jitter=2s", "\"jitter\" takes a time up to 1s" },
		{ "hosts 8|incast 5:1MB:0,class=8", "\"class\" takes a class from 0 to 7" },
		{ "hosts 8|incast 5:1MB:0,label=A", "\"label\" takes 1 to 15 of" },
		{ "hosts 8|incast 5:1MB:0,nope", "--incast: there is no \"nope\"" },
		{ "hosts 8|incast 5:1MB:0,nope=1", "--incast: there is no \"nope=\"" },
		{ "hosts 8|incast 5:1MB:3600s,times=50000000", "the last of the times would be too late" },
		{ "hosts 8|long 0", "--long takes a number of flows from 1" },
		{ "hosts 8|long 1", "--long: size=SIZE, or --duration and --rate" },
		{ "hosts 8|long 1,size=0", "\"size\" takes a size such as 10MB" },
		{ "hosts 8|long 1,size=1,pairs=0", "--long: \"pairs\" takes pairs such as" },
		{ "hosts 8|long 1,size=1,pairs", "--long: \"pairs\" takes pairs such as 0:5/1:5" },
		{ "hosts 8|long 1,size=1,pairs=0:1,to=1", "--long: either pairs, or from and to" },
		{ "hosts 8|long 1,size=1,from=1,to=1", "--long: no host is left to send to" },
		{ "hosts 8|long 1,size=1,from=9", "--long: \"from\" takes hosts" },
		{ "hosts 8|long 1,size=1,every=1", "--long: \"every\" takes a time" },
		{ "hosts 8|long 1,size=1,nope=1", "--long: there is no \"nope\"" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bool refused = parse_plan(bad[i].options) == -1;

		says(refused ? error : "not refused", bad[i].says, bad[i].options);
	}
	check(!parse_plan("hosts 8|incast 8:1MB:0") && gen_make(&plan, &trace, error) == -1,
	      "plan: more senders than there are");
	says(error, "an incast of 8 needs as many hosts that send to host", "plan: and so it says");
}

/* -- what is drawn -- */

/* The largest distance between the shares of values and their distribution function. */
static double ks(double *v, size_t n, double (*cdf)(double x))
{
	double worst = 0, p;

	for (size_t i = 0; i < n; i++) {
		p = cdf(v[i]);
		worst = fmax(worst, fmax(fabs(p - (double)i / n), fabs(p - (double)(i + 1) / n)));
	}
	return worst * sqrt(n);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double cdf_exponential(double x)
{
	return gsl_cdf_exponential_P(x, 1);
}

static double sigma;

static double cdf_lognormal(double x)
{
	return gsl_cdf_lognormal_P(x, -sigma * sigma / 2, sigma);
}

/* Times between flows in units of their mean, sorted, and the mean of them. */
static double *gaps(double mean_ns, double *mean)
{
	double *v = calloc(trace.count, sizeof(*v));

	for (size_t i = 0; i < trace.count; i++)
		v[i] = (trace.flows[i].start_ns - (i ? trace.flows[i - 1].start_ns : 0)) / mean_ns;
	*mean = trace.flows[trace.count - 1].start_ns / mean_ns / trace.count;
	qsort(v, trace.count, sizeof(*v), by_value);
	return v;
}

/* 1000 bytes and a header of 62 at 1 Mbit/s x 8 hosts x 0.5: 2.124 ms */
#define SLOW	"hosts 8|rate 1mbit|load 0.5|law fixed:1000|flows 1000000|"

static void test_arrivals(void)
{
	static const char * const sigmas[] = { "0.5", "1", "2" };
	char text[128];
	double mean, *v;

	check(!make_plan(SLOW "seed 3"), "poisson: made");
	near(plan.background.gap_ns, 2124000, 1e-6, "poisson: mean time between flows");
	equal(trace.count, 1000000, "poisson: as many flows as asked for");
	v = gaps(2124000, &mean);
	near(mean, 1, 5 / sqrt(1e6), "poisson: mean of times drawn");
	check(ks(v, trace.count, cdf_exponential) < 2, "poisson: times are exponential");
	free(v);
	for (size_t i = 0; i < 3; i++) {
		sigma = strtod(sigmas[i], NULL);
		snprintf(text, sizeof(text), SLOW "seed 3|arrivals lognormal|sigma %s", sigmas[i]);
		check(!make_plan(text), "log-normal: made");
		near(plan.background.gap_ns, 2124000, 1e-6, "log-normal: its mean is that of the load");
		v = gaps(2124000, &mean);
		near(mean, 1, 5 * sqrt((exp(sigma * sigma) - 1) / 1e6),
		     "log-normal: mean of times drawn");
		check(ks(v, trace.count, cdf_lognormal) < 2, "log-normal: times are log-normal");
		free(v);
	}
	check(!make_plan(SLOW "arrivals even"), "even: made");
	v = gaps(2124000, &mean);
	check(v[0] > 1 - 1e-6 && v[trace.count - 1] < 1 + 1e-6, "even: all times are one");
	free(v);
	check(!make_plan("hosts 100|rate 10gbit|load 0.5|law fixed:143|header 62|duration 1ms|"
			 "arrivals even|start 600us"), "later: made");
	near(trace.count, 4e5 / 3.28, 2, "later: as many flows as there is time for");
	check(trace.flows[0].start_ns >= 600000, "later: none begins before");
	/* a mean gap of 3.3 ns, which whole nanoseconds would not keep */
	check(!make_plan("hosts 100|rate 10gbit|load 0.5|law fixed:143|header 62|duration 1ms|"
			 "arrivals even"), "fast: made");
	near(plan.background.gap_ns, 3.28, 1e-9, "fast: mean time between flows");
	near(trace.count, 1e6 / 3.28, 2, "fast: as many flows as that");
}

/* Bytes on the line, of what a function chooses. */
static double line_bytes(bool (*choose)(const struct trace_flow *flow))
{
	double sum = 0;

	for (const struct trace_flow *flow = trace.flows; flow < trace.flows + trace.count; flow++)
		if (choose(flow))
			sum += frame_naive(&plan.frame, flow->bytes);
	return sum;
}

static bool from_3(const struct trace_flow *flow)
{
	return flow->src == 3;
}

static bool to_3(const struct trace_flow *flow)
{
	return flow->dst == 3;
}

static bool out_of_rack_1(const struct trace_flow *flow)
{
	return flow->src / 4 == 1 && flow->dst / 4 != 1;
}

static bool into_rack_1(const struct trace_flow *flow)
{
	return flow->src / 4 != 1 && flow->dst / 4 == 1;
}

static bool inside_a_rack(const struct trace_flow *flow)
{
	return flow->src / 4 == flow->dst / 4;
}

/*
 * A load is a sum of a Poisson number of flows: its relative standard deviation is
 * sqrt((1 + c^2) / n), c being the sizes' own. Of 1 to 3000 bytes c is below 0.6.
 */
static void load_near(bool (*choose)(const struct trace_flow *flow), double want, double bits,
		      const char *what)
{
	double n = want * bits / 8 / law_mean_on_line(&plan.background.law, &plan.frame);

	near(line_bytes(choose) * 8 / bits / want, 1, 5 * sqrt(1.36 / n), what);
}

#define RACKS	"racks 4|per-rack 4|rate 10gbit|uplinks 2x10gbit|law uniform:1:3000|duration 40ms|"
#define HOST	(1e10 * 0.04)
#define UPLINK	(2e10 * 0.04)

static double local_share(void)
{
	double n = 0;

	for (size_t i = 0; i < trace.count; i++)
		n += inside_a_rack(&trace.flows[i]);
	return n / trace.count;
}

static void test_loads(void)
{
	check(!make_plan(RACKS "load 60%"), "edge: made");
	load_near(from_3, 0.6, HOST, "edge: load that a host sends");
	load_near(to_3, 0.6, HOST, "edge: load that a host receives");
	near(local_share(), 3.0 / 15, 5 * sqrt(0.16 / trace.count), "edge: destinations are uniform");
	check(!make_plan(RACKS "load 0.7|on core"), "core: made");
	load_near(out_of_rack_1, 0.7, UPLINK, "core: load of a rack's uplinks");
	load_near(into_rack_1, 0.7, UPLINK, "core: load of them downwards");
	near(local_share(), 3.0 / 15, 5 * sqrt(0.16 / trace.count), "core: destinations are uniform");
	check(!make_plan(RACKS "load 0.7|on core|locality 0.75"), "core with locality: made");
	load_near(out_of_rack_1, 0.7, UPLINK, "core with locality: load of a rack's uplinks");
	near(local_share(), 0.75, 5 * sqrt(0.19 / trace.count), "core with locality: share");
	check(!make_plan(RACKS "load 0.5|locality 0"), "locality 0: made");
	equal(local_share() * trace.count, 0, "locality 0: all leave their rack");
	load_near(from_3, 0.5, HOST, "locality 0: load that a host sends");
	check(!make_plan(RACKS "load 0.5|locality 1"), "locality 1: made");
	check(local_share() == 1, "locality 1: none leaves its rack");
	check(!make_plan(RACKS "load 0.6|pairs 4-15:3"), "n to 1: made");
	load_near(to_3, 0.6, HOST, "n to 1: it is the receiver's load");
	equal(line_bytes(from_3), 0, "n to 1: and nobody else receives");
	check(!make_plan(RACKS "load 0.6|on core|pairs 4-7:0-3+8-15/0:1"), "racks to one: made");
	load_near(out_of_rack_1, 0.6, UPLINK, "racks to one: it is the busiest rack's load");
	check(!make_plan(RACKS "load 0.5|payload 100|header 100|min-frame 200"), "frames: made");
	load_near(from_3, 0.5, HOST, "frames: load counts them");
	check(!make_plan(RACKS "load 0.5|flows 100"), "flows and duration: made");
	equal(trace.count, 100, "flows and duration: the first of both");
	check(trace.flows[99].start_ns < 40000000, "flows and duration: no flow is later");
}

static void test_classes(void)
{
	uint64_t count[8] = { 0 };
	bool ok = true;

	check(!make_plan(RACKS "load 0.5|class 2|classes 4|label bg"), "classes: made");
	for (size_t i = 0; i < trace.count; i++) {
		count[trace.flows[i].class]++;
		ok &= !strcmp(trace.flows[i].label, "bg");
	}
	check(ok, "classes: label");
	for (int c = 0; c < 8; c++)
		near((double)count[c] / trace.count, c >= 2 && c < 6 ? 0.25 : 0,
		     c >= 2 && c < 6 ? 5 * sqrt(0.1875 / trace.count) : 0, "classes: share of each");
}

/* The flows of an incast: distinct senders, bytes, one receiver? */
static size_t one_incast(size_t i, uint64_t *bytes, size_t *senders)
{
	static char seen[TRACE_HOSTS_MAX];
	size_t n = i;

	memset(seen, 0, sizeof(seen));
	*bytes = *senders = 0;
	for (; n < trace.count && trace.flows[n].start_ns == trace.flows[i].start_ns &&
	     trace.flows[n].dst == trace.flows[i].dst; n++) {
		*bytes += trace.flows[n].bytes;
		*senders += !seen[trace.flows[n].src];
		seen[trace.flows[n].src] = 1;
	}
	return n - i;
}

static void test_incasts(void)
{
	uint64_t bytes, mask;
	size_t senders, n, i;
	bool ok = true;

	check(!make_plan("hosts 128|duration 5ms|incast 100:20000007:500us"), "incast: made");
	equal(trace.count, 1000, "incast: ten of them");
	for (i = 0; i < trace.count; i += n) {
		n = one_incast(i, &bytes, &senders);
		ok &= n == 100 && senders == 100 && bytes == 20000007 &&
		      trace.flows[i].start_ns == i / 100 * 500000 &&
		      trace.flows[i].bytes == 200001 &&
		      trace.flows[i + 99].bytes == 200000;
	}
	check(ok, "incast: degree, bytes and time of each, no sender twice");
	for (mask = 0, i = 0; i < trace.count; i += 100)
		mask |= UINT64_C(1) << trace.flows[i].dst % 64;
	check(__builtin_popcountll(mask) > 3, "incast: receivers are drawn");
	for (n = 0, i = 100; i < 200; i++)
		n += trace.flows[i].src == trace.flows[i - 100].src;
	check(n < 10, "incast: senders are drawn");

	check(!make_plan("hosts 16|incast 200:1MB:1ms,replace,times=3,to=5,at=7us,class=3,label=x"),
	      "incast, replace: made");
	equal(trace.count, 600, "incast, replace: as often as asked for");
	n = one_incast(0, &bytes, &senders);
	check(n == 200 && bytes == 1000000 && senders == 15, "incast, replace: one of them");
	check(trace.flows[0].dst == 5 && trace.flows[599].dst == 5 &&
	      trace.flows[0].start_ns == 7000 && trace.flows[599].start_ns == 2007000 &&
	      trace.flows[0].class == 3 && !strcmp(trace.flows[0].label, "x"),
	      "incast, replace: receiver, times, class, label");

	check(!make_plan("hosts 16|incast 31:31:0,even,to=5"), "incast, even: made");
	for (uint32_t host = 0; host < 16; host++) {
		for (n = 0, i = 0; i < trace.count; i++)
			n += trace.flows[i].src == host;
		ok &= host == 5 ? n == 0 : n == 2 || n == 3;
	}
	check(ok && trace.count == 31, "incast, even: each twice, one three times");

	check(!make_plan("racks 4|per-rack 4|incast 12:12:0,remote,to=5"), "incast, remote: made");
	n = one_incast(0, &bytes, &senders);
	check(n == 12 && senders == 12, "incast, remote: all hosts of other racks");
	for (i = 0; i < n; i++)
		ok &= trace.flows[i].src / 4 != 1;
	check(ok, "incast, remote: and no other");

	check(!make_plan("hosts 32|incast 4:4KB:0,receivers=6,spacing=10us,from=0-9"),
	      "successive incasts: made");
	equal(trace.count, 24, "successive incasts: six of them");
	for (mask = 0, i = 0; i < 24; i += 4) {
		n = one_incast(i, &bytes, &senders);
		ok &= n == 4 && senders == 4 && bytes == 4000 &&
		      trace.flows[i].start_ns == i / 4 * 10000 && trace.flows[i].src < 10;
		mask |= UINT64_C(1) << trace.flows[i].dst;
	}
	check(ok, "successive incasts: each by itself");
	equal(__builtin_popcountll(mask), 6, "successive incasts: to different receivers");

	check(!make_plan("hosts 32|incast 2:2:1ms,times=5,to=3+9+4,turn"), "incast in turn: made");
	check(trace.flows[0].dst == 3 && trace.flows[2].dst == 9 && trace.flows[4].dst == 4 &&
	      trace.flows[6].dst == 3 && trace.flows[8].dst == 9, "incast in turn: receivers");

	check(!make_plan("hosts 32|incast 1000:-:0,replace,sizes=uniform:30:40,jitter=1us"),
	      "incast of a law, with jitter: made");
	for (bytes = 0, i = 0; i < trace.count; i++) {
		ok &= trace.flows[i].start_ns <= 1000 && trace.flows[i].bytes >= 30 &&
		      trace.flows[i].bytes <= 40;
		bytes += trace.flows[i].bytes;
	}
	check(ok && trace.flows[999].start_ns > 900 && trace.flows[0].start_ns < 100,
	      "incast of a law, with jitter: sizes and starts");
	near(bytes / 1000.0, 35, 5 * 3 / sqrt(1000), "incast of a law: mean size");
}

static void test_longs(void)
{
	bool ok = true;

	check(!make_plan("hosts 8|rate 10gbit|duration 1ms|long 3,pairs=0:5/1:6"), "long: made");
	check(trace.count == 3 && trace.flows[0].src == 0 && trace.flows[1].src == 1 &&
	      trace.flows[2].src == 0 && trace.flows[1].dst == 6, "long: pairs in turn");
	/* 1.25 MB in 1 ms, of which 1000 of 1062 bytes are payload */
	equal(trace.flows[0].bytes, 1177024, "long: the whole run");
	check(!strcmp(trace.flows[0].label, "long"), "long: label");
	check(!make_plan("hosts 8|long 50,size=10MB,from=0-3,to=2-7,at=1us,every=2us"),
	      "long, drawn: made");
	for (size_t i = 0; i < trace.count; i++)
		ok &= trace.flows[i].src <= 3 && trace.flows[i].dst >= 2 &&
		      trace.flows[i].src != trace.flows[i].dst &&
		      trace.flows[i].bytes == 10000000 &&
		      trace.flows[i].start_ns == 1000 + 2000 * i;
	check(ok && trace.count == 50, "long, drawn: pairs, sizes and times");
}

/* -- the same every time, and apart from each other -- */

static uint64_t trace_digest(const struct trace *t)
{
	size_t size;
	char *text = written(t, &size);
	uint64_t hash = digest(0xcbf29ce484222325ULL, text, size);

	free(text);
	return hash;
}

/* Digest of the flows of one label, in their order, but not of their sizes if @times_only. */
static uint64_t part(const char *label, bool times_only)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < trace.count; i++) {
		const struct trace_flow *flow = &trace.flows[i];

		if (strcmp(flow->label, label))
			continue;
		hash = digest(hash, &flow->start_ns, sizeof(flow->start_ns));
		hash = digest(hash, &flow->src, sizeof(flow->src));
		hash = digest(hash, &flow->dst, sizeof(flow->dst));
		if (!times_only)
			hash = digest(hash, &flow->bytes, sizeof(flow->bytes));
	}
	return hash;
}

#define MIX	"racks 4|per-rack 8|rate 100gbit|uplinks 4x100gbit|law google_allrpc|load 0.55|" \
		"on core|arrivals lognormal|duration 1ms|classes 2|"

static void test_same(void)
{
	uint64_t background, first, all;
	double gap_ns;

	check(!make_plan(MIX "seed 7|incast 20:20MB:300us,label=a|long 2"), "mix: made");
	all = trace_digest(&trace);
	background = part("-", false);
	first = part("a", false);
	equal(all, UINT64_C(10422803453629640107), "the same bytes as on any machine");
	check(!make_plan(MIX "seed 7|incast 20:20MB:300us,label=a|long 2"), "mix: once more");
	equal(trace_digest(&trace), all, "the same options give the same trace");
	check(!make_plan(MIX "seed 8|incast 20:20MB:300us,label=a|long 2"), "mix, other seed: made");
	check(part("-", false) != background && part("a", false) != first,
	      "another seed gives another one");
	check(!make_plan(MIX "seed 7"), "mix without others: made");
	equal(part("-", false), background, "incasts and long flows do not change the background");
	check(!make_plan(MIX "seed 7|incast 20:20MB:300us,label=a|incast 9:9MB:100us,label=b|long 5"),
	      "mix with another incast: made");
	equal(part("-", false), background, "another incast does not change the background");
	equal(part("a", false), first, "nor the incast before it");
	check(part("b", true) != part("a", true), "two incasts are two");
	check(!make_plan("racks 4|per-rack 8|duration 1ms|seed 7|incast 20:20MB:300us,label=a"),
	      "an incast alone: made");
	equal(part("a", false), first, "a background does not change the incast");
	check(!make_plan(SLOW "seed 5"), "background: made");
	background = part("-", true);
	gap_ns = plan.background.gap_ns;
	check(!make_plan("hosts 8|rate 1mbit|load 0.5|law uniform:500:1500|payload 2000|flows 1000000|"
			 "header 62|seed 5"), "background of another law: made");
	near(plan.background.gap_ns, gap_ns, 1e-3, "another law of the same mean");
	/* of which sums differ in their last bits */
	plan.background.gap_ns = gap_ns;
	trace.count = 0;
	check(!gen_make(&plan, &trace, error), "background of another law: made again");
	equal(part("-", true), background, "another law changes neither times nor pairs");
}

/* -- other formats -- */

static struct ns3 ns3 = { .group = 3, .port = 100 };

static int read_format(const char *name, const char *text, size_t n)
{
	FILE *f = text_file(text, n);
	int err;

	trace_free(&trace);
	error[0] = '\0';
	err = format_find(name)->read(&ns3, &trace, f, "x", error);
	fclose(f);
	return err;
}

static char *write_format(const char *name, size_t *size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);

	if (format_find(name)->write(&ns3, &trace, f))
		abort();
	fclose(f);
	return text;
}

#define BFC	"New Flow Created Src 1 Dst 2 Size 998 Time "

static void test_formats(void)
{
	static const struct {
		const char *format;
		const char *text;
		const char *says;
	} bad[] = {
		{ "hpcc", "", "x:1: the first line is the number of flows" },
		{ "hpcc", "1 2\n", "x:1: the first line is the number of flows" },
		{ "hpcc", "-1\n", "x:1: the first line is the number of flows" },
		{ "hpcc", "2\n0 1 3 100 5 2\n", "x:3: there are 1 flows, not 2" },
		{ "hpcc", "1\n0 1 3 100 5 2\n0 1 3 100 5 2\n", "x:3: there are more flows than 1" },
		{ "hpcc", "1\n0 1 3 5 2\n", "x:2: a flow is SRC DST GROUP PORT BYTES START" },
		{ "hpcc", "1\n\n", "x:2: a flow is SRC DST GROUP PORT BYTES START" },
		{ "hpcc", "1\na 1 3 100 5 2\n", "x:2: \"a\" is no number of a host" },
		{ "hpcc", "1\n0 99999 3 100 5 2\n", "x:2: \"99999\" is no number of a host" },
		{ "hpcc", "1\n0 1 8 100 5 2\n", "x:2: \"8\" is no priority group from 0 to 7" },
		{ "hpcc", "1\n0 1 3 65536 5 2\n", "x:2: \"65536\" is no port" },
		{ "hpcc", "1\n0 1 3 100 0 2\n", "x:2: \"0\" is no size in bytes" },
		{ "hpcc", "1\n0 1 3 100 5 -2\n", "x:2: \"-2\" is no time in seconds" },
		{ "hpcc", "1\n0 1 3 100 5 2s\n", "x:2: \"2s\" is no time in seconds" },
		{ "hpcc", "1\n0 1 3 100 5 1.2.3\n", "is no time in seconds" },
		{ "hpcc", "1\n0 1 3 100 5 .\n", "is no time in seconds" },
		{ "hpcc", "1\n0 1 3 100 5 1e\n", "is no time in seconds" },
		{ "hpcc", "1\n0 1 3 100 5 1e999\n", "is no time in seconds" },
		{ "hpcc", "1\n0 1 3 100 5 1e50\n", "is no time in seconds" },
		{ "hpcc", "1\n0 1 3 100 5 nan\n", "is no time in seconds" },
		/* 2^128 + 2 */
		{ "hpcc", "1\n0 1 3 100 5 340282366920938463463374607431768211458e-9\n",
		  "is no time in seconds" },
		{ "hpcc", "1\n1 1 3 100 5 2\n", "x:2: host 1 sends to itself" },
		{ "hpcc", "2\n0 1 3 100 5 2\n0 1 3 100 5 1\n",
		  "x:3: begins before the flow of the line above" },
		{ "floodgate", "1\n", "x:1: the first line is the number of flows, and 0 or 1" },
		{ "floodgate", "1 2\n", "x:1: \"2\" is not 0 or 1" },
		{ "floodgate", "1 0\n0 1 5 2 0 0\n", "x:2: a flow is SRC DST BYTES START" },
		{ "floodgate", "1 1\n0 1 5 2\n", "x:2: a flow is SRC DST BYTES START QP MESSAGE" },
		{ "floodgate", "1 1\n0 1 5 2 a 0\n", "x:2: \"a\" is no number" },
		{ "floodgate", "1 0\n0 1 5 2\n0 1 5 2\n", "x:3: there are more flows than 1" },
		{ "bfc-log", "Running Simulation.\n", "x:2: there is no line \"New Flow Created\"" },
		{ "bfc-log", "New Flow Created Src 1\n", "x:1: a flow is New Flow Created Src N" },
		{ "bfc-log", "New Flow Created Src 1 Dst 2 Size 5 At 1\n", "\"At\" should be Time" },
		{ "bfc-log", BFC "soon\n", "x:1: \"soon\" is no time in seconds" },
	};
	static const struct {
		const char *word;
		uint64_t ns;
	} times[] = {
		{ "2", 2000000000 }, { "2.", 2000000000 }, { ".5", 500000000 },
		{ "1.000012345", 1000012345 }, { "1.0000123454", 1000012345 },
		{ "1.0000123455", 1000012346 }, { "1e-06", 1000 }, { "1.5e-9", 2 }, { "1.4e-9", 1 },
		{ "2.5E+1", 25000000000 }, { "0.1", 100000000 }, { "0", 0 }, { "0.0000000004999", 0 },
		{ "4611686018.427387904", UINT64_C(4611686018427387904) },
	};
	static const char tail[] = "2\n2 1 3 100 200000000 2\n3 1 4 80 1 2.000000001\n\nFirst line: # of "
		"flows\nsrc0 dst0 3 dst_port0 size0 start_time0\n";
	static const char log[] = "DATA_RATE\t\t100Gbps\n" BFC "1\nNumber " BFC
		"1.000000053\n" BFC "1.00000002\n2 3 4 5 6 7\n";
	size_t size, again;
	char *text, *once;
	uint64_t before;
	char line[128];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bool refused = read_format(bad[i].format, bad[i].text, strlen(bad[i].text)) == -1;

		says(refused ? error : "not refused", bad[i].says, bad[i].says);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		snprintf(line, sizeof(line), "1\n0 1 3 100 5 %s\n", times[i].word);
		check(!read_format("hpcc", line, strlen(line)), times[i].word);
		equal(trace.count ? trace.flows[0].start_ns : 1, times[i].ns, "seconds to ns");
	}
	equal(read_format("hpcc", tail, strlen(tail)), 0, "hpcc: text behind the flows");
	check(trace.count == 2 && trace.flows[0].src == 2 && trace.flows[0].bytes == 200000000 &&
	      trace.flows[1].start_ns == 2000000001 && trace.flows[0].class == 0 &&
	      trace.flows[1].class == 1, "hpcc: its flows");
	equal(read_format("bfc-log", log, strlen(log)), 0, "bfc-log: among other lines");
	check(trace.count == 3 && trace.flows[1].start_ns == 1000000053 &&
	      trace.flows[2].start_ns == 1000000020 && trace.flows[0].bytes == 998 &&
	      trace.flows[0].dst == 2, "bfc-log: its flows");
	equal(read_format("floodgate", "1 1\r\n0 1 5 2 9 8\r\n", 18), 0,
	      "floodgate: with pairs, and lines of Windows");

	check(!make_plan(MIX "class 1"), "round trip: made");
	for (size_t i = 0; i < trace.n_notes; i++)
		free(trace.notes[i]);
	trace.n_notes = 0;
	before = trace_digest(&trace);
	text = write_format("hpcc", &size);
	equal(read_format("hpcc", text, size), 0, "round trip: hpcc is read");
	equal(trace_digest(&trace), before, "round trip: a trace by hpcc and back");
	once = write_format("hpcc", &again);
	check(size == again && !memcmp(text, once, size), "round trip: hpcc by a trace and back");
	free(once);
	free(text);
	for (size_t i = 0; i < trace.count; i++)
		trace.flows[i].class = 0;
	before = trace_digest(&trace);
	text = write_format("floodgate", &size);
	equal(read_format("floodgate", text, size), 0, "round trip: floodgate is read");
	equal(trace_digest(&trace), before, "round trip: a trace by floodgate and back");
	once = write_format("floodgate", &again);
	check(size == again && !memcmp(text, once, size), "round trip: floodgate by a trace and back");
	free(once);
	free(text);
}

/* -- all parsers with broken input -- */

static const char * const samples[] = {
	HEAD "# hosts 9\n0 1 2 3\n5 2 1 1000 7 a\n9 65535 0 77 1 incast\n",
	"0 0\n75 0.5\n250 0.75\n1e3 0.9\n100000 1\n",
	"2\n2 1 3 100 200000000 2\n3 1 4 80 1 2.000000001\n\nsrc dst\n",
	"2 1\n2 1 1000 2 0 1\n3 1 1 2.000000001 1 0\n",
	"x\n" BFC "1.5\ny " BFC "1e-05\n",
	"racks 2|per-rack 4|rate 1gbit|uplinks 2x1gbit|load 0.5|law fixed:1000|on core|flows 50|"
	"incast 3:3KB:1ms,to=1+2,from=0-7,replace,times=2,receivers=2,spacing=1us,jitter=1us,at=2us|"
	"long 2,pairs=0:1/2:3,size=1MB,every=1us",
};

#define N_SAMPLES	(sizeof(samples) / sizeof(samples[0]))

/* Changes a text in a few places. Return: its length. */
static size_t mutate(char *text, size_t n, size_t room)
{
	static const char liked[] = "0123456789 .-+:/,=#\n\t\r|eExXkKmM%\0\377";
	int changes = 1 + random64() % 3;
	size_t at, length;

	while (changes--) {
		at = n ? random64() % n : 0;
		length = 1 + random64() % 8;
		switch (random64() % 5) {
		case 0:		/* another character */
			if (n)
				text[at] = liked[random64() % (sizeof(liked) - 1)];
			break;
		case 1:		/* one more */
			if (n < room) {
				memmove(text + at + 1, text + at, n - at);
				text[at] = liked[random64() % (sizeof(liked) - 1)];
				n++;
			}
			break;
		case 2:		/* some fewer */
			if (length > n - at)
				length = n - at;
			memmove(text + at, text + at + length, n - at - length);
			n -= length;
			break;
		case 3:		/* a piece twice */
			if (length > n - at)
				length = n - at;
			if (n + length <= room) {
				memmove(text + at + length, text + at, n - at);
				n += length;
			}
			break;
		default:	/* a bit */
			if (n)
				text[at] ^= 1 << random64() % 8;
		}
	}
	return n;
}

/* What is taken has to be a trace, and to come back as it was. */
static bool sane(void)
{
	uint64_t hash = trace_digest(&trace);
	size_t size;
	char *text;
	bool ok;

	trace_sort(&trace);
	hash = trace_digest(&trace);
	text = written(&trace, &size);
	ok = !read_text(text, size) && trace_digest(&trace) == hash;
	free(text);
	return ok;
}

/* Options that a plan can have been broken into have a name each, and no zero byte. */
static bool plan_fuzz(char *text, size_t n)
{
	struct plan_word words[32];
	char *rest = text, *word, *value;
	size_t count = 0;
	bool ok = true;

	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n] = '\0';
	while (count < 32 && (word = strsep(&rest, "|"))) {
		value = strchr(word, ' ');
		if (!value)
			continue;
		*value++ = '\0';
		for (int key = 0; key < PLAN_KEYS; key++)
			if (!strcmp(plan_name(key), word))
				words[count++] = (struct plan_word) { key, value };
	}
	plan_free(&plan);
	trace_free(&trace);
	if (plan_parse(&plan, words, count, error))
		return error[0];
	/* an hour's flows are not what is looked for */
	if (plan.background.on && (!plan.background.flows || plan.background.flows > 1000))
		plan.background.flows = 1000;
	for (size_t i = 0; i < plan.n_incasts; i++)
		if (plan.incasts[i].degree > 1000 || plan.incasts[i].times > 1000 ||
		    !plan.incasts[i].times)
			return true;
	for (size_t i = 0; i < plan.n_longs; i++)
		if (plan.longs[i].count > 1000)
			return true;
	if (plan_note(&plan, words, count, &trace))
		return false;
	ok = gen_make(&plan, &trace, error) || sane();
	return ok;
}

static bool one_fuzz(size_t sample, char *text, size_t n)
{
	static const char * const names[] = { "sluice", NULL, "hpcc", "floodgate", "bfc-log" };
	FILE *f;
	int err;

	if (sample == N_SAMPLES - 1)
		return plan_fuzz(text, n);
	error[0] = '\0';
	if (names[sample])
		return read_format(names[sample], text, n) ? error[0] : sane();
	f = text_file(text, n);
	law_free(&law);
	err = law_read(&law, f, "x", error);
	fclose(f);
	if (err)
		return error[0];
	for (double u = 0.001; u < 1; u += 0.1)
		if (law_size(&law, u) < 1 || law_size(&law, u) > 1000000000000001)
			return false;
	return law_mean(&law) >= 1 - 1e-9 && law_mean_on_line(&law, &frames[0]) >= 63;
}

static void test_fuzz(void)
{
	enum { ROUNDS = 120000, ROOM = 600 };
	unsigned long taken[N_SAMPLES] = { 0 }, refused[N_SAMPLES] = { 0 };
	bool ok = true;

	random_seed = 99;
	for (int i = 0; ok && i < ROUNDS; i++) {
		size_t sample = i % N_SAMPLES, n = strlen(samples[sample]);
		/* of the very size, so that the sanitizer sees a byte too far */
		char *text = malloc(ROOM + 1), *exact;

		memcpy(text, samples[sample], n);
		n = mutate(text, n, ROOM);
		exact = malloc(n + (sample == N_SAMPLES - 1));
		memcpy(exact, text, n);
		error[0] = '\0';
		ok = one_fuzz(sample, exact, n);
		if (!ok)
			printf("# round %d, %s: %.*s\n", i, error, (int)n, text);
		taken[sample] += !error[0];
		refused[sample] += !!error[0];
		free(exact);
		free(text);
	}
	check(ok, "fuzz: what is taken is a trace, and what is not is told why");
	for (size_t i = 0; i < N_SAMPLES; i++) {
		printf("# %lu taken, %lu refused\n", taken[i], refused[i]);
		check(taken[i] > 500 && refused[i] > 500, "fuzz: some of both");
	}
}

int main(void)
{
	static void (* const tests[])(void) = {
		test_real, test_words, test_law_files, test_law_names, test_frames, test_law_means,
		test_law_draws, test_trace_file, test_sort, test_plans, test_arrivals, test_loads,
		test_classes, test_incasts, test_longs, test_same, test_formats, test_fuzz,
	};

	printf("TAP version 13\n");
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tests[i]();
	law_free(&law);
	trace_free(&trace);
	plan_free(&plan);
	printf("1..%u\n# %u passed, %u failed\n", done, done - failed, failed);
	return failed ? 1 : 0;
}
