// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_siphash.c - the tags of CNPs, as other implementations of SipHash make them
 *
 * The tests that forge and read signed CNPs have a SipHash of their own, so that the kernel's is
 * held against something else (net/rocc_replay.sh). Here that is held against what its authors
 * published (github.com/veorq/SipHash, vectors.h), and a whole signed message against OpenSSL:
 *
 *	openssl mac -macopt hexkey:000102...0f -macopt size:8 -in FILE SIPHASH
 *
 * gives the same for both.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "../../kernel/rocc/cnp.c"
#include "kernel_shim.h"
#include "../net/siphash24.h"
#include "unit.h"

#define LENGTHS		64
#define TAG_AT		offsetof(struct rocc_cnp, tag)

/* Of the bytes 0, 1, 2 ... of each length from 0 on, under the key 00 01 ... 0f */
static const char vectors[] =
	"310e0edd47db6f72fd67dc93c539f8745a4fa9d909806c0d2d7efbd796666785"
	"b7877127e09427cf8da699cd64557618cee3fe586e46c9cb37d1018bf50002ab"
	"6224939a79f5f593b0e4a90bdf82009ef3b9dd94c5bb5d7aa7ad6b22462fb3f4"
	"fbe50e86bc8f1e75903d84c02756ea14eef27a8e90ca23f7e545be4961ca29a1"
	"db9bc2577fcc2a3f9447be2cf5e99a699cd38d96f0b3c14bbd6179a71dc96dbb"
	"98eea21af25cd6bec7673b2eb0cbf2d0883ea3e395675393c8ce5ccd8c030ca8"
	"94af49f6c650adb8eab8858ade92e1bcf315bb5bb835d817adcf6b0763612e2f"
	"a5c91da7acaa4dde716595876650a2a628ef495c53a387ad42c341d8fa92d832"
	"ce7cf2722f512771e37859f94623f3a7381205bb1ab0e012ae97a10fd434e015"
	"b4a31508beff4d3181396229f09079024d0cf49ee5d4dcca5c73336a76d8bf9a"
	"d0a704536ba93e0e925958fcd6420cada915c29bc8067318952b79f3bc0aa6d4"
	"f21df2e41d4535f987577519048f53a910a56cf5dfcd9adbeb75095ccd986cd0"
	"51a9cb9ecba312e696afadfc2ce666c772fe52975a4364ee5a1645b276d592a1"
	"b274cb8ebf87870a6f9bb4203de7b381eaecb2a30b22a87f9924a43cc1315724"
	"bd838d3aafbf8db70b1a2a3265d51aea135079a3231ce660932b2846e4d70666"
	"e1915f5cb1eca46cf325965ca16d629f575ff28e60381be5724506eb4c328a95";

/* Of message() under that key: OpenSSL's bytes, of which the first is the lowest of the tag */
static const char openssl_rate[] = "80229d8f93290e31";
static const char openssl_queue[] = "a0a8f37152af99bb";

static u64 number(const char *hex)
{
	u64 value = 0;
	unsigned int i, byte;

	for (i = 0; i < 8 && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
		value |= (u64)byte << 8 * i;
	return value;
}

static u32 message(u8 *buf, size_t size, u8 code)
{
	struct cnp c = {
		.code = code, .key = 1, .rate = 2500000, .port = 7, .queue = 3,
		.address = { [10] = 0xff, 0xff, 10, 1, 2, 3 },
		.epoch = 1700000000000000000ULL, .sequence = 42, .interval = 40000, .gap = 80000,
		.rate_min = 100000,
		.state = {
			.tuning = 1, .rate_max = 40000000, .alpha = 51200000, .beta = 256000000,
			.q_cur = 200000, .q_old = 150000, .q_ref = 150000, .q_mid = 300000,
			.q_max = 360000,
		},
		.flow = {
			.proto = 17, .saddr = { 10, 0, 0, 1 }, .daddr = { 10, 0, 0, 200 },
			.l4 = { 0x13, 0x89, 0x1b, 0x58 },
		},
	};

	memset(buf, 0, size);
	return cnp_write(buf, size, &c);
}

/* A message on standard output, for OpenSSL */
static void print_message(u8 code)
{
	u8 buf[512];
	u32 i, len = message(buf, sizeof(buf), code);

	for (i = 0; i < len; i++)
		printf("%02x", buf[i]);
	printf("\n");
}

static bool signed_as(u8 code, const char *openssl, const u8 *key)
{
	u8 buf[512];
	u32 len = message(buf, sizeof(buf), code);
	struct cnp read;
	__be64 tag;

	tag = htobe64(siphash24(buf, len, key));
	memcpy(buf + TAG_AT, &tag, sizeof(tag));
	return cnp_parse(buf, len, false, &read) == CNP_OK && read.tag == number(openssl);
}

int main(int argc, char **argv)
{
	u8 key[16], bytes[LENGTHS];
	unsigned int i, wrong = 0;

	if (argc > 1) {
		print_message(!strcmp(argv[1], "queue") ? ROCC_CNP_QUEUE : ROCC_CNP_RATE);
		return 0;
	}
	for (i = 0; i < sizeof(key); i++)
		key[i] = i;
	for (i = 0; i < LENGTHS; i++) {
		wrong += siphash24(bytes, i, key) != number(vectors + 16 * i);
		bytes[i] = i;
	}
	check(!wrong, "the vectors of SipHash's authors");
	check(sizeof(vectors) == 16 * LENGTHS + 1, "all of them");
	check(signed_as(ROCC_CNP_RATE, openssl_rate, key), "a CNP with a rate, as OpenSSL signs it");
	check(signed_as(ROCC_CNP_QUEUE, openssl_queue, key), "a CNP with a queue, as OpenSSL signs it");
	key[15]++;
	check(!signed_as(ROCC_CNP_RATE, openssl_rate, key), "but not under another key");
	printf("1..%u\n", done);
	return failed != 0;
}
