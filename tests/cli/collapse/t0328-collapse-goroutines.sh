#!/bin/bash
# Go's dumps of goroutines: of pprof with debug=2, of a panic and of SIGQUIT, as the program that
# wrote them has its goroutines, and as another reader counts them.
. "${0%/*}/../lib.sh"
corpus=$ROOT/tests/corpus/goroutines

for sample in debug2 panic sigquit; do
    run_expect_status 0 "goroutines of $sample: collapse succeeds" "$FLAME" collapse "$corpus/$sample"
    is_str "$(cat err)" '' "goroutines of $sample: nothing on standard error"
    is_int "$(awk '{ n += $NF } END { print n }' out)" "$(grep -c '^goroutine [0-9]* \[.*\]:$' "$corpus/$sample")" \
        "goroutines of $sample: each counts one"
done
"$FLAME" collapse "$corpus/debug2" >out
ok 'three that wait in a method' grep -qxF 'main.(*server).wait 3' out
ok 'a generic function, and its callees' grep -qxF 'main.hold[...];sync.(*Mutex).Lock;sync.(*Mutex).lockSlow;sync.runtime_SemacquireMutex 1' out
is_str "$("$FLAME" collapse "$corpus/panic")" 'main.main 1' 'the one that panicked'
"$FLAME" collapse --label state,created "$corpus/debug2" >out
ok 'goroutines: --label state,created' grep -qxF 'state=chan receive;created=main.main;main.(*server).wait 3' out
for state in 'chan receive' 'select (no cases)' semacquire running; do
    is_int "$(root="state=$state;" awk 'index($0, ENVIRON["root"]) == 1 { n += $NF } END { print n + 0 }' out)" \
        "$(grep -cF "[$state]:" "$corpus/debug2")" "goroutines: --label state has the state $state"
done
"$FLAME" collapse --srcline "$corpus/debug2" >out
ok 'goroutines: --srcline' grep -qF 'main.main.func1 ./p.go:24 1' out

printf '%s\n' 'panic: boom' '' 'goroutine 7 gp=0xc0 m=nil [IO wait, 5 minutes, locked to thread]:' 'main.f;g({0x1, 0x2}, 0x3?)' '	/a b/x.go:3 +0x1' 'what is this' \
    '...additional frames elided...' 'created by main.main in goroutine 1' '	/x.go:4 +0x2' '' 'goroutine 8 [running]:' '	goroutine running on other thread; stack unavailable' \
    'created by main.init' '	/x.go:4' 'rax    0x1' 'what follows' >x
run_expect_status 0 'goroutines of newer versions: collapse succeeds' "$FLAME" collapse --label state x
is_str "$(cat out)" "$(printf '%s\n' 'state=IO wait;...additional frames elided...;main.f:g 1' 'state=running;goroutine running on other thread; stack unavailable 1' | sed 's/thread; /thread: /')" \
    'goroutines of newer versions are read'
like "$(cat err)" '1 line was not understood, the first is line 6: what is this' \
    'goroutines: broken lines are reported'
printf 'goroutine 1 [running]:\nmain.main()' >x
is_str "$("$FLAME" collapse x)" 'main.main 1' 'goroutines: a truncated dump is read'

done_testing
