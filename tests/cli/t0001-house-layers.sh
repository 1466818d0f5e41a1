#!/bin/bash
# A folder includes only itself and what stands left of it; nothing includes flame.c.
. "${0%/*}/lib.sh"

order='common unwind preload tracer fold render driver'

rank() {
    local i=0 folder
    for folder in $order; do
        [ "$folder" = "$1" ] && { echo "$i"; return; }
        i=$((i + 1))
    done
    echo -1
}

# Prints every include in $1 (a root of sources) that points to the right.
wrong_includes() {
    local folder file line header mine theirs
    for folder in $order; do
        mine=$(rank "$folder")
        while IFS=: read -r file line header; do
            [ -n "$header" ] || continue
            theirs=$(rank "${header%%/*}")
            if [ "$theirs" -lt 0 ] || [ "$theirs" -gt "$mine" ]; then
                echo "$file:$line includes $header"
            fi
        done <<<"$(cd "$1" && grep -rnoE '^ *# *include +"[^"]+"' --include='*.[ch]' "$folder" \
            2>/dev/null | sed -E 's/:[^:"]*"([^"]+)"$/:\1/')"
    done
}

is_str "$(wrong_includes "$ROOT")" '' 'every include points left or stays in its folder'
is_str "$(cd "$ROOT" && grep -n '#include "' flame.c | grep -v '"common/')" '' \
    'flame.c knows the command table only'

mkdir -p fold common
echo '#include "driver/launch.h"' >fold/wrong.c
echo '#include "error.h"' >common/wrong.h
echo '#include "common/error.h"' >fold/right.c
is_str "$(wrong_includes "$SCRATCH")" 'common/wrong.h:1 includes error.h
fold/wrong.c:1 includes driver/launch.h' 'the check sees a wrong include'

done_testing
