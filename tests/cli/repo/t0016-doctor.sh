#!/bin/bash
# flame doctor: says of a machine, of a program and of a process what can be recorded.
. "${0%/*}/../lib.sh"

run_expect_status 0 'a machine on which all works' "$FLAME" doctor
is_str "$(cat err)" '' 'nothing on standard error'
like "$(head -n 1 out)" "^$("$FLAME" --version), Linux [^ ]+ on [^ ]+, glibc [0-9.]+$" 'says what it is about'
for subject in 'mem' 'off' 'mem -p' 'off -p' 'off --kernel' 'off --no-stops' 'room' 'names of libc'; do
    file_has out "^(yes|part|no)  +$subject  +[^ ]" "a line on $subject"
done
for subject in 'mem' 'off' 'mem -p' 'off -p'; do
    file_has out "^yes +$subject  " "$subject works here"
done
is_str "$(find . -type f ! -name '.ok*' | sort | tr '\n' ' ')" './err ./out ' 'nothing is left behind'

# A check that fails says why: here the recorder's library is another file.
echo 'no library' >broken.so
FLAME_MEM_SHIM=$PWD/broken.so run_expect_status 1 'a machine on which memory cannot be recorded' "$FLAME" doctor
file_has out '^no +mem  .*broken\.so: is not a shared library' 'it says why'
file_has out '^yes +off  ' 'waits can be, though'
rm broken.so

# ---- programs ----

cat >own.c <<'C'
#include <stdlib.h>
int main(void) { return !malloc(1); }
C
gcc -g -o own own.c
run_expect_status 0 'a program' "$FLAME" doctor ./own
file_has out '^yes +memory  +.*/own can be recorded$' 'can be recorded'
file_has out '^yes +names  +.*/own has names, lines' 'and has names'
strip own
run "$FLAME" doctor ./own
file_has out '^part +names  +.*/own is stripped: .*dbgsym' 'stripped: what would help'
gcc -static -o still own.c
run_expect_status 1 'a static program' "$FLAME" doctor ./still
file_has out '^no +memory  +.*/still: is linked statically' 'cannot be'
gcc -Wl,-export-dynamic -Dmain='main(void) { return 0; } void *malloc(unsigned long n) { (void)n; return (void *)0; } int other' \
    -w -x c -o inside - <<<'int main(void) { return 1; }'
run "$FLAME" doctor ./inside
file_has out '^part +allocator  +malloc is inside' 'an allocator inside is named'
cp own python3.99
run "$FLAME" doctor ./python3.99
file_has out '^part +language  .*PYTHONPERFSUPPORT=1' "how Python's functions get names"
printf '#!%s/python3.99\n' "$PWD" >script
printf '#!/usr/bin/env python3.99\n' >named
chmod +x script named
run "$FLAME" doctor ./script
file_has out '^part +language  ' "a script's interpreter is looked at"
PATH=$PWD:$PATH run "$FLAME" doctor ./named
file_has out '^part +language  ' 'by its name, too'
name=$'own\x1b[31m\n'
cp own "$name"
run "$FLAME" doctor "./$name"
is_int "$(grep -c $'\x1b' out)" 0 'names do not reach the terminal as they are'
is_int "$(wc -l <out)" 3 'nor do they make lines'
run_expect_status 2 'no such program' "$FLAME" doctor ./none
is_int "$(wc -l <err)" 1 'one line says so'
run_expect_status 2 'two programs' "$FLAME" doctor own own

# ---- processes ----

sleep 60 &
pid=$!
run_expect_status 0 'a process' "$FLAME" doctor -p $pid
file_has out '^yes +off -p  ' 'can be attached to'
ok 'and is as it was' kill -0 $pid
kill $pid
run_expect_status 1 'no such process' "$FLAME" doctor -p 99999999
file_has out '^no +off -p  .*there is no such process' 'is said'
done_testing
