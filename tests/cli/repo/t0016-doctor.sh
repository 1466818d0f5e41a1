#!/bin/bash
# flame doctor: reports what can be recorded on a machine, of a program and of a process.
. "${0%/*}/../lib.sh"

run_expect_status 0 'flame doctor on a machine where all works ends with status 0' "$FLAME" doctor
is_str "$(cat err)" '' 'flame doctor prints nothing on standard error'
like "$(head -n 1 out)" "^$("$FLAME" --version), Linux [^ ]+ on [^ ]+, glibc [0-9.]+$" \
    'flame doctor begins with version, kernel and C library'
for subject in 'mem' 'off' 'mem -p' 'off -p' 'off --kernel' 'off --no-stops' 'room' 'names of libc'; do
    file_has out "^(yes|part|no)  +$subject  +[^ ]" "flame doctor has a line on $subject"
done
for subject in 'mem' 'off' 'mem -p' 'off -p'; do
    file_has out "^yes +$subject  " "flame doctor: $subject works here"
done
is_str "$(find . -type f ! -name '.ok*' | sort | tr '\n' ' ')" './err ./out ' 'flame doctor leaves no file'

# A check that fails says why: here the recorder's library is another file.
echo 'no library' >broken.so
FLAME_MEM_SHIM=$PWD/broken.so run_expect_status 1 'flame doctor with a broken recorder ends with status 1' \
    "$FLAME" doctor
file_has out '^no +mem  .*broken\.so: is not a shared library' 'flame doctor with a broken recorder says why'
file_has out '^yes +off  ' 'flame doctor with a broken recorder: waits can be recorded'
rm broken.so

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
file_has out '^part +names  +.*/own is stripped: .*dbgsym' 'flame doctor of a stripped program names the remedy'
gcc -static -o still own.c
run_expect_status 1 'flame doctor of a static program ends with status 1' "$FLAME" doctor ./still
file_has out '^no +memory  +.*/still: is linked statically' \
    'flame doctor of a static program says that it cannot be recorded'
gcc -Wl,-export-dynamic -Dmain='main(void) { return 0; } void *malloc(unsigned long n) { (void)n; return (void *)0; } int other' \
    -w -x c -o inside - <<<'int main(void) { return 1; }'
run "$FLAME" doctor ./inside
file_has out '^part +allocator  +malloc is inside' 'flame doctor names a malloc inside the program'
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
is_int "$(wc -l <out)" 3 'flame doctor prints a name with a line break in one line'
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
done_testing
