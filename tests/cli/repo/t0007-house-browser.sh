#!/bin/bash
# A machine without node or a browser has everything else tested, and is told what was not.
. "${0%/*}/../lib.sh"

printf '#!/bin/sh\necho "ok 1 - plain"\necho 1..1\n' >plain.sh
printf '#!/bin/sh\necho "not ok 1 - this is not run"\necho 1..1\n' >page.mjs
chmod +x plain.sh page.mjs
# Where node is too old, that is said first.
said='^flame: NOT TESTED: pictures and pages in a browser \(1 of 2 test files\): (there is no /nonesuch|node is v)'
# An old node, and a PATH without one.
mkdir old none
printf '#!/bin/sh\n[ "$1" = --version ] && echo v12.22.12\n' >old/node
chmod +x old/node
for tool in bash sh dirname env prove perl tail cat; do ln -s "$(command -v $tool)" none/; done

tests() { # CI PATH CHROMIUM TEST...
    run env CI="$1" PATH="$2" CHROMIUM="$3" "$ROOT/scripts/run-tests.sh" prove -- "${@:4}"
}
if command -v node >/dev/null; then
    tests '' "$PATH" /nonesuch "$SCRATCH"/{plain.sh,page.mjs}
    is_int "$status" 0 'no Chromium: the others run'
    like "$(cat out err)" '^Files=1, Tests=1' 'without the one for the browser'
    like "$(tail -n 1 out)" "$said" 'which is said last'
fi
tests '' "$SCRATCH/none" '' "$SCRATCH"/{plain.sh,page.mjs}
is_int "$status" 0 'no node'
like "$(tail -n 1 out)" 'NOT TESTED: .*: there is no node$' 'is said'
tests '' "$SCRATCH/old:$PATH" '' "$SCRATCH"/{plain.sh,page.mjs}
is_int "$status" 0 'an old node'
like "$(tail -n 1 out)" 'NOT TESTED: .*: node is v12.22.12, and they want 18 or later$' 'too'

tests true "$PATH" /nonesuch "$SCRATCH"/{plain.sh,page.mjs}
is_int "$status" 1 'CI leaves nothing out'
like "$(cat err)" '^flame: the browser tests must run, but (there is no /nonesuch|node is v)' 'and says so'
tests '' "$PATH" /nonesuch "$SCRATCH/page.mjs"
is_int "$status" 1 'only tests that cannot run: a failure'
printf '#!/bin/sh\necho "not ok 1 - plain"\necho 1..1\n' >plain.sh
tests '' "$PATH" /nonesuch "$SCRATCH"/{plain.sh,page.mjs}
is_int "$status" 1 'a failure stays one'

# Which tests took most of the processors.
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
is_int "$status" 0 'tests whose time is told'
file_has out '^flame: [0-9]+ s of CPU in 2 test files; ' 'in all'
like "$(tail -n 2 out)" '^ +[0-9]+\.[0-9][0-9] +[0-9]+\.[0-9][0-9]  .*/busy\.sh$' 'and of those that took most'
is_int "$(grep -cE '^ +[0-9.]+ +[0-9.]+ ' out)" 1 'as many as are asked for'
file_has out '^ok 1 - unset$' 'a test that runs tests keeps out of it'
printf '#!/bin/sh\necho ok 1\necho 1..1\nkill -9 $$\n' >idle.sh
run env TEST_TIMES="$SCRATCH/times" "$ROOT/scripts/run-tests.sh" \
    prove -e "$BUILD/tests/testclock 100" -- "$SCRATCH"/{idle,busy}.sh
is_int "$status" 1 'one that a signal ends'
file_has out '^flame: [0-9]+ s of CPU in 2 test files; ' 'is one of them'

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
is_int "$status" 0 'a timed test that passes at its second try'
is_str "$(cat order)" $'plain\ntimed\ntimed' 'runs behind the others, twice'
file_has out '^flame: passed alone, at a second try \(1 of 1 timed test files\): .*/t1\.sh' 'and is named'
file_has out '^flame: 1 measurements were repeated, 2 times in all; tries:$' 'as are the tries that a test counts'
file_has out '^ +3  t1\.sh$' 'by its name'
sed -i 's/^\[ -e .*failed.*/: >"$ORDER.never"/' tests/cli/timed/t1.sh
timed
is_int "$status" 1 'a timed test that fails twice'
is_int "$(wc -l <order)" 3 'runs no third time'
file_lacks out 'passed alone' 'and is a failure'
cat >tests/cli/timed/t1.sh <<'END'
#!/bin/bash
[ ! -e "$ORDER.failed" ] || { echo '1..0 # SKIP not now'; exit; }
: >"$ORDER.failed"
echo not ok 1
echo 1..1
END
timed
is_int "$status" 1 'a timed test that fails and then skips itself'
file_lacks out 'passed alone' 'has not passed'
run env TMPDIR=/nonexistent "$ROOT/scripts/run-tests.sh" prove -- "$SCRATCH/tests/cli/timed/t1.sh"
is_int "$((status != 0))" 1 'without a directory for temporary files timed tests do not pass'
printf '#!/bin/bash\necho ok 1\necho 1..1\n' >tests/cli/timed/t1.sh
printf '#!/bin/bash\necho plain >>"$ORDER"\necho not ok 1\necho 1..1\n' >plain.sh
timed
is_int "$status" 1 'a plain test that fails'
is_int "$(grep -c plain order)" 1 'runs no second time'
done_testing
