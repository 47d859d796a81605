// SPDX-License-Identifier: GPL-2.0-only
/*
 * real.c - logarithm and exponential by their series
 */
#include <math.h>

#include "real.h"

/* log(2) in two parts; a small integer times the first is exact */
#define LN2_HIGH	0x1.62e42feep-1
#define LN2_LOW		0x1.a39ef35793c76p-33
#define LN2_INVERSE	0x1.71547652b82fep+0
#define SQRT_HALF	0x1.6a09e667f3bcdp-1

/* log m = 2 atanh((m - 1) / (m + 1)); with m from sqrt(1/2) to sqrt(2) that is of at most 0.172 */
double real_log(double x)
{
	double m, s, square, sum = 0;
	int e;

	m = frexp(x, &e);
	if (m < SQRT_HALF) {
		m *= 2;
		e--;
	}
	s = (m - 1) / (m + 1);
	square = s * s;
	for (int k = 23; k >= 1; k -= 2)
		sum = sum * square + 1.0 / k;
	return e * LN2_HIGH + (e * LN2_LOW + 2 * s * sum);
}

/* exp x = 2^k exp r, with |r| at most log(2) / 2 */
double real_exp(double x)
{
	double k, r, sum = 1;

	if (x < -700)
		return 0;
	if (x > 700)
		x = 700;
	k = floor(x * LN2_INVERSE + 0.5);
	r = (x - k * LN2_HIGH) - k * LN2_LOW;
	for (int n = 15; n >= 1; n--)
		sum = 1 + sum * r / n;
	return ldexp(sum, (int)k);
}
