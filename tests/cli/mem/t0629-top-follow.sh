#!/bin/bash
# flame top --live TRACE on a terminal: a recording that another process makes, until its end.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

[ -z "${SAN-}" ] || skip_all sanitizer 'the victim has an allocator of its own then'
. "$ROOT/tests/cli/terminal.sh"

# Each letter on its input is an order: 100,000 bytes more, or a sleep.
cat >keeper.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void *keeps(size_t n) { void *p = malloc(n); memset(p, 1, n); return p; }
__attribute__((noinline)) void naps(void) { nanosleep(&(struct timespec){0, 50000000}, NULL); }
static void *kept[1000];
int main(void)
{
    char order;
    int n = 0;
    while (read(0, &order, 1) == 1) {
        if (order == 'k') kept[n++] = keeps(100000);
        if (order == 'n') naps();
    }
    return 0;
}
END
ok 'keeper is built' \
    "${CC:-gcc}" -O1 -g -fno-inline -fno-builtin -fno-optimize-sibling-calls -o keeper keeper.c

start() { # COMMAND...: it reads orders from descriptor 7
    rm -f orders
    mkfifo orders
    "$@" <orders >victim.out 2>victim.err 7>&- &
    victim=$!
    exec 7>orders
}
follow() { # OPTION...: on a screen that has no status of an earlier one
    type_line clear
    sees_not '^status' 'the screen is clear'
    type_line "flame top $* --every 0.2; echo status \$?"
}
ends() { # NAME
    press q
    sees '^status 0$' "$1"
}

term_begin 110 24

# The library alone writes the trace in its place.
start env "LD_PRELOAD=$SHIM" "FLAMEMEM_OPTIONS=out=$PWD/lib.flame" ./keeper
echo kkk >&7
until_true test -s lib.flame
follow --live lib.flame
sees '^Memory allocated: .*lib\.flame, [0-9]+ s +view 1/' 'flame top --live shows the trace of the library'
sees '^ +selfv +self/s +total +total/s +symbol$' 'flame top --live opens with the table and rates'
sees '293\.0 KiB .* keeps$' 'flame top --live shows what was allocated before'
echo kk >&7
sees '488\.3 KiB .* keeps$' 'flame top --live shows what is allocated meanwhile'
sees '% +0   B .* keeps$' 'the rate is 0 when nothing comes any more'
is_str "$(screen | grep -c 'recording has ended')" 0 'flame top --live says nothing of an end before it'
echo kkk >&7
exec 7>&-
wait "$victim"
is_int "$?" 0 'a process under flame top --live ends with status 0'
sees 'lib\.flame: the recording has ended, ' 'flame top --live shows the end of the recording'
sees '781\.2 KiB .* keeps$' 'flame top --live shows the recording until its end'
sees '^lib\.flame: the recording has ended; q leaves this view' 'flame top --live stays until q'
press Enter
sees '^.keeps *$' 'Enter shows the callers after the end of the recording'
ends 'q ends flame top --live with status 0'

# A recording that has ended before.
follow -s name --live lib.flame
sees 'lib\.flame: the recording has ended, ' 'flame top --live of a finished recording says so at once'
sees 'symbol\^' 'flame top --live --sort name sorts by name'
ends 'q ends flame top --live of a finished recording'

# flame mem writes its output at the end; until then the trace is in the directory of the run.
mkdir tmp
start env "TMPDIR=$PWD/tmp" "$FLAME" mem -q -o m.flame -- sh -c './keeper & ./keeper <&0; wait'
echo kkkk >&7
type_line "export TMPDIR='$PWD/tmp'"
run_began() {
    ls tmp/flame-*/keeper.*.flame 2>/dev/null
}
until_true run_began
ok 'flame mem has written no output yet' test ! -e m.flame
follow --live m.flame
sees 'm\.flame, [0-9]+ s +view' 'flame top --live finds the run that is to write the trace'
sees '390\.6 KiB .* keeps$' 'flame top --live adds up the processes of a run'
echo k >&7
sees '488\.3 KiB .* keeps$' 'flame top --live of a run is refreshed'
exec 7>&-
wait "$victim"
is_int "$?" 0 'flame mem under flame top --live ends with status 0'
sees 'm\.flame: the recording has ended, ' 'flame top --live shows the end of the run'
sees '488\.3 KiB .* keeps$' 'flame top --live shows the whole result of the run'
ends 'q ends flame top --live of a run'
is_str "$(ls tmp)" '' 'flame mem and flame top --live leave no file in TMPDIR'

# Waits.
start env "TMPDIR=$PWD/tmp" "$FLAME" off -q -o o.flame -- ./keeper
echo nnnn >&7
run_waits() {
    ls tmp/flame-off.*/off.flame 2>/dev/null
}
if comes_true run_waits; then
    follow --live o.flame
    sees '^Off-CPU time: .*o\.flame, [0-9]+ s' 'flame top --live shows waits'
    sees ' [1-9][0-9.]* m?s .* naps$' 'flame top --live shows the function that waits'
    echo nnnnnnnnnnnnnnnnnnnn >&7 # a second
    sees ' [1-9][0-9]*(\.[0-9]+)? s .* naps$' 'flame top --live of waits is refreshed'
    exec 7>&-
    wait "$victim"
    sees 'o\.flame: the recording has ended, ' 'flame top --live shows the end of a recording of waits'
    ends 'q ends flame top --live of waits'
else
    exec 7>&-
    wait "$victim"
    skip ptrace "waits cannot be recorded here: $(head -n 1 victim.err)"
fi

# Both: memory is shown, or with -w waits, also from the result at the end.
for how in '' -w; do
    rm -f b.flame
    start env "TMPDIR=$PWD/tmp" "$FLAME" run -q -o b.flame -- ./keeper
    echo knnk >&7
    run_records_both() {
        ls tmp/flame-run.*/off.flame tmp/flame-run.*/keeper.*.flame 2>/dev/null
    }
    if ! comes_true run_records_both; then
        exec 7>&-
        wait "$victim"
        skip ptrace "waits cannot be recorded here: $(head -n 1 victim.err)"
        continue
    fi
    follow $how --live b.flame
    case $how in
    '') want='195\.3 KiB .* keeps$' ;;
    *) want=' [1-9][0-9]{2}(\.[0-9]+)? ms .* naps$' ;;
    esac
    sees "$want" "flame top $how --live shows a run that records both"
    exec 7>&-
    wait "$victim"
    sees 'b\.flame: the recording has ended, ' "flame top $how --live shows the end of a run that records both"
    sees "$want" "flame top $how --live shows the result of a run that records both"
    ends "q ends flame top $how --live of a run that records both"
done

# Files without a recording.
echo 'main;work 12' >text
: >empty
for what in text empty missing keeper .; do
    follow --live "$what"
    sees '^status 2$' "flame top --live $what ends with status 2"
    is_int "$(screen | grep -c "^flame: .*$what")" 1 "flame top --live $what prints one line"
done
term_end

run_expect_status 2 'flame top --live without a terminal ends with status 2' "$FLAME" top --live lib.flame
is_int "$(grep -c . err)" 1 'flame top --live without a terminal prints one line'
file_has err '^flame: top: .*terminal' 'flame top --live without a terminal says why'
run_expect_status 2 'flame top --live and -p ends with status 2' "$FLAME" top --live lib.flame -p 1
file_has err '^flame: top: -p and --live; look at one or the other' 'flame top --live and -p says why'
run_expect_status 2 'flame top --live and a file ends with status 2' "$FLAME" top --live lib.flame text
file_has err "^flame: top: --live and a file, 'text'" 'flame top --live and a file says why'
done_testing
