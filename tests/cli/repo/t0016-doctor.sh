#!/bin/bash
# flame doctor: reports what can be recorded on a machine, of a program and of a process.
. "${0%/*}/../lib.sh"

run_expect_status 0 'flame doctor on a machine where all works ends with status 0' "$FLAME" doctor
is_str "$(cat err)" '' 'flame doctor prints nothing on standard error'
like "$(head -n 1 out)" "^$("$FLAME" --version), Linux [^ ]+ on [^ ]+, glibc [0-9.]+$" \
    'flame doctor begins with version, kernel and C library'
for subject in 'mem' 'off' 'mem -p' 'off -p' 'off --kernel' 'off --no-stops' 'page faults' 'room' 'ptrace_scope' \
    'perf events' 'capabilities' 'seccomp' 'debuginfod' 'names of libc'; do
    file_has out "^(yes|part|no)  +$subject  +[^ ]" "flame doctor has a line on $subject"
done
for subject in 'mem' 'off' 'mem -p' 'off -p'; do
    file_has out "^yes +$subject  " "flame doctor: $subject works here"
done
# lacking FILE: results other than yes without a line on the cost.
lacking() {
    awk '{ verdict = $1 ~ /^(yes|part|no)$/ && /^[a-z]/ }
        verdict && row != "" && !cost { print row }
        verdict { row = $1 == "yes" ? "" : $0; cost = 0 }
        /^      costs you  / { cost = 1 }
        END { if (row != "" && !cost) print row }' "$1"
}
is_str "$(lacking out)" '' 'flame doctor: each result that is not yes has its cost'
printf 'part  a   b\nyes   c   d\n' >without
is_str "$(lacking without)" 'part  a   b' 'which the check sees'
rm without
file_has out '^      change it by    export DEBUGINFOD_URLS=https' 'flame doctor has the command for a server of symbols'
is_str "$(find . -type f ! -name '.ok*' | sort | tr '\n' ' ')" './err ./out ' 'flame doctor leaves no file'

# A check that fails says why: here the recorder's library is another file.
echo 'no library' >broken.so
FLAME_MEM_SHIM=$PWD/broken.so run_expect_status 1 'flame doctor with a broken recorder ends with status 1' \
    "$FLAME" doctor
file_has out '^no +mem  .*broken\.so: is not a shared library' 'flame doctor with a broken recorder says why'
file_has out '^yes +off  ' 'flame doctor with a broken recorder: waits can be recorded'
is_str "$(grep -A 2 '^no .* mem  ' out | tail -n 2)" '      costs you       no flame mem, leak and run
      change it by    unset FLAME_MEM_SHIM' 'flame doctor with a broken recorder names cost and command'
rm broken.so

# ---- settings ----

# A seccomp filter that refuses system calls, by number.
cat >deny.py <<'END'
import ctypes, os, struct, sys
prog = [(0x20, 0, 0, 0)]
for number in sys.argv[1].split(","):
    prog += [(0x15, 0, 1, int(number)), (6, 0, 0, 0x50001)]
prog += [(6, 0, 0, 0x7fff0000)]
code = b"".join(struct.pack("HBBI", *i) for i in prog)
buf = ctypes.create_string_buffer(code)
fprog = struct.pack("HxxxxxxQ", len(prog), ctypes.addressof(buf))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, fprog, 0, 0) == 0
os.execv(sys.argv[2], sys.argv[2:])
END
for call in 101:ptrace 298:perf_event_open 310:process_vm_readv; do
    run python3 deny.py "${call%:*}" "$FLAME" doctor
    file_has out "^(no|part) +seccomp  +a filter refuses ${call#*:}\$" "flame doctor names ${call#*:} as refused by a filter"
    like "$(grep -A 2 ' seccomp  ' out)" 'change it by    docker run --cap-add SYS_PTRACE' \
        "flame doctor has the command that allows ${call#*:}"
    is_str "$(lacking out)" '' "flame doctor has each cost where a filter refuses ${call#*:}"
done
run python3 deny.py 101,298,310 "$FLAME" doctor
is_int "$status" 1 'flame doctor ends with status 1 where ptrace is refused'
file_has out '^yes +mem  ' 'flame doctor: memory is recorded where ptrace is refused'
for subject in 'off' 'mem -p' 'off -p' 'off --kernel' 'off --no-stops' 'page faults'; do
    like "$(grep -A 2 "^[a-z]*  *$subject  " out)" 'change it by    docker run' \
        "flame doctor has the command for $subject where a filter refuses it"
done
run python3 deny.py 999 "$FLAME" doctor
file_has out '^yes +seccomp  +a filter is in force, and allows' 'flame doctor: a filter of other calls costs nothing'

# settings SCOPE PARANOID COMMAND...: runs it where the machine has these settings.
settings() {
    # shellcheck disable=SC2016 # the inner shell's
    unshare -m sh -c 'mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama &&
        echo "$1" >/proc/sys/kernel/yama/ptrace_scope && echo "$2" >/proc/sys/kernel/perf_event_paranoid &&
        shift 2 && exec "$@"' - "$@"
}
powerless=(setpriv --bounding-set=-all --inh-caps=-all --reuid=65534 --regid=65534 --clear-groups)
if settings 1 2 true 2>/dev/null && "${powerless[@]}" "$FLAME" --version >/dev/null 2>&1; then
    for row in '1 2 part part' '2 3 no no' '3 4 no no'; do
        read -r scope paranoid first second <<<"$row"
        run settings "$scope" "$paranoid" "${powerless[@]}" "$FLAME" doctor
        file_has out "^$first +ptrace_scope  +kernel.yama.ptrace_scope is $scope:" "flame doctor: ptrace_scope $scope"
        file_has out "^$second +perf events  +kernel.perf_event_paranoid is $paranoid:" \
            "flame doctor: perf_event_paranoid $paranoid"
        file_has out '^part +capabilities  +no CAP_SYS_PTRACE and CAP_PERFMON' "flame doctor: no capability ($scope)"
        like "$(grep -A 2 ' ptrace_scope  ' out)" 'kernel\.yama\.ptrace_scope=0' \
            "flame doctor has the command that changes ptrace_scope $scope"
        like "$(grep -A 2 ' perf events  ' out)" 'sudo sysctl kernel\.perf_event_paranoid=1' \
            "flame doctor has the command that changes perf_event_paranoid $paranoid"
        is_str "$(lacking out)" '' "flame doctor has each cost with ptrace_scope $scope"
    done
    run settings 2 3 "$FLAME" doctor
    for subject in ptrace_scope 'perf events'; do
        file_has out "^yes +$subject  +.*exempts flame" "flame doctor: $subject does not matter to root"
    done
else
    skip not-root 'only root can mount a tmpfs'
fi
rm deny.py

# ---- programs ----

cat >own.c <<'C'
#include <stdlib.h>
int main(void) { return !malloc(1); }
C
gcc -g -o own own.c
run_expect_status 0 'flame doctor of a program ends with status 0' "$FLAME" doctor ./own
file_has out '^yes +memory  +.*/own can be recorded$' 'flame doctor of a program: its memory can be recorded'
file_has out '^yes +names  +.*/own has names, lines' 'flame doctor of a program: it has names and lines'
strip own
run "$FLAME" doctor ./own
file_has out '^part +names  +.*/own is stripped: only what it exports has a name$' 'flame doctor of a stripped program says so'
is_str "$(grep -A 2 ' names  ' out | tail -n 2)" '      costs you       other functions show as module and offset
      change it by    build it with -g, and do not strip it, or export DEBUGINFOD_URLS=https://debuginfod.elfutils.org' \
    'flame doctor of a stripped program names the remedy'
gcc -static -o still own.c
run_expect_status 1 'flame doctor of a static program ends with status 1' "$FLAME" doctor ./still
file_has out '^no +memory  +.*/still: is linked statically' \
    'flame doctor of a static program says that it cannot be recorded'
file_has out '^      change it by    flame off -- COMMAND' 'flame doctor of a static program names what can be recorded'
gcc -Wl,-export-dynamic -Dmain='main(void) { return 0; } void *malloc(unsigned long n) { (void)n; return (void *)0; } int other' \
    -w -x c -o inside - <<<'int main(void) { return 1; }'
run "$FLAME" doctor ./inside
file_has out '^part +allocator  +malloc is inside' 'flame doctor names a malloc inside the program'
is_str "$(lacking out)" '' 'flame doctor of a program: each result that is not yes has its cost'
cp own python3.99
run "$FLAME" doctor ./python3.99
file_has out '^part +language  .*--jit-names' "flame doctor says how Python's functions get names"
printf '#!%s/python3.99\n' "$PWD" >script
printf '#!/usr/bin/env python3.99\n' >named
chmod +x script named
run "$FLAME" doctor ./script
file_has out '^part +language  ' 'flame doctor checks the interpreter of a script'
PATH=$PWD:$PATH run "$FLAME" doctor ./named
file_has out '^part +language  ' 'flame doctor checks the interpreter of a script by env'
name=$'own\x1b[31m\n'
cp own "$name"
run "$FLAME" doctor "./$name"
is_int "$(grep -c $'\x1b' out)" 0 'flame doctor prints names without escape sequences'
is_int "$(grep -vc '^ ' out)" 3 'flame doctor prints a name with a line break in one line'
run_expect_status 2 'flame doctor of a missing program ends with status 2' "$FLAME" doctor ./none
is_int "$(wc -l <err)" 1 'flame doctor of a missing program prints one line'
run_expect_status 2 'flame doctor of two programs ends with status 2' "$FLAME" doctor own own

# ---- processes ----

sleep 60 &
pid=$!
run_expect_status 0 'flame doctor -p ends with status 0' "$FLAME" doctor -p $pid
file_has out '^yes +off -p  ' 'flame doctor -p says that flame can attach'
ok 'flame doctor -p leaves the process running' kill -0 $pid
kill $pid
run_expect_status 1 'flame doctor -p of a missing process ends with status 1' "$FLAME" doctor -p 99999999
file_has out '^no +off -p  .*there is no such process' 'flame doctor -p of a missing process says so'
file_lacks out '^ ' 'flame doctor -p of a missing process names no command'
done_testing
