# shellcheck shell=bash
# terminal.sh: a terminal for tests, which tmux plays. Source it after lib.sh.
#
#   term_begin WIDTH HEIGHT [TERM]   a shell in it, in the scratch directory, with $FLAME as `flame`
#   term_end
#   type_line TEXT                   types it and Enter
#   press KEY...                     as tmux names them: Down, Enter, C-c, 'x'
#   screen                           its text
#   sees REGEX NAME                  waits until a line of it matches; a minute at most
#   sees_not REGEX NAME              until none does
#   term_flag NAME                   a variable of tmux, as pane_title
#
# Nothing is timed: a state comes, or the test fails after a minute.

command -v tmux >/dev/null || skip_all tmux 'no tmux here'

term() {
    tmux -u -S "$SCRATCH/tmux" -f /dev/null "$@"
}

# tmux's server is not a job of this shell.
# shellcheck disable=SC2154 # lib.sh's
trap 'case $BASHPID in "$tap_owner") term kill-server 2>/dev/null ;; esac; tap_cleanup' EXIT

term_begin() {
    cat >"$SCRATCH/.shellrc" <<END
PS1='ready: '
export LC_ALL=\${TERM_LOCALE-C.UTF-8} TERM='${3:-screen-256color}'
unset NO_COLOR
flame() { '$FLAME' "\$@"; }
cd '$SCRATCH'
END
    LC_ALL=C.UTF-8 TERM=xterm term new-session -d -x "$1" -y "$2" \
        "exec bash --noprofile --rcfile '$SCRATCH/.shellrc' -i"
    sees '^ready' "a terminal of $1x$2"
}

term_end() {
    term kill-server
    # Its shell has ended when the socket is gone, or soon after.
    for _ in $(seq 100); do
        term ls >/dev/null 2>&1 || return 0
        sleep 0.1
    done
}

type_line() {
    term send-keys -l -- "$1"
    term send-keys Enter
}

press() {
    term send-keys -- "$@"
}

screen() {
    term capture-pane -p
}

waits() { # YES|NO REGEX NAME
    for _ in $(seq "${TERM_TRIES:-600}"); do
        if screen | LC_ALL=C.UTF-8 grep -Eq -- "$2"; then
            [ "$1" = NO ] || { test_ok "$3"; return; }
        elif [ "$1" = NO ]; then
            test_ok "$3"
            return
        fi
        sleep 0.1
    done
    test_fail "$3" "wanted ($1): $2
$(screen)"
}

sees() {
    waits YES "$@"
}

sees_not() {
    waits NO "$@"
}

term_flag() {
    term display -p "#{$1}"
}
