#!/bin/bash
# Launched programs log their calls in-process where possible. Where it is not, for one
# process or for all, they stop for the tracer: in the same run and trace, and invisibly
# to the program. --no-in-process has all of them stop.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim nap
compile_victim vforked
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
as_root=$(id -u)

# A child that cannot log its calls, between two naps of a shell that logs them.
# Three naps of 50 ms, each in the trace. Time that is no sleep is run-queue wait or a stop by the tracer.
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
    is_str "$status $(cat err)" '0 ' "$what: the program behaves as untraced and flame prints nothing"
    ok "$what: the program is traced like those before and after it ($slept us, and $besides us on the way)" \
        test "$napped" -eq 3 -a "$slept" -ge 120000 -a $((slept + besides)) -ge 147000
}
naps 'a child with the library' ./nap
naps 'a cleared environment' env -i ./nap
naps 'LD_PRELOAD unset' env -u LD_PRELOAD ./nap
naps 'LD_PRELOAD empty' env LD_PRELOAD= ./nap
naps 'FLAME_WAITS unset' env -u FLAME_WAITS ./nap
naps 'FLAME_WAITS=/dev/zero' env FLAME_WAITS=/dev/zero ./nap
naps 'FLAME_WAITS naming a regular file' env FLAME_WAITS="$SCRATCH/nap" ./nap
"${CC:-gcc}" -static -g -o static "$ROOT/tests/victims/off/nap.c"
naps 'a static program' ./static
"${CC:-gcc}" -static -o handson "$ROOT/tests/victims/off/handson.c"
naps 'a program that a static program executes' ./handson ./nap
if type musl-gcc >/dev/null 2>&1; then
    musl-gcc -g -o musl "$ROOT/tests/victims/off/nap.c"
    naps 'another C library' ./musl
    naps 'another C library, behind a static program' ./handson ./musl
    naps 'another C library, behind a static program that preloads more' ./handson /usr/bin/env LD_PRELOAD="libm.so.6 $BUILD/libflamewait.so" \
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
    is_int "$status" 0 'a 32-bit program that a static program executes runs'
fi
if "${CC:-gcc}" -static-pie -g -o static-pie "$ROOT/tests/victims/off/nap.c" 2>/dev/null; then
    naps 'a static position-independent program' ./static-pie
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
    # Under the tracer's filter it gains no privileges, and flame reports it.
    cp nap gains
    chown 65534 gains
    chmod 4755 gains
    gains_sleeps() {
        off --in-process -- sh -c './gains; exit 4'
        slept=$(oview off | sum '^gains;.*;main;.*nanosleep ')
        [ "$status" -ne 4 ] || [ "$slept" -ge 35000 ]
    }
    again 5 gains_sleeps
    is_int "$status" 4 'flame off --in-process of a command with a set-user-id child succeeds'
    file_has err '^flame: .*/gains \(process [0-9]*\) runs without the privileges' \
        '--in-process: flame says that a set-user-id child runs without privileges'
    ok '--in-process: a set-user-id child is traced' \
        test "$slept" -ge 35000 -a $((slept + $(besides comm=^gains))) -ge 49000
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
    is_str "$status $(cat err)" '0 ' 'a static Go program behaves as untraced and flame prints nothing'
    ok 'a static Go program is traced' test "$slept" -ge 120000
    chmod -R u+w cache
else
    skip go 'no go'
fi

# A child of vfork uses its parent's memory, and the kernel reports no switches to it.
both_sleep() {
    off --in-process -- ./vforked
    mine=$(oview off | sum ';main;child;.*nanosleep ') theirs=$(oview off | sum ';main;parent;.*nanosleep ')
    besides=$(besides comm=^vforked)
    [ "$status" -ne 0 ] || { [ "$mine" -ge 150000 ] && [ "$theirs" -ge 150000 ]; }
}
again 5 both_sleep
is_int "$status" 0 'flame off --in-process of children of vfork succeeds'
ok "children of vfork and their parent both sleep ($mine us, $theirs us, and $besides us on the way)" \
    test "$mine" -ge 150000 -a "$theirs" -ge 150000 -a $((mine + theirs + besides)) -ge 380000

# The memory of a child of fork does not belong to its own child of vfork that makes the first call there.
in_a_fork() { # [user]
    run "$FLAME" off --in-process -o t.flame -- ./vforked fork "$@"
    mine=$(oview off | sum ';main;child;.*nanosleep ') theirs=$(oview off | sum ';main;parent;.*nanosleep ')
    [ "$status" -ne 0 ] || { [ "$mine" -ge 150000 ] && [ "$theirs" -ge 150000 ]; }
}
again 5 in_a_fork
is_int "$status" 0 'flame off --in-process of children of vfork in a child of fork succeeds'
file_lacks err 'overwritten|stops alone' 'no ring is overwritten by children of vfork in a child of fork'
ok "children of vfork in a child of fork sleep like their parent ($mine us, $theirs us)" \
    test "$mine" -ge 150000 -a "$theirs" -ge 150000
if [ "$(id -u)" -eq 0 ]; then
    again 5 in_a_fork user
    is_int "$status" 0 'flame off --in-process of children of vfork that change their user succeeds'
    file_lacks err 'has changed to another user' \
        'a child of vfork that changes its user does not affect its parent'
fi

# A fact about all processes of a run is printed once, and not under -q.
run "$FLAME" off --no-in-process -o x.folded -- sh -c './nap; exit 3'
is_int "$status" 3 "flame off --no-in-process ends with the command's status"
file_lacks err 'stops alone\|calls stop' 'flame off --no-in-process does not report that calls stop'
file_lacks x.folded 'libflame' 'flame off --no-in-process leaves no frame of libflamewait.so'
run "$FLAME" off -q --no-in-process -o x.folded -- sh -c 'echo "$LD_PRELOAD" "${FLAME_WAITS-}"'
is_str "$(cat out)" ' ' 'flame off --no-in-process preloads nothing'
sleep 60 &
sleeper=$!
for how in "-p $sleeper -d 0.1" '-d 1 true' '--no-filter true'; do
    # shellcheck disable=SC2086 # words
    run_expect_status 0 "flame off --no-in-process $how succeeds" "$FLAME" off --no-in-process -o x.folded $how
    file_lacks err 'inside' "flame off --no-in-process $how does not mention in-process"
done
kill "$sleeper"
run "$FLAME" off --in-process --no-in-process -q -o x.folded -- sh -c 'echo "${FLAME_WAITS-}"'
is_str "$(cat out)" '' 'the last of --in-process and --no-in-process counts'

done_testing
