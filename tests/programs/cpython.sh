#!/usr/bin/env bash
# CPython's own tests give the same results under `flame off` as without it: every
# test's verdict is compared by name. Minutes, so `make harmless` runs it and `make
# check` does not. Needs Debian's libpython3-testsuite of the system's python3.
#
# A test whose verdict differs is run again both ways, up to twice: some of these tests
# fail now and then on a busy machine, also without us.
. "${0%/*}/../cli/lib.sh"

python=/usr/bin/python3
"$python" -c 'import test.test_signal' 2>/dev/null || skip_all cpython 'no libpython3-testsuite'
suites=${SUITES:-test_threading test_subprocess test_signal test_socket test_selectors test_multiprocessing_fork test_eintr}

# verdicts COMMAND...: runs and prints "test verdict" lines, sorted. vsock needs a
# hypervisor's device and hangs on some machines with nothing traced at all.
verdicts() {
    "$@" "$python" -m test -v -i '*VSOCK*' -i '*Vsock*' "$suite" </dev/null 2>&1 |
        cat >"$SCRATCH/log"
    # A verdict may stand on a later line, when the test itself prints.
    awk '
        /^[A-Za-z_0-9]+ \([A-Za-z_0-9.]+\)/ { name = $1 " " $2 }
        name != "" && match($0, /(\.\.\. )?(ok|FAIL|ERROR|skipped .*|expected failure)$/) {
            verdict = substr($0, RSTART); sub(/^\.\.\. /, "", verdict); sub(/^skipped .*/, "skipped", verdict)
            print name, verdict; name = ""
        }' "$SCRATCH/log" | sort -u
}

for suite in $suites; do
    for try in 1 2 3; do
        verdicts timeout 600 >plain
        cp log plain.log
        verdicts timeout 900 "$FLAME" off -q -o "$SCRATCH/t.flame" -- >traced
        cp log traced.log
        [ "$(wc -l <plain)" -gt 5 ] && diff plain traced >difference && break
        diag "$suite, try $try: $(wc -l <plain) tests; $(head -c 600 difference)"
    done
    if [ "$(wc -l <plain)" -gt 5 ] && diff plain traced >difference; then
        test_ok "$suite: $(wc -l <plain) tests, each with the same verdict"
    else
        test_fail "$suite: the same verdicts" "$(cat difference; tail -5 traced.log)"
    fi
done
done_testing
