#!/bin/bash
# The truth that holds for calls that threads note themselves holds for calls that stop.
export OFF_HOW=--no-in-process FLAME_TEST_NAME=$0
exec bash "${0%/*}/t0201-off-truth.sh"
