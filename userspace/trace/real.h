/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * real: logarithm and exponential that are the same on every machine.
 *
 * Those of the C library differ in the last bit from one library or processor to the next, and a
 * trace has to be the same bytes everywhere. These are made of additions, multiplications and
 * divisions only, which IEEE 754 fixes to the bit; to be compiled with -ffp-contract=off.
 */
#ifndef _TRACE_REAL_H
#define _TRACE_REAL_H

/* Natural logarithm of a positive number that is not subnormal; right to about 1e-15. */
double real_log(double x);

/* Exponential; 0 below -700, that of 700 above 700. */
double real_exp(double x);

#endif
