# SPDX-License-Identifier: GPL-2.0-only
"""The lab: topologies, schemes, runs and reports."""
