#!/bin/bash
# flame view leaves the terminal as it was, however it ends.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/terminal.sh"

printf 'main;parse 10\nmain;render 20\n' >a.folded
cat >view.sh <<END
stty -g >before
sh -c 'echo \$\$ >pid; exec "$FLAME" view a.folded'
echo status \$?
stty -g >after
END
term_begin 80 24

as_before() { # NAME
    sees '^ready: *$' "$1: the shell goes on"
    is_str "$(cat after)" "$(cat before)" "$1: the terminal's modes"
    is_str "$(term_flag alternate_on)$(term_flag cursor_flag)$(term_flag mouse_any_flag)" 010 \
        "$1: its screen, its cursor, its mouse"
}

begin_view() {
    rm -f pid before after
    type_line 'clear; sh ./view.sh' # a shell for people would set the modes itself
    sees '^.main' "$1: is there"
    is_str "$(term_flag alternate_on)$(term_flag cursor_flag)" 10 "$1: has the screen"
}

begin_view q
press q
sees '^status 0$' 'q'
as_before q
begin_view Ctrl-C
press C-c
sees '^ready' 'Ctrl-C'
type_line 'sh ./view.sh' # a shell stops its script where a command died of SIGINT
sees '^.main' 'again'
press q
sees '^status 0$' 'and q'
as_before Ctrl-C

# 134: SIGABRT, as of an assertion that does not hold.
for sig in TERM:143 HUP:129 ABRT:134 SEGV:139 QUIT:131; do
    begin_view "$sig"
    kill "-${sig%:*}" "$(cat pid)"
    sees "^status ${sig#*:}\$" "$sig ends it, and is told"
    as_before "$sig"
done

# Ctrl-Z, and back, twice: when the shell says so the screen is its own, though its job is a script.
begin_view Ctrl-Z
for n in 1 2; do
    press C-z
    sees 'Stopped' "Ctrl-Z, $n"
    is_str "$(term_flag alternate_on)" 0 'the screen is the shell'"'s"
    type_line 'clear; fg'
    sees '^.main' 'fg brings it back'
done
press q
sees '^ready: *$' 'q ends it then'
is_str "$(term_flag alternate_on)$(term_flag cursor_flag)$(term_flag mouse_any_flag)" 010 'and all is as it was'

# The terminal goes away.
begin_view 'a hangup'
pid=$(cat pid)
term_end
has_ended() {
    ! kill -0 "$pid"
}
ok 'without a terminal it ends' comes_true has_ended
done_testing
