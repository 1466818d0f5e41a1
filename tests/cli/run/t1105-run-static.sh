#!/bin/bash
# A static program has waits, and programs that it starts have memory: flame run records both, and a line
# reports what it cannot record. A program of Go is told what its runtime writes.
. "${0%/*}/../lib.sh"

cat >waits.c <<'END'
#include <stdlib.h>
#include <unistd.h>
#ifdef AS_GO
__asm__(".pushsection .note.go.buildid, \"a\", @note\n"
        ".long 4, 4, 4\n.ascii \"Go\\0\\0\"\n.long 1\n.popsection\n");
#endif
int main(int argc, char **argv)
{
    usleep(200000);
    free(malloc(1000));
    if (argc > 1)
        execv(argv[1], argv + 1);
    return 7;
}
END
if ! "${CC:-gcc}" -g -static -o static waits.c 2>/dev/null || ! "${CC:-gcc}" -static -DAS_GO -o go waits.c; then
    skip_all static 'nothing can be linked statically'
fi
cat >keeps.c <<'END'
#include <stdlib.h>
int main(void)
{
    void *volatile p = malloc(123456);
    return !p;
}
END
"${CC:-gcc}" -g -O0 -o keeps keeps.c

said='^flame: ./static: is linked statically, nothing can be preloaded into it; link it dynamically to record it;'
said="$said its waits are recorded, and memory of programs that it starts\$"

# recorded OUTPUT...: flame run of the program alone.
recorded() {
    run "$FLAME" run "$@" -- ./static
    is_int "$status" 7 "static program, $*: the status is the program's"
    is_int "$(grep -cE "$said" err)" 1 "static program, $*: one line says what is recorded"
    file_lacks err 'allocated|left no' "static program, $*: nothing else is said of memory"
}
recorded -o x.folded
file_has x.folded '^# flame: view=off unit=us$' 'static program: the text has its waits'
slept=$(sed -n 's/.*;main;.*nanosleep \([0-9]*\)$/\1/p' x.folded)
is_int "$((slept > 190000 && slept < 2000000))" 1 'static program: main slept 200 ms'
file_has err "'flame render --view chain -o x.svg x.flame'" 'static program: the hint is of a view that there is'
recorded -q -o x.html -o x.flame
is_str "$(ls ./*.flame)" ./x.flame 'static program: the one trace is of its waits'
file_has x.html 'nanosleep' 'static program: the page has its waits'
recorded --view wakeup -o x.svg
recorded -q --view runq -o runq.html
file_has runq.html '^"view":"runq",$' 'static program: the page begins with the view of --view'

run "$FLAME" run -o y.folded -o y.html -o y.flame -- ./static ./keeps
is_int "$status" 0 'a static program that starts another: the status is the program'"'"'s'
file_has y.folded ';main.* 123456$' 'the program that it starts has its memory'
run "$FLAME" fold --view off y.flame
file_has out ';main;.*nanosleep [0-9]+$' '... and the static one its waits'

for how in mem run; do
    run "$FLAME" "$how" --view peak -o z.svg -- ./go
    is_int "$status" 2 "$how: memory of a program of Go is refused"
    file_has err "'flame collapse' reads heap profiles that Go writes" "$how: ... and the line names what has it"
done

if command -v musl-gcc >/dev/null && musl-gcc -o mu waits.c; then
    mkdir alone
    cp "$SHIM" alone/libflamemem.so # without the recorder for musl beside it
    run env FLAME_MEM_SHIM="$SCRATCH/alone/libflamemem.so" "$FLAME" run -o m.folded -- ./mu
    is_int "$status" 7 "musl without a recorder: the status is the program's"
    file_has err '^flame: ./mu: uses musl, .*; its waits are recorded$' 'musl without a recorder: a line says so'
    file_has m.folded 'nanosleep [0-9]+$' 'musl without a recorder: the text has its waits'
else
    skip musl 'there is no musl-gcc'
fi
done_testing
