# SPDX-License-Identifier: GPL-2.0-only
"""What tdc.py is to know of this machine; its tdc_config.py takes it from here."""
import os
import shutil

# Commands of the cases see tc's plugin directory.
ENVIR = dict(os.environ)

EXTRA_NAMES = {
    'TC': shutil.which('tc'),
    'IP': shutil.which('ip'),
    # Traffic: frames of N + 42 bytes for `$FLOW send -l N`; GSO packets
    'FLOW': os.path.join(os.environ['TDC_TOOLS'], 'udpflow'),
    'GSO': os.path.join(os.environ['TDC_TOOLS'], 'gsosend'),
}
