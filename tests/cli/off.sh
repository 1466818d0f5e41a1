# shellcheck shell=bash disable=SC2034 # status is for the tests
# off.sh: for the tests of the off-CPU tracer. Source it after lib.sh.
#
#   off [OPTION...] COMMAND...  runs COMMAND under `flame off`, trace in t.flame;
#                               $status, out and err as run leaves them; with the option
#                               $OFF_HOW (--in-process, --no-in-process), if that is set
#   oview V [OPTION...]         folded stacks of a view of t.flame
#   sum [REGEX]                 sum of the counts of the lines (that match), us
#   spans                       stacks of the sleeps of t.flame, each with the us from its begin to its end: names of
#                               Python's functions and of calls, `pc` for other frames. No less than was requested,
#                               as that has the time in the run queue and stopped by the tracer, too
#   besides FIELD=REGEX [FILE]  us that threads of t.flame, or FILE, did not run outside of sleeps:
#                               waited for a CPU, were stopped by the tracer, or are filtered out. Of
#                               those whose FIELD (comm, tid, pid) matches. Together with the sleep no
#                               less than was requested, except for the call's own time
#   until_looked_at PID FLAME   waits until FLAME, the process of a `flame off --no-stops -p PID`, samples
#   is_near GOT WANT, near GOT WANT NAME   both in us, above 0: within 2 % or 1 ms

off() {
    rm -f "$SCRATCH/t.flame"
    run timeout 60 "$FLAME" off ${OFF_HOW:+"$OFF_HOW"} -q -o "$SCRATCH/t.flame" "$@"
}

oview() {
    local v=$1
    shift
    "$FLAME" fold --no-header --view "$v" "$@" "$SCRATCH/t.flame"
}

sum() {
    re=${1:-.} awk '$0 ~ ENVIRON["re"] { sum += $NF } END { printf "%.0f\n", sum }'
}

spans() {
    local line
    "$FLAME" dump -s node -s interval "$SCRATCH/t.flame" | awk '
        { for (i = 2; i <= NF; i++) { eq = index($i, "="); v[substr($i, 1, eq - 1)] = substr($i, eq + 1) } }
        $1 == "node" {
            parent[v["id"]] = v["parent"]
            name[v["id"]] = v["kind"] == "name" ? v["name"] : substr(v["kind"], 1, 2)
        }
        $1 == "interval" && v["is"] == "sleep" {
            stack = name[v["node"]]
            for (n = parent[v["node"]]; n; n = parent[n])
                stack = name[n] ";" stack
            printf "%s %.0f\n", stack, (v["end_ns"] - v["begin_ns"]) / 1000
        }' | while IFS= read -r line; do printf '%b\n' "$line"; done
}

besides() {
    "$FLAME" dump "${2:-$SCRATCH/t.flame}" | field=${1%%=*} re=${1#*=} awk '
        { for (i = 2; i <= NF; i++) { eq = index($i, "="); v[substr($i, 1, eq - 1)] = substr($i, eq + 1) } }
        $1 == "thread" { wanted[v["id"]] = v[ENVIRON["field"]] ~ ENVIRON["re"] }
        $1 == "row" {
            ns[v["thread"]] += v["runq_ns"]
            if (v["kind"] == "tracer" || v["kind"] == "left-out") ns[v["thread"]] += v["blocked_ns"]
        }
        END { for (t in wanted) if (wanted[t]) sum += ns[t]; printf "%.0f\n", sum / 1000 }'
}

# The tracing process, flame's child, has the schedstat file of PID open.
looks_at() {
    local child
    child=$(ps -o pid= --ppid "$2" | head -n 1) && [ -n "$child" ] &&
        find "/proc/${child// /}/fd" -lname "/proc/$1/schedstat" 2>/dev/null | grep -q .
}

until_looked_at() {
    until_true looks_at "$1" "$2"
}

is_near() {
    local away=$(($1 > $2 ? $1 - $2 : $2 - $1))
    [ "$1" -gt 0 ] && [ "$2" -gt 0 ] && [ "$away" -le $(($2 / 50 > 1000 ? $2 / 50 : 1000)) ]
}

near() {
    if is_near "$1" "$2"; then
        test_ok "$3"
    else
        test_fail "$3" "$1 us, and by the program's own clock $2 us"
    fi
}
