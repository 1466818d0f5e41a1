#!/bin/bash
# What a newcomer is sent to is there: folders have a row in the architecture's table, files
# that the documents name exist, and `make lint` looks at every source.
. "${0%/*}/lib.sh"
cd "$ROOT" || exit 1

# Folders with code of some kind, but for what was installed or built.
sources() {
    find .ci bench common driver examples fold preload render scripts tests tracer unwind ./*.c \
        -name node_modules -prune -o -type f "$@" -print | sed 's|^\./||' | sort
}

is_str "$(sources -name '*.[ch]' | sed -n 's|/[^/]*$||p' | sort -u | while read -r folder; do
    # The rooms of tests/ are told in one row.
    grep -q "^|.*\`$folder/\`" docs/ARCHITECTURE.md || [[ $folder = tests/* ]] || echo "$folder"
done)" '' 'each folder of sources has a row in the table of docs/ARCHITECTURE.md'
is_str "$(for folder in tests/*/; do
    grep -q "^| \`tests/\`.*\`$(basename "$folder")/\`" docs/ARCHITECTURE.md || echo "$folder"
done)" '' 'and each folder of tests/ is in its row'

# `fold/load.c` from the root, `filter.h` by its name; NAME in capitals stands for any.
named() {
    grep -ohE '`[A-Za-z0-9_./-]+\.(c|h|js|mjs|css|sh|py|proto)`' "$@" | tr -d '`' | sort -u |
        grep -v '[A-Z][A-Z]'
}
is_str "$(named docs/ARCHITECTURE.md CONTRIBUTING.md bench/README.md examples/README.md |
    while read -r file; do
        [[ $file != */* && $(sources -name "$file") ]] || [ -e "$file" ] || echo "$file"
    done)" '' 'each file that the documents name is there'

linted=$(eval "$FLAME_MAKE --eval='linted:;@printf \"%s\\n\" \$(LINT_C) \$(LINT_SH) \$(LINT_PY)' linted")
is_str "$(comm -23 <(
    sources \( -name '*.[ch]' -o -name '*.cc' -o -name '*.sh' -o -name '*.py' -o -path .ci/run \)
) <(sort <<<"$linted"))" '' 'make lint looks at every source'

done_testing
