#!/bin/bash
# sites.sh FILE...: a row of docs/sites.md's table for each program or library: how many system
# calls it makes by itself, how many of them can be patched and by which window, and why the others
# cannot. FLAME is the flame to ask (build/flame).
set -euo pipefail

flame=${FLAME:-build/flame}
[ $# -gt 0 ] || { echo 'usage: scripts/sites.sh FILE...' >&2; exit 2; }

echo '| file | sites | patchable | number | before | after | call | not patchable |'
echo '|---|---|---|---|---|---|---|---|'
for file; do
    "$flame" dump --sites "$file" | FILE=$file awk '
        { for (i = 2; i <= NF; i++) { at = index($i, "="); of[substr($i, 1, at - 1)] = substr($i, at + 1) } }
        $1 == "file" { sites = of["sites"]; patchable = of["patchable"] }
        $1 == "sum" && /^sum kind=/ { kind[of["kind"]] = of["sites"] }
        $1 == "sum" && /^sum reason=/ { why = why (why ? ", " : "") of["reason"] " " of["sites"] }
        END { printf "| %s | %d | %d | %d | %d | %d | %d | %s |\n", ENVIRON["FILE"], sites, patchable, kind["number"],
                     kind["before"], kind["after"], kind["call"], why }'
done
