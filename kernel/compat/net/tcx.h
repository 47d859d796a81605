/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/tcx.h for kernels that do not have it: the include path of the kernel goes first, so this
 * file is found only where classifiers on the way in hang off dev->miniq_ingress.
 */
#define SLUICE_NO_TCX
