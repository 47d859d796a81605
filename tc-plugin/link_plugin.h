/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * link_plugin.h - the part of ip's plugin interface that link_*.c uses
 *
 * ip looks for link_KIND.so in $IP_LIB_DIR or its compiled-in directory and takes the symbol
 * KIND_link_util from it. As in plugin.h these are declarations of what ip itself exports.
 */
#ifndef _SLUICE_LINK_PLUGIN_H
#define _SLUICE_LINK_PLUGIN_H

#include "plugin.h"

struct iplink_req;

/**
 * struct link_util - what ip knows of a link kind
 * @next: ip's
 * @id: the kind
 * @maxattr: largest attribute of IFLA_INFO_DATA; ip parses them up to it
 * @parse_opt: the words after the kind into the message @n; 0 or -1
 * @print_opt: IFLA_INFO_DATA, inside the JSON object "info_data"; @tb may be NULL
 * @print_xstats: IFLA_INFO_XSTATS
 * @print_help: `ip link help KIND`
 * @parse_ifla_xstats: `ip link xstats type KIND`
 * @print_ifla_xstats: the same, its answer
 */
struct link_util {
	struct link_util *next;
	const char *id;
	int maxattr;
	int (*parse_opt)(struct link_util *lu, int argc, char **argv, struct nlmsghdr *n);
	void (*print_opt)(struct link_util *lu, FILE *f, struct rtattr *tb[]);
	void (*print_xstats)(struct link_util *lu, FILE *f, struct rtattr *xstats);
	void (*print_help)(struct link_util *lu, int argc, char **argv, FILE *f);
	int (*parse_ifla_xstats)(struct link_util *lu, int argc, char **argv);
	int (*print_ifla_xstats)(struct nlmsghdr *n, void *arg);
};

/* Link attributes from the command line into the request at whose start @req points. Returns
 * how many words it took, or less than 0; @type gets the kind, if one was named.
 */
int iplink_parse(int argc, char **argv, struct iplink_req *req, char **type);

#endif
