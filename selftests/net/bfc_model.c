// SPDX-License-Identifier: GPL-2.0-only
/*
 * bfc_model.c - the reference model, built and installed beside the tests that call it
 */
#include "../model/bfc_model.c"
