/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tc: the plugins of tc inside of sluice: it reads options and names figures as tc does, since it
 * does so by the same tables.
 *
 * A plugin calls functions of the program that has loaded it; those that tc has, tc.c has here.
 * Text goes to the FILE that a plugin is given, JSON to what tc_json() was given.
 */
#ifndef _SLUICE_TC_H
#define _SLUICE_TC_H

#include <jansson.h>

#include "../../tc-plugin/plugin.h"

/**
 * tc_json - where plugins print to
 * @object: takes what they print from now on; NULL: they print text
 */
void tc_json(json_t *object);

#endif
