#!/usr/bin/env bash
# Totals of every view equal those of an independent counter that is the next definition.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

build_counter
export BENEATH=$SCRATCH/libcount.so COUNT_FILE=$SCRATCH/count

compile_victim entries
record "" ./entries
is_int "$status" 3 "entries: the exit status is the program's own"
is_str "$(cat err)" "" 'entries under libflamemem.so prints no error'
read -r bytes calls live _ peak <count
is_int "$(total alloc)" "$bytes" "one thread: bytes allocated ($bytes)"
is_int "$(total count)" "$calls" "one thread: calls ($calls)"
is_int "$(total live)" "$live" "one thread: bytes live at the end ($live)"
is_int "$(total peak)" "$peak" "one thread: bytes at the peak ($peak)"

compile_victim crowd -pthread
record "" ./crowd
is_int "$status" 0 "crowd: the exit status is the program's own"
read -r bytes calls live _ peak <count
is_int "$(total alloc)" "$bytes" "eight threads: bytes allocated ($bytes)"
is_int "$(total count)" "$calls" "eight threads: calls ($calls)"
is_int "$(total live)" "$live" "eight threads: bytes live at the end ($live)"

# preload/peak.h: the mark found is at most 9 threads * 8 KiB below the true one,
# plus what the other threads do while one sums (a few blocks of 3000 bytes each);
# the shares are read event by event and may be off by one block a thread.
got=$(total peak)
low=$((peak - 9 * 8192 - 9 * 4 * 3000))
high=$((peak + 9 * 4 * 3000))
ok "eight threads: the peak is within its bound ($got of $peak)" \
    test "$got" -ge "$low" -a "$got" -le "$high"
done_testing
