#!/bin/bash
# files.sh: the files of this tree as they are now, with a NUL behind each: those that are not committed yet,
# too. Where there is no git, all but what builds have made; nor is another repository asked that this tree
# lies in, which may ignore it.
set -euo pipefail
cd "${0%/*}/.."
{
    { [ -e .git ] && git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard 2>/dev/null; } ||
        find . -name build -prune -o -name node_modules -prune -o -name __pycache__ -prune -o \
            -type f -printf '%P\0'
} | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\0' "$file"
done
