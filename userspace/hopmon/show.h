/* SPDX-License-Identifier: GPL-2.0-only */
/* show.h - what hopmon prints */
#ifndef _HOPMON_SHOW_H
#define _HOPMON_SHOW_H

#include <stdbool.h>

#include "snapshot.h"

/* A table of what happened since @before; of each sub-queue too, if @queues */
void show_table_head(void);
void show_table(const struct snapshot *now, const struct snapshot *before, bool queues);

/* Histograms of everything up to @now */
void show_histograms(const struct snapshot *now, bool queues);

/* One object with everything up to @now, on a line. Return: 0, or -1: no memory. */
int show_json(const struct snapshot *now, __u64 started);

/* Says so if events were lost. */
void show_losses(const struct snapshot *now);

#endif
