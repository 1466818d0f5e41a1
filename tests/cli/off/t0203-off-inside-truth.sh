#!/bin/bash
# The truth that holds for calls that stop holds for calls that threads note themselves.
export OFF_HOW=--inside
exec bash "${0%/*}/t0201-off-truth.sh"
