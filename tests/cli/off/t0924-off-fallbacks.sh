#!/bin/bash
# Calls of launched programs are noted inside of them where that can be. Where it cannot, for one
# process or for all, they stop for the tracer: in the same run, in the same trace, and without a word
# to the program. --no-in-process has all of them stop.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim nap
compile_victim vforked
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
as_root=$(id -u)

# A child that cannot note its calls, between two naps of a shell's that notes them.
# Three naps of 50 ms, of which each is told. What is told of no sleep is told of a CPU or of the tracer.
three_naps() { # COMMAND...
    local last=${!#}
    off --in-process -- sh -c './nap; "$@"; status=$?; ./nap; exit $status' sh "$@"
    slept=$(oview off --pid | sum ';.*nanosleep ')
    napped=$(oview off --pid | sed -n 's/^\([^;]*\);.*nanosleep [0-9]*$/\1/p' | sort -u | wc -l)
    besides=$(besides "comm=^(nap|${last##*/})\$")
    [ "$status" -ne 0 ] || { [ "$napped" -eq 3 ] && [ "$slept" -ge 120000 ]; }
}
naps() { # WHAT COMMAND...
    local what=$1
    shift
    again 5 three_naps "$@"
    is_str "$status $(cat err)" '0 ' "$what: it goes as it would, and hears nothing"
    ok "$what: it is traced like those before and behind it ($slept us, and $besides us on the way)" \
        test "$napped" -eq 3 -a "$slept" -ge 120000 -a $((slept + besides)) -ge 147000
}
naps 'another like them' ./nap
naps 'a cleared environment' env -i ./nap
naps 'nothing preloaded' env -u LD_PRELOAD ./nap
naps 'nothing preloaded of ours' env LD_PRELOAD= ./nap
naps 'no memory of the run' env -u FLAME_WAITS ./nap
naps 'memory that is none' env FLAME_WAITS=/dev/zero ./nap
naps 'memory of a file' env FLAME_WAITS="$SCRATCH/nap" ./nap
"${CC:-gcc}" -static -g -o static "$ROOT/tests/victims/off/nap.c"
naps 'a static program' ./static
"${CC:-gcc}" -static -o handson "$ROOT/tests/victims/off/handson.c"
naps 'one that a static program executes' ./handson ./nap
if type musl-gcc >/dev/null 2>&1; then
    musl-gcc -g -o musl "$ROOT/tests/victims/off/nap.c"
    naps 'another C library' ./musl
    naps 'another C library, behind a static program' ./handson ./musl
    naps 'and with more preloaded' ./handson /usr/bin/env LD_PRELOAD="libm.so.6 $BUILD/libflamewait.so" \
        ./handson ./musl
fi
if "${CC:-gcc}" -fsanitize=address -g -o checked "$ROOT/tests/victims/off/nap.c" 2>/dev/null; then
    export ASAN_OPTIONS=detect_leaks=0
    naps 'a sanitizer' ./checked
    naps 'a sanitizer, behind a static program' ./handson ./checked
fi
if "${CC:-gcc}" -m32 -nostdlib -static -ffreestanding -fno-stack-protector -fno-pic -no-pie -o narrow \
    "$ROOT/tests/victims/off/narrow.c" 2>/dev/null && ./narrow; then
    off --in-process -- ./handson ./narrow
    is_int "$status" 0 'a 32-bit program, behind a static one'
fi
if "${CC:-gcc}" -static-pie -g -o static-pie "$ROOT/tests/victims/off/nap.c" 2>/dev/null; then
    naps 'a static program that is moved' ./static-pie
fi
if unshare -Ur true 2>/dev/null; then
    naps 'a user namespace' unshare -Ur ./nap
    naps 'a pid namespace' unshare -Urpf ./nap
    naps 'a pid namespace with its own /proc' unshare -Urpf --mount-proc ./nap
    naps 'a mount namespace' unshare -Urm ./nap
    # In another root, with the loader and the C library there.
    mkdir -p root
    ldd ./nap | grep -o '/[^ ]*' | while read -r file; do
        mkdir -p "root${file%/*}"
        cp "$file" "root$file"
    done
    cp nap root/nap
    naps 'another root' unshare -Ur chroot root /nap
else
    skip pid-namespace 'no user namespace can be made'
fi
if [ "$as_root" -eq 0 ]; then
    chmod 755 .
    naps 'another user' "${nobody[@]}" ./nap
    # Under the tracer's filter it gains nothing, and is told of.
    cp nap gains
    chown 65534 gains
    chmod 4755 gains
    gains_sleeps() {
        off --in-process -- sh -c './gains; exit 4'
        slept=$(oview off | sum '^gains;.*;main;.*nanosleep ')
        [ "$status" -ne 4 ] || [ "$slept" -ge 35000 ]
    }
    again 5 gains_sleeps
    is_int "$status" 4 'a set-user-id program'
    file_has err '^flame: .*/gains \(process [0-9]*\) runs without the privileges' 'is said to gain nothing'
    ok 'and traced' test "$slept" -ge 35000 -a $((slept + $(besides comm=^gains))) -ge 49000
else
    skip not-root 'not root: no other user to be'
fi
if command -v go >/dev/null; then
    printf 'package main\nimport "time"\nfunc main() { time.Sleep(200 * time.Millisecond) }\n' >sleeps.go
    ok 'a program in Go is built' env GOCACHE="$SCRATCH/cache" GO111MODULE=off CGO_ENABLED=0 go build -o sleeps sleeps.go
    go_sleeps() {
        off --in-process -- ./sleeps
        slept=$(oview off | sum '^sleeps;')
        [ "$status" -ne 0 ] || [ "$slept" -ge 120000 ]
    }
    again 5 go_sleeps
    is_str "$status $(cat err)" '0 ' 'it goes as it would'
    ok 'it is traced' test "$slept" -ge 120000
    chmod -R u+w cache
else
    skip go 'no go'
fi

# A child of vfork is on its parent's memory, and the kernel tells it of no switches.
both_sleep() {
    off --in-process -- ./vforked
    mine=$(oview off | sum ';main;child;.*nanosleep ') theirs=$(oview off | sum ';main;parent;.*nanosleep ')
    besides=$(besides comm=^vforked)
    [ "$status" -ne 0 ] || { [ "$mine" -ge 150000 ] && [ "$theirs" -ge 150000 ]; }
}
again 5 both_sleep
is_int "$status" 0 'children of vfork'
ok "sleep like their parent ($mine us, $theirs us, and $besides us on the way)" \
    test "$mine" -ge 150000 -a "$theirs" -ge 150000 -a $((mine + theirs + besides)) -ge 380000

# Nor does the memory of a child of fork belong to the child of vfork that makes the first call there.
in_a_fork() { # [user]
    run "$FLAME" off --in-process -o t.flame -- ./vforked fork "$@"
    mine=$(oview off | sum ';main;child;.*nanosleep ') theirs=$(oview off | sum ';main;parent;.*nanosleep ')
    [ "$status" -ne 0 ] || { [ "$mine" -ge 150000 ] && [ "$theirs" -ge 150000 ]; }
}
again 5 in_a_fork
is_int "$status" 0 'children of vfork in one of fork'
file_lacks err 'overwritten|stops alone' 'whose notes nobody has written over'
ok "sleep like their parent ($mine us, $theirs us)" test "$mine" -ge 150000 -a "$theirs" -ge 150000
if [ "$(id -u)" -eq 0 ]; then
    again 5 in_a_fork user
    is_int "$status" 0 'that become another user'
    file_lacks err 'has changed to another user' 'have not changed their parent'
fi

# A fact about all processes of a run is printed once, and not under -q.
run "$FLAME" off --no-in-process -o x.folded -- sh -c './nap; exit 3'
is_int "$status" 3 '--no-in-process'
file_lacks err 'stops alone\|calls stop' 'is nothing to speak of'
file_lacks x.folded 'libflame' 'and leaves nothing of ours'
run "$FLAME" off -q --no-in-process -o x.folded -- sh -c 'echo "$LD_PRELOAD" "${FLAME_WAITS-}"'
is_str "$(cat out)" ' ' 'nothing is preloaded then'
sleep 60 &
sleeper=$!
for how in "-p $sleeper -d 0.1" '-d 1 true' '--no-filter true'; do
    # shellcheck disable=SC2086 # words
    run_expect_status 0 "off $how" "$FLAME" off --no-in-process -o x.folded $how
    file_lacks err 'inside' "--no-in-process goes with ${how%% *}"
done
kill "$sleeper"
run "$FLAME" off --in-process --no-in-process -q -o x.folded -- sh -c 'echo "${FLAME_WAITS-}"'
is_str "$(cat out)" '' 'the last of the two counts'

done_testing
