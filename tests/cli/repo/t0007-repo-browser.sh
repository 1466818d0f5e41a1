#!/bin/bash
# On a machine without node or a browser all other tests run, and run-tests.sh reports those that did not.
. "${0%/*}/../lib.sh"

printf '#!/bin/sh\necho "ok 1 - plain"\necho 1..1\n' >plain.sh
printf '#!/bin/sh\necho "not ok 1 - this is not run"\necho 1..1\n' >page.mjs
chmod +x plain.sh page.mjs
# If node is too old, the message names that first.
said='^flame: NOT TESTED: pictures and pages in a browser \(1 of 2 test files\): (there is no /nonesuch|node is v)'
# An old node, and a PATH without one.
mkdir old none
printf '#!/bin/sh\n[ "$1" = --version ] && echo v12.22.12\n' >old/node
chmod +x old/node
for tool in bash sh dirname env prove perl tail cat mktemp rm tee; do ln -s "$(command -v $tool)" none/; done

tests() { # CI PATH CHROMIUM TEST...
    run env CI="$1" PATH="$2" CHROMIUM="$3" "$ROOT/scripts/run-tests.sh" prove -- "${@:4}"
}
if command -v node >/dev/null; then
    tests '' "$PATH" /nonesuch "$SCRATCH"/{plain.sh,page.mjs}
    is_int "$status" 0 'run-tests.sh without Chromium runs the other tests'
    like "$(cat out err)" '^Files=1, Tests=1' 'run-tests.sh without Chromium leaves out the browser test'
    like "$(tail -n 1 out)" "$said" 'run-tests.sh without Chromium reports that in its last line'
fi
tests '' "$SCRATCH/none" '' "$SCRATCH"/{plain.sh,page.mjs}
is_int "$status" 0 'run-tests.sh without node ends with status 0'
like "$(tail -n 1 out)" 'NOT TESTED: .*: there is no node$' \
    'run-tests.sh without node reports that in its last line'
tests '' "$SCRATCH/old:$PATH" '' "$SCRATCH"/{plain.sh,page.mjs}
is_int "$status" 0 'run-tests.sh with an old node ends with status 0'
like "$(tail -n 1 out)" 'NOT TESTED: .*: node is v12.22.12, and they want 18 or later$' \
    'run-tests.sh with an old node reports that in its last line'

tests true "$PATH" /nonesuch "$SCRATCH"/{plain.sh,page.mjs}
is_int "$status" 1 'run-tests.sh under CI=true without Chromium fails'
like "$(cat err)" '^flame: the browser tests must run, but (there is no /nonesuch|node is v)' \
    'run-tests.sh under CI=true says that the browser tests must run'
tests '' "$PATH" /nonesuch "$SCRATCH/page.mjs"
is_int "$status" 1 'run-tests.sh with only browser tests and no Chromium fails'
printf '#!/bin/sh\necho "not ok 1 - plain"\necho 1..1\n' >plain.sh
tests '' "$PATH" /nonesuch "$SCRATCH"/{plain.sh,page.mjs}
is_int "$status" 1 'run-tests.sh without Chromium fails if another test fails'

# Tests that used the most CPU time.
cat >idle.sh <<'END'
#!/bin/bash
for ((i = 0; i < 5000; i++)); do :; done
echo ok 1
echo 1..1
END
# CPU time of its children counts as well, even if it does not wait for them.
cat >busy.sh <<'END'
#!/bin/bash
(
    (
        for ((i = 0; i < 50000; i++)); do :; done
        : >"${0%/*}/ended"
    ) &
)
until [ -e "${0%/*}/ended" ]; do sleep 0.05; done
echo "ok 1 - ${TEST_TIMES-unset}"
echo 1..1
END
chmod +x idle.sh busy.sh
run env TEST_TIMES="$SCRATCH/times" SLOWEST=1 "$ROOT/scripts/run-tests.sh" \
    prove -v -e "$BUILD/tests/testclock 100" -- "$SCRATCH"/{idle,busy}.sh
is_int "$status" 0 'run-tests.sh with TEST_TIMES ends with status 0'
file_has out '^flame: [0-9]+ s of CPU in 2 test files; ' 'TEST_TIMES: the summary has the CPU time of all tests'
like "$(tail -n 2 out)" '^ +[0-9]+\.[0-9][0-9] +[0-9]+\.[0-9][0-9]  .*/busy\.sh$' \
    'TEST_TIMES: the summary has the slowest test'
is_int "$(grep -cE '^ +[0-9.]+ +[0-9.]+ ' out)" 1 'SLOWEST=1 lists one test'
file_has out '^ok 1 - unset$' 'TEST_TIMES is unset in the tests'
printf '#!/bin/sh\necho ok 1\necho 1..1\nkill -9 $$\n' >idle.sh
run env TEST_TIMES="$SCRATCH/times" "$ROOT/scripts/run-tests.sh" \
    prove -e "$BUILD/tests/testclock 100" -- "$SCRATCH"/{idle,busy}.sh
is_int "$status" 1 'run-tests.sh with a test killed by a signal fails'
file_has out '^flame: [0-9]+ s of CPU in 2 test files; ' 'TEST_TIMES counts a test killed by a signal'

# Tests that compare with a clock run last, alone, and once more if they fail.
mkdir -p tests/cli/timed
cat >tests/cli/timed/t1.sh <<'END'
#!/bin/bash
echo "timed" >>"$ORDER"
[ -e "$ORDER.failed" ] || { : >"$ORDER.failed"; echo not ok 1; echo 1..1; exit; }
[ ! -e "$ORDER.never" ] || echo not ok 1
echo "TRIES 3 t1.sh" >>"$TEST_TRIES"
echo ok 1
echo 1..1
END
printf '#!/bin/bash\nsleep 0.2\necho plain >>"$ORDER"\necho ok 1\necho 1..1\n' >plain.sh
chmod +x tests/cli/timed/t1.sh
timed() {
    rm -f order*
    run env ORDER="$SCRATCH/order" TEST_TIMES="$SCRATCH/times" "$ROOT/scripts/run-tests.sh" \
        prove -j3 -- "$SCRATCH"/tests/cli/timed/t1.sh "$SCRATCH/plain.sh"
}
timed
is_int "$status" 0 'a timed test that passes at its second try is a success'
is_str "$(cat order)" $'plain\ntimed\ntimed' 'timed tests run after the others, twice if they fail'
file_has out '^flame: passed alone, at a second try \(1 of 1 timed test files\): .*/t1\.sh' \
    'a timed test that passes at its second try is named'
file_has out '^flame: 1 measurements were repeated, 2 times in all; tries:$' \
    'run-tests.sh reports repeated measurements'
file_has out '^ +3  t1\.sh$' 'run-tests.sh reports repeated measurements by test'
sed -i 's/^\[ -e .*failed.*/: >"$ORDER.never"/' tests/cli/timed/t1.sh
timed
is_int "$status" 1 'a timed test that fails twice is a failure'
is_int "$(wc -l <order)" 3 'a timed test does not run a third time'
like "$(sed -n '/^flame: failed:$/,$p' out)" '^[^ ]*/t1\.sh +\(Wstat: ' 'a timed test that fails twice is at the end'
file_lacks out 'passed alone' 'a timed test that fails twice is not reported as passed'
cat >tests/cli/timed/t1.sh <<'END'
#!/bin/bash
[ ! -e "$ORDER.failed" ] || { echo '1..0 # SKIP not now'; exit; }
: >"$ORDER.failed"
echo not ok 1
echo 1..1
END
timed
is_int "$status" 1 'a timed test that fails and then skips itself is a failure'
file_lacks out 'passed alone' 'a timed test that fails and then skips itself is not reported as passed'
run env TMPDIR=/nonexistent "$ROOT/scripts/run-tests.sh" prove -- "$SCRATCH/tests/cli/timed/t1.sh"
is_int "$((status != 0))" 1 'timed tests without a directory for temporary files fail'
printf '#!/bin/bash\necho ok 1\necho 1..1\n' >tests/cli/timed/t1.sh
printf '#!/bin/bash\necho plain >>"$ORDER"\necho not ok 1 - four is five\necho "#   got 4" >&2\necho 1..1\n' >plain.sh
timed
is_int "$status" 1 'a plain test that fails is a failure'
sed -n '/^flame: failed:$/,$p' out >end
like "$(sed -n 2p end)" '^[^ ]*/plain\.sh +\(Wstat: .* Failed: 1\)$' 'a run that fails ends with the test that failed'
file_has end '^not ok 1 - four is five$' '... with the check that failed'
file_has end '^#   got 4$' '... and with what it said'
file_lacks end 't1\.sh' '... and without the tests that passed'
is_int "$(grep -c plain order)" 1 'a plain test does not run a second time'
done_testing
