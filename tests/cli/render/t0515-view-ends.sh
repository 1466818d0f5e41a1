#!/bin/bash
# flame view restores the terminal, however it ends.
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
    sees '^ready: *$' "$1: the shell continues after flame view"
    is_str "$(cat after)" "$(cat before)" "$1: flame view restores the terminal's modes"
    is_str "$(term_flag alternate_on)$(term_flag cursor_flag)$(term_flag mouse_any_flag)" 010 \
        "$1: flame view restores screen, cursor and mouse"
}

begin_view() {
    rm -f pid before after
    type_line 'clear; sh ./view.sh' # a shell for people would set the modes itself
    sees '^.main' "$1: flame view draws"
    is_str "$(term_flag alternate_on)$(term_flag cursor_flag)" 10 "$1: flame view has the alternate screen"
}

begin_view q
press q
sees '^status 0$' 'q'
as_before q
begin_view Ctrl-C
press C-c
sees '^ready' 'Ctrl-C'
type_line 'sh ./view.sh' # a shell stops its script where a command died of SIGINT
sees '^.main' 'flame view starts after Ctrl-C'
press q
sees '^status 0$' 'q ends flame view after Ctrl-C'
as_before Ctrl-C

# 134: SIGABRT, as of an assertion that does not hold.
for sig in TERM:143 HUP:129 ABRT:134 SEGV:139 QUIT:131; do
    begin_view "$sig"
    kill "-${sig%:*}" "$(cat pid)"
    sees "^status ${sig#*:}\$" "$sig ends flame view with its status"
    as_before "$sig"
done

# Ctrl-Z, and back, twice: when the shell reports the stop it has the screen, though its job is a script.
begin_view Ctrl-Z
for n in 1 2; do
    press C-z
    sees 'Stopped' "Ctrl-Z stops flame view, time $n"
    is_str "$(term_flag alternate_on)" 0 "Ctrl-Z gives the screen to the shell, time $n"
    type_line 'clear; fg'
    sees '^.main' "fg continues flame view, time $n"
done
press q
sees '^ready: *$' 'q ends flame view after fg'
is_str "$(term_flag alternate_on)$(term_flag cursor_flag)$(term_flag mouse_any_flag)" 010 \
    'flame view after fg restores screen, cursor and mouse'

# The terminal disappears.
begin_view 'a hangup'
pid=$(cat pid)
term_end
has_ended() {
    ! kill -0 "$pid"
}
ok 'flame view ends when its terminal disappears' comes_true has_ended
done_testing
