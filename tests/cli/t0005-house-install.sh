#!/bin/bash
# make install and uninstall under DESTDIR, into a directory with a blank in it.
. "${0%/*}/lib.sh"
dest="$SCRATCH/dest dir"

# FLAME_MAKE is `make` with the flags of the build under test.
eval "install_run() { ( cd '$ROOT' && ${FLAME_MAKE:-make --no-print-directory} \"\$@\" ); }"

run_expect_status 0 'make install' install_run install DESTDIR="$dest" PREFIX=/opt/flame
ok 'flame is there' test -x "$dest/opt/flame/bin/flame"
ok 'the shim is there' test -r "$dest/opt/flame/lib/flame/libflamemem.so"
ok 'flame(1) is there' test -r "$dest/opt/flame/share/man/man1/flame.1"
run_expect_status 0 'the installed flame runs' "$dest/opt/flame/bin/flame" --version
run "$dest/opt/flame/bin/flame" mem --shim
is_str "$(cat "$SCRATCH/out")" "$dest/opt/flame/lib/flame/libflamemem.so" \
    'and finds its own shim'
run_expect_status 0 'and records' "$dest/opt/flame/bin/flame" mem -o x.folded -- /bin/echo hello
is_str "$(cat "$SCRATCH/out")" hello "the command's output is untouched"

run_expect_status 0 'make uninstall' install_run uninstall DESTDIR="$dest" PREFIX=/opt/flame
is_str "$(find "$dest" -type f)" '' 'nothing is left'
is_str "$(find "$dest" -type d -path '*lib/flame')" '' 'nor its own directory'

done_testing
