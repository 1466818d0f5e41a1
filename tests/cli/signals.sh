# shellcheck shell=bash disable=SC2154 # status is lib.sh's
# signals.sh: for tests of commands that run a command: do signals reach it? Source it
# after lib.sh, with the victim `keeper` built and a command that writes x.folded.
#
#   signals_passed_on COMMAND...    those sent to COMMAND (which runs what follows) reach
#                                   the command it runs
#   group_outlived COMMAND...       those that the command sends to its whole process group do not
#                                   end COMMAND
#   typed_keys KEEPER REGEX COMMAND...   so do those typed at a terminal, and the result is
#                                   written, with a line that matches; KEEPER: what keeper
#                                   is to do before

signals_passed_on() {
    local sig line ran
    # It reports on a pipe when it is ready; another pipe, held open here, keeps it
    # from leaving by itself.
    mkfifo hold said
    exec 3<>hold 4<>said
    for sig in TERM HUP USR1 USR2; do
        "$@" ./keeper "catch:$(kill -l "$sig")" wait <hold >said 2>err &
        ran=$!
        read -r line <&4
        kill "-$sig" "$ran"
        wait "$ran"
        is_int $? 7 "SIG$sig is passed on"
        read -r line <&4
        is_str "$line" caught "SIG$sig is caught by the command"
    done
    exec 3>&- 4>&-
}

group_outlived() {
    local sig
    for sig in ABRT ALRM SEGV PIPE IO RTMIN RTMIN+3; do
        rm -f x.folded
        run setsid -w "$@" sh -c "ls >/dev/null; kill -$(kill -l "$sig") 0; exit 5"
        is_int "$status" $((128 + $(kill -l "$sig"))) "SIG$sig to the process group ends the command"
        ok "SIG$sig to the process group: the result is written" test -s x.folded
    done
    for sig in ABRT PIPE; do
        rm -f x.folded
        run setsid -w "$@" sh -c "ls >/dev/null; trap '' $sig; kill -$sig 0; exit 5"
        is_int "$status" 5 "a command that ignores SIG$sig continues"
        ok "SIG$sig to the process group: the result is written" test -s x.folded
    done
    # A signal from another process is passed on to the command.
    rm -f x.folded
    "$@" sh -c 'trap "echo heard >heard; exit 6" ABRT; echo >ready; while :; do sleep 0.1; done' &
    until_true test -e ready
    kill -ABRT $!
    wait $!
    is_int $? 6 'SIGABRT sent to flame is passed on'
    ok 'SIGABRT sent to flame reaches the command' test -e heard
    rm -f ready heard
}

typed_keys() {
    local keeper=$1 regex=$2 key
    shift 2
    cat >typed.py <<'END'
import os, pty, sys
pid, tty = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
seen = b""
def until(word):
    global seen
    while word not in seen:
        seen += os.read(tty, 4096)
until(b"ready")
os.write(tty, {"INT": b"\003", "QUIT": b"\034"}[sys.argv[1]])
until(b"caught")
try:
    while os.read(tty, 4096):
        pass
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
    for key in INT QUIT; do
        rm -f x.folded
        run python3 typed.py "$key" "$@" ./keeper "$keeper" "catch:$(kill -l "$key")" wait
        is_str "$(cat out)" 7 "SIG$key from the terminal is the command's to handle"
        file_has x.folded "$regex" "SIG$key from the terminal: the result is written"
    done
}
