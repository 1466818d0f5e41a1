#!/bin/bash
# A folder includes headers of itself and of folders before it in this order, which the table of
# docs/design/folders.md has, too. Nothing includes flame.c.
. "${0%/*}/../lib.sh"

order='
common/processor
common
common/env
common/files
common/signals
common/options
common/trace
common/folded
common/lazyload
unwind
unwind/python
unwind/remote
patch
patch/find
patch/entry
inproc
inproc/gate
inproc/lib
inproc/reader
preload/store
preload/shadow
preload/runtime
preload/sidetables
preload
preload/allocators
preload/misuse
preload/mapping
preload/leak
preload/kept
preload/api
preload/lifetimes
preload/resident
preload/firsttouch
preload/python
preload/musl
tracer/offcpu
tracer/inproc
tracer/objects
tracer/output
tracer/ptrace
tracer/stacks
tracer/perf
tracer/nostop
tracer/faults
tracer
inject/agent
inject/memory
inject
fold/stacks
fold/analysis
fold/kept
fold/spill
fold/decode
fold/symbols
fold/members
fold/collapse
fold/backtraces
fold/profiles
fold
fold/pack
render/text
render
render/findings
render/top
render/path
render/export
render/backends
render/view
render/dump
driver/rundir
driver/suppress
driver/kept
driver/monitor
driver/pack
driver/run
driver/leak
driver/off
driver/live
driver/doctor
driver'

rank() {
    local i=0 folder
    for folder in $order; do
        [ "$folder" = "$1" ] && { echo "$i"; return; }
        i=$((i + 1))
    done
    echo -1
}

# Prints every include in $1 (a root of sources) of a folder later in the order.
wrong_includes() {
    local folder file line header mine theirs
    for folder in $order; do
        mine=$(rank "$folder")
        while IFS=: read -r file line header; do
            [ -n "$header" ] || continue
            theirs=$(rank "${header%/*}")
            if [ "$theirs" -lt 0 ] || [ "$theirs" -gt "$mine" ]; then
                echo "$file:$line includes $header"
            fi
        done <<<"$(cd "$1" && grep -noE '^ *# *include +"[^"]+"' /dev/null "$folder"/*.[ch] \
            2>/dev/null | sed -E 's/:[^:"]*"([^"]+)"$/:\1/')"
    done
}

is_str "$(cd "$ROOT" && find common unwind patch inproc preload tracer inject fold render driver -name '*.[ch]' |
    sed 's|/[^/]*$||' | sort -u)" "$(sed '/^$/d' <<<"$order" | sort)" 'every folder of sources has its place'
is_str "$(sed -nE 's,^\| `([a-z/]+)/`.*,\1,p' "$ROOT/docs/design/folders.md" | grep -xF "$(sed '/^$/d' <<<"$order")")" \
    "$(sed '/^$/d' <<<"$order")" 'docs/design/folders.md has the folders in the same order'
is_str "$(wrong_includes "$ROOT")" '' 'every include is of the own folder or of one before it'
is_str "$(cd "$ROOT" && grep -n '#include "' flame.c | grep -v '"common/')" '' \
    'flame.c knows the command table only'

mkdir -p fold/stacks common
echo '#include "driver/run/launch.h"' >fold/wrong.c
echo '#include "error.h"' >common/wrong.h
echo '#include "common/error.h"' >fold/right.c
echo '#include "fold/fold.h"' >fold/stacks/wrong.c
echo '#include "fold/stacks/span.h"' >fold/right.h
is_str "$(wrong_includes "$SCRATCH")" 'common/wrong.h:1 includes error.h
fold/stacks/wrong.c:1 includes fold/fold.h
fold/wrong.c:1 includes driver/run/launch.h' 'the check sees a wrong include'

# Prints the units of folder $2 of the root $1 whose includes go in a circle. A unit is NAME.c with
# NAME.h. NAME_impl.h is the inner half of NAME.c.
circles() {
    (cd "$1" && grep -oE "^#include \"$2/[a-z0-9_]+\.h" /dev/null "$2"/*.[ch]) |
        sed -E "s,^$2/([a-z0-9_]+)\.[ch]:.*/([a-z0-9_]+)\.h$,\1 \2," |
        awk '$1 != $2 && $2 != $1 "_impl"' | tsort 2>&1 >/dev/null | sed -n 's/^tsort: //p'
}

for folder in common/trace fold; do
    is_str "$(circles "$ROOT" "$folder")" '' "the units of $folder/ include one another in no circle"
done
echo '#include "fold/b.h"' >fold/a.h
echo '#include "fold/a.h"' >fold/b.c
touch fold/b.h
ok 'the check sees a circle' test "$(circles "$SCRATCH" fold | tr '\n' ' ')" = '-: input contains a loop: a b '

is_str "$(for folder in $order; do
    echo "$(find "$ROOT/$folder" -maxdepth 1 -name '*.[ch]' | wc -l) $folder"
done | awk '$1 > 40')" '' 'no folder holds more sources than a reader can take in'

done_testing
