#!/bin/bash
# files.sh: prints the names of this tree's files, a NUL behind each, including files that are not committed
# yet. Without git it prints all files but the results of builds. It does not ask a repository that contains
# this tree, because that one may ignore it.
set -euo pipefail
cd "${0%/*}/.."
{
    { [ -e .git ] && git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard 2>/dev/null; } ||
        find . -name build -prune -o -name node_modules -prune -o -name __pycache__ -prune -o \
            -type f -printf '%P\0'
} | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\0' "$file"
done
