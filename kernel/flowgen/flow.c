// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow.c - flows end, and with the last one the run
 *
 * A flow that is complete, or never will be, is counted down. What is left to do then may sleep, so
 * it is the work of the run.
 */
#include "flowgen.h"

/**
 * fg_run_over - the run is over
 * @run: the run
 * @state: why; the first of two reasons counts
 */
void fg_run_over(struct fg_run *run, enum flowgen_state state)
{
	u64 now = fg_now();

	if (cmpxchg(&run->state, FLOWGEN_STATE_RUNNING, state) != FLOWGEN_STATE_RUNNING)
		return;
	WRITE_ONCE(run->over_ns, now);
	schedule_work(&run->tell);
}

/**
 * fg_flow_over - a flow is complete, or given up
 * @run: the run
 * @complete: which of both
 */
void fg_flow_over(struct fg_run *run, bool complete)
{
	if (!complete)
		atomic_inc(&run->given_up);
	if (atomic_dec_and_test(&run->left))
		fg_run_over(run, FLOWGEN_STATE_DONE);
}
