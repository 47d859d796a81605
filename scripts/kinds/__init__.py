# SPDX-License-Identifier: GPL-2.0-only
"""What is made of the specifications of our kinds of qdisc; see ../generate."""
