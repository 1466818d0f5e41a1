#!/bin/bash
# flame view where a terminal can do less, or there is none, or no library for it.
. "${0%/*}/../lib.sh"

printf 'main;parse;n\xc3\xa4me 10\nmain;render 20\n' >a.folded
run_expect_status 2 'no terminal' "$FLAME" view a.folded
is_str "$(cat err)" "flame: view: standard output is no terminal; 'flame top' lists the symbols as text, 'flame render' draws a picture" \
    'is said in one line'
is_str "$(cat out)" '' 'and nothing is written'
run_expect_status 2 'nor for flame top -i' "$FLAME" top -i a.folded
like "$(cat err)" '^flame: top: standard output is no terminal' 'which says so'
run_expect_status 2 'nor for flame live' "$FLAME" live -p $$
like "$(cat err)" '^flame: live: standard output is no terminal' 'which says so, too'
run_expect_status 2 'a key that a moving screen has not' "$FLAME" top -i -s lived a.folded
like "$(cat err)" '^flame: top: -s lived is not for -i' 'is refused'

. "$ROOT/tests/cli/terminal.sh"
term_begin 80 24
type_line 'clear; TERM=dumb flame view a.folded; echo status $?'
sees "^flame: view: a terminal of TERM=dumb cannot show a full screen" 'TERM=dumb'
sees '^status 2$' 'is wrong usage'
type_line 'clear; TERM=no-such-terminal flame view a.folded; echo status $?'
sees '^flame: view: TERM=no-such-terminal is no terminal that is known here' 'an unknown terminal'
sees '^status 2$' 'is wrong usage'

colors() { # how many cells' colours are changed on the screen
    term capture-pane -e -p | grep -cE $'\x1b\\[[0-9;]*(3|4|9|10)[0-7](;|m)|\x1b\\[[0-9;]*[34]8;5'
}
type_line 'clear; flame view a.folded; echo status $?'
sees 'n.me' 'colours'
ok 'are there' test "$(colors)" -gt 2
like "$(term capture-pane -e -p)" '48;5;' 'of 256'
press q
sees '^status 0$' 'the end'
type_line 'clear; TERM=screen flame view a.folded; echo status $?'
sees 'n.me' 'eight'
ok 'are there' test "$(colors)" -gt 2
unlike "$(term capture-pane -e -p)" '48;5;' 'and no more'
press q
sees '^status 0$' 'the end'
for plain in 'NO_COLOR=1' 'TERM=vt100'; do
    type_line "clear; $plain flame view a.folded; echo status \$?"
    sees 'n.me' "$plain"
    is_int "$(colors)" 0 "$plain: no colour"
    press Down
    sees '^total 30 samples \(100.00%\); self 0 samples' "$plain: keys"
    press q
    sees '^status 0' 'the end' # without a screen of its own it ends in the last line
done
type_line 'clear; LC_ALL=C flame view a.folded; echo status $?'
sees '^\|n\\u\{e4\}me' 'ASCII where the locale has no more'
press q
sees '^status 0$' 'the end'
# If a library cannot be loaded, its package is named.
mkdir lib
echo 'no library' >lib/libncursesw.so.6
type_line 'clear; LD_LIBRARY_PATH=$PWD/lib flame view a.folded; echo status $?'
sees '^flame: view: this needs the library libncursesw; install libncursesw6' 'no ncurses'
sees '^status 2$' 'is told'
type_line 'clear; LD_LIBRARY_PATH=$PWD/lib flame top a.folded; echo status $?'
sees '^status 0$' 'and flame top needs none'
term_end
done_testing
