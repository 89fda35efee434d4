#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A short part of "make model": a small proof and one variant of each model.

exec "$(dirname "$0")/run" -s
