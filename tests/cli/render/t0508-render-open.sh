#!/bin/bash
# --open: the result is shown by the desktop's browser, which knows nothing of the recording.
. "${0%/*}/../lib.sh"

unset DISPLAY WAYLAND_DISPLAY BROWSER SSH_CONNECTION SSH_TTY SSH_CLIENT
mkdir bin
# A browser that says what it was given: once, whole, when it is done.
cat >bin/xdg-open <<'END_SH'
#!/bin/bash
# The shell itself has its script open, as 255.
ls -l "/proc/$$/fd" >"$FAKE_OUT.fds"
cat /proc/self/status >"$FAKE_OUT.status"
{
    echo "called ${0##*/}"
    printf 'word %s\n' "$@"
    sed -nE 's/.* ([0-9]+) -> (.*)/descriptor \1 \2/p' "$FAKE_OUT.fds" | grep -v '^descriptor 255 '
    [ "$(cut -d' ' -f6 "/proc/$$/stat")" != "$FAKE_SESSION" ] && echo 'session own'
    sed -n 's/^SigBlk:[[:blank:]]*/blocked /p' "$FAKE_OUT.status"
    echo "preload ${LD_PRELOAD-none}"
    echo "options ${FLAMEMEM_OPTIONS-none}"
    grep -q libflame "/proc/$$/maps" && echo recorded
    echo end
} >"$FAKE_OUT.part"
mv "$FAKE_OUT.part" "$FAKE_OUT"
END_SH
chmod +x bin/xdg-open
cp bin/xdg-open bin/my-browser
FAKE_OUT=$SCRATCH/opened FAKE_SESSION=$(cut -d' ' -f6 /proc/$$/stat)
export FAKE_OUT FAKE_SESSION
PATH=$SCRATCH/bin:$PATH

# Output of the browser, once it is there; it comes in its own time.
opened() {
    local i
    for ((i = 0; i < 1200; i++)); do
        [ -e opened ] && break
        sleep 0.05
    done
    cat opened 2>/dev/null
    rm -f opened
}
words() {
    opened | sed -n 's/^word //p' | tr '\n' ' '
}

here=$(pwd -P)
printf 'main;parse 3\nmain;emit 2\n' >x.folded
export DISPLAY=:7

run_expect_status 0 'render --open' "$FLAME" render --open -o x.html x.folded
is_str "$(cat out err)" '' 'says nothing where there is a browser'
said=$(opened)
is_str "$(grep -E '^(called|word)' <<<"$said")" "called xdg-open
word file://$here/x.html" 'xdg-open gets the address of the page'
is_str "$(grep -E '^(descriptor|session|recorded|end)' <<<"$said")" 'descriptor 0 /dev/null
descriptor 1 /dev/null
descriptor 2 /dev/null
session own
end' 'and no stream, descriptor or session of ours'
ok 'the page is there' grep -q '</html>' x.html

run_expect_status 0 'without -o' "$FLAME" render --open x.folded
is_str "$(words)" "file://$here/flame.html " 'it is a page, flame.html'
is_str "$(cat out)" '' 'and not on standard output'
run_expect_status 0 'with -f' "$FLAME" render --open -f svg <x.folded
is_str "$(words)" "file://$here/flame.svg " 'the format names it'
run_expect_status 0 'a name with everything' "$FLAME" render --open -o 'a b#1?%41;$(x).svg' x.folded
is_str "$(words)" "file://$here/a%20b%231%3F%2541%3B%24%28x%29.svg " 'is an address all the same'

# A file that no browser shows is an error, found before anything is read.
for words in '-o y.folded' '-f pprof' '-o y.pb.gz' '-o -'; do
    # shellcheck disable=SC2086 # two words
    run_expect_status 2 "render --open $words" "$FLAME" render --open $words missing.folded
    file_has err '^flame: render: --open: a browser does not show .*html' 'says what one shows'
done
for command in mem off run leak; do
    run_expect_status 2 "$command --open -o y.folded" "$FLAME" "$command" --open -o y.folded touch ran
    file_has err "^flame: $command: --open: a browser does not show y.folded; " 'the same'
done
not_ok 'nothing ran' test -e ran
run_expect_status 2 'a picture that cannot be made' "$FLAME" render --open missing.folded
not_ok 'nothing is opened' test -e opened

# Recorders: the program keeps its streams and status, the browser is not recorded.
for command in mem off run; do
    run_expect_status 3 "$command --open" "$FLAME" "$command" --open -q sh -c 'echo mine; exit 3'
    is_str "$(cat out err)" mine 'has its output and status'
    said=$(opened)
    is_str "$(grep '^word' <<<"$said")" "word file://$here/sh-$command.html" 'and its page is opened'
    is_str "$(grep -E '^(blocked|preload|options|recorded|end)' <<<"$said")" 'blocked 0000000000000000
preload none
options none
end' 'by what is not recorded'
done
run_expect_status 0 'run with several' "$FLAME" run --open -q -o r.folded -o r.svg -o r.html sh -c :
is_str "$(words)" "file://$here/r.svg " 'opens the first that can be'
run_expect_status 2 'run with none' "$FLAME" run --open -q -o r.folded -o r.pb.gz true
file_has err '--open: a browser does not show r.folded' 'says so'

cat >leaky.c <<'END_C'
#include <stdlib.h>
void *volatile kept;
int main(void)
{
    kept = malloc(1000);
    kept = NULL;
    return 0;
}
END_C
"${CC:-cc}" -O1 -o leaky leaky.c
run_expect_status 23 'leak --open' "$FLAME" leak --open ./leaky
is_str "$(words)" "file://$here/leak.html " 'opens what it found'
file_has err 'all of them in leak.html' 'and says where'
mkdir results
run_expect_status 23 'in a directory' "$FLAME" leak --open -q -o results ./leaky
like "$(words)" "^file://$here/results/leaky-[^/]*/leak.html \$" 'the page of its own'
run_expect_status 0 'without leaks' "$FLAME" leak --open true
not_ok 'there is nothing to open' test -e opened
run_expect_status 23 'leak without --open' "$FLAME" leak ./leaky
ok 'draws leak.svg as ever' test -s leak.svg

# If flame itself is recorded, the browser is not.
run_expect_status 0 'in a recording' env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/own.%p.flame" \
    "$FLAME" render --open -o x.html x.folded
is_str "$(opened | grep -E '^(preload|options|recorded|end)')" 'preload none
options none
end' 'it is not recorded either'
# Nor does it hold the pipe that standard output is: cat ends when flame does.
cat >bin/slow-browser <<'END_SH'
#!/bin/bash
while ! [ -e "$FAKE_OUT.go" ]; do sleep 0.05; done
my-browser "$@"
END_SH
chmod +x bin/slow-browser
BROWSER=slow-browser "$FLAME" mem --open -q -o s.html echo through | cat >piped
is_str "$(cat piped)" through 'a browser that stays holds no pipe'
not_ok 'nobody has waited for it' test -e opened
touch opened.go
is_str "$(words)" "file://$here/s.html " 'it goes on by itself'

# Which browser.
BROWSER='missing-one:my-browser --new %s --last:xdg-open' "$FLAME" render --open x.folded
said=$(opened)
is_str "$(grep -E '^(called|word)' <<<"$said" | tr '\n' ' ')" \
    "called my-browser word --new word file://$here/flame.html word --last " 'BROWSER comes first'
mkdir few
for tool in ls cat sed cut grep mv; do
    ln -s "$(type -P "$tool")" few
done
cp bin/xdg-open few/sensible-browser
run_expect_status 0 'without xdg-open' env PATH="$SCRATCH/few" "$FLAME" render --open x.folded
is_str "$(cat err)" '' 'says nothing'
is_str "$(opened | head -1)" 'called sensible-browser' 'sensible-browser is asked'

# Where there is none, one line has the address, and all else is as without.
line="flame: --open: open file://$here/flame.html yourself: "
none() {
    local what=$1 why=$2
    shift 2
    rm -f flame.html
    run_expect_status 0 "$what" env "$@" "$FLAME" render --open x.folded
    is_str "$(cat out err)" "$line$why" 'one line says where the page is, and why'
    ok 'it is there' test -s flame.html
}
none 'no desktop' 'there is no desktop (DISPLAY, WAYLAND_DISPLAY)' -u DISPLAY
none 'an empty DISPLAY' 'there is no desktop (DISPLAY, WAYLAND_DISPLAY)' DISPLAY=
none 'by ssh' "this is another machine than the desktop's (SSH_CONNECTION)" SSH_CONNECTION='1 2 3 4'
none 'no browser' 'neither xdg-open nor sensible-browser is there, and BROWSER is not set' PATH=/nowhere
none 'a wrong one' 'what BROWSER names is not there' BROWSER=/nowhere/firefox:/tmp
not_ok 'nothing was opened' test -e opened
run_expect_status 0 'mem without a desktop' env -u DISPLAY "$FLAME" mem -q --open sh -c :
is_str "$(cat err)" "flame: --open: open file://$here/sh-mem.html yourself: there is no desktop \
(DISPLAY, WAYLAND_DISPLAY)" 'says it with -q, too'
BROWSER=my-browser SSH_CONNECTION='1 2 3 4' DISPLAY='' "$FLAME" render --open x.folded
is_str "$(words)" "file://$here/flame.html " 'BROWSER is taken at its word anywhere'
WAYLAND_DISPLAY=wayland-0 DISPLAY='' PATH=/nowhere "$FLAME" render --open x.folded 2>err
file_has err 'neither xdg-open' 'Wayland is a desktop'

done_testing
