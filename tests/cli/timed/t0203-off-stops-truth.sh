#!/bin/bash
# The test of in-process calls, with calls that stop.
export OFF_HOW=--no-in-process FLAME_TEST_NAME=$0
exec bash "${0%/*}/t0201-off-truth.sh"
