#!/bin/bash
# No run leaves its directory behind: a signal that ends flame does not prevent the removal, and a directory of a
# killed run is removed by the next run, once no process uses it.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim keeper
use_own_tmpdir
mkfifo go

left() { find "$TMPDIR" -mindepth 1 -maxdepth 1 | wc -l; }
another_run() { "$FLAME" mem -q -o y.svg -- ./keeper keep:1; }

# ---- ended ----

# The signal may come at any moment.
for how in TERM HUP INT; do
    for delay in .001 .002 .003 .004 .005 .006 .008 .010 .014 .020 .030 .050; do
        timeout --foreground -s $how $delay "$FLAME" mem -q -o x.svg -- ./keeper keep:1000:1000
    done 2>/dev/null
    is_int "$(left)" 0 "SIG$how: twelve runs leave no directory"
done

# ---- killed ----

# start_and_kill COMMAND...: flame COMMAND... runs a keeper that waits for `go`; flame is killed.
start_and_kill() {
    "$FLAME" "$@" -- ./keeper keep:1 wait <go >ready 2>err &
    local flame=$!
    exec 8>go
    until_true grep -q ready ready
    keeper=$(pgrep -P "$(descends $flame)" -x keeper || pgrep -P $flame -x keeper)
    kill -9 $flame
    wait $flame
} 2>/dev/null

# The tracer is a process between flame and the command.
descends() { pgrep -P "$1" -x flame || echo "$1"; }

let_end() {
    exec 8>&-
    until_true has_ended
}
has_ended() { ! kill -0 "$keeper" 2>/dev/null; }

start_and_kill mem -o x.svg
is_int "$(left)" 1 'a killed flame mem leaves its directory'
another_run
is_int "$(left)" 1 'the next run keeps the directory of a command that is still recorded'
let_end
another_run
is_int "$(left)" 0 'the next run removes the directory once the command has ended'

start_and_kill off -o x.folded
let_end
removed() {
    [ "$(left)" = 0 ] || {
        another_run
        return 1
    }
}
ok 'the next run removes the directory of a killed flame off' comes_true removed

# The other commands that record.
for command in 'run -o x.folded' 'leak -o x.svg' 'mem --libc-mappings --moments -o x.flame'; do
    # shellcheck disable=SC2086 # a command and its options
    start_and_kill $command
    let_end
    ok "the next run removes the directory of a killed flame ${command%% *}" comes_true removed
done

# ---- standard error has no reader ----

for command in mem off run leak; do
    for n in 1 2 3; do
        "$FLAME" $command -o x.folded -- ./keeper keep:1000 2>&1 | head -n 1 >/dev/null
        "$FLAME" $command -o x.folded -- ./keeper keep:1000 2>&1 | :
    done
done
is_int "$(left)" 0 'standard error closed before the end: no directory is left'
for command in mem off run leak; do
    exec 6> >(exec true)
    wait $!
    "$FLAME" $command -o x.folded -- ./keeper keep:1000 2>&6 >/dev/null
    is_int $? 141 "flame $command without a reader of standard error ends by SIGPIPE"
    exec 6>&-
done
is_int "$(left)" 0 'standard error without a reader: no directory is left'

# ---- similar directories ----

# Directories of running flames, of other users, and directories that no run made: all differ from a
# dead run's directory.
made() { # NAME: a copy of a dead run's directory
    cp -a dead "$TMPDIR/$1"
}
start_and_kill mem -o x.svg
let_end
mv "$TMPDIR"/flame-mem.* dead
made flame-mem.dead00
another_run
is_int "$(left)" 0 "a copy of a dead run's directory is removed"
made flame-live.dead00 && cp -a dead "$TMPDIR/flame-live.dead00/flame-mem.dead01"
touch "$TMPDIR"/flame-live.dead00/{look0,look1,output}
another_run
is_int "$(left)" 0 "a dead flame live's directory is removed, with its recorder's"
made flame-live.Within && cp -a dead "$TMPDIR/flame-live.Within/flame-live.Within"
cp -a dead "$TMPDIR/flame-live.Within/flame-live.Within/flame-live.Within"
another_run
is_int "$(left)" 1 'a directory nested three deep is kept'
rm -r "$TMPDIR/flame-live.Within"
made flame-mem.Notes0 && rm "$TMPDIR/flame-mem.Notes0/notes"
made flame-mem.Short0 && truncate -s 8 "$TMPDIR/flame-mem.Short0/notes"
made flame-mem.Foreig && touch "$TMPDIR/flame-mem.Foreig/thesis.tex"
made flame-mem.Subdir && mkdir "$TMPDIR/flame-mem.Subdir/x.flame"
made flame-mem.Public && chmod 755 "$TMPDIR/flame-mem.Public"
made flame-mem.Writes && exec 7>>"$TMPDIR/flame-mem.Writes/notes"
made flame-mem.Traces && exec 6>>"$(ls "$TMPDIR"/flame-mem.Traces/*.flame)"
made flame-mem.Locked && exec 5<"$TMPDIR/flame-mem.Locked/notes" && flock -s 5
made flame-mem.longer.name
made flame-see.Nothing
mv dead elsewhere && ln -s "$SCRATCH/elsewhere" "$TMPDIR/flame-mem.Symlnk"
is_int "$(left)" 11 "eleven directories resemble a dead run's"
another_run
is_int "$(left)" 11 "directories that only resemble a dead run's are kept"
is_str "$(find elsewhere -name notes)" elsewhere/notes 'files behind a symbolic link are kept'
exec 7>&- 6>&- 5<&-
another_run
is_int "$(left)" 8 'three directories are removed after their last writer has ended'
done_testing
