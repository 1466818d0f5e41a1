#!/bin/bash
# The documents' pointers are valid: folders have a row in the table of docs/design/folders.md, the
# architecture lists each design, files that the documents name exist, and `make lint` checks every
# source.
. "${0%/*}/../lib.sh"
cd "$ROOT" || exit 1

# Folders with code of some kind, but for what was installed or built.
sources() {
    find .ci bench common driver examples fold inject inproc patch preload render scripts tests tracer unwind ./*.c \
        -name node_modules -prune -o -type f "$@" -print | sed 's|^\./||' | sort
}

is_str "$(sources -name '*.[ch]' | sed -n 's|/[^/]*$||p' | sort -u | while read -r folder; do
    # All folders of tests/ are in one row.
    grep -q "^|.*\`$folder/\`" docs/design/folders.md || [[ $folder = tests/* ]] || echo "$folder"
done)" '' 'each folder of sources has a row in the table of docs/design/folders.md'
is_str "$(for folder in tests/*/; do
    grep -q "^| \`tests/\`.*\`$(basename "$folder")/\`" docs/design/folders.md || echo "$folder"
done)" '' 'and each folder of tests/ is in its row'

# The overview stays short; it lists the designs that there are, and no others.
is_str "$(grep -ohE '\(design/[a-z-]+\.md\)' docs/ARCHITECTURE.md | tr -d '()' | LC_ALL=C sort -u)" \
    "$(cd docs && printf '%s\n' design/*.md | LC_ALL=C sort)" 'docs/ARCHITECTURE.md lists each design'
is_str "$(sed -n '151,$p' docs/ARCHITECTURE.md)" '' 'docs/ARCHITECTURE.md has at most 150 lines'

# Leftovers of a test or a trial do not count. A tarball has no list of the files that belong to it.
if git -C "$ROOT" rev-parse --verify -q HEAD >/dev/null 2>&1; then
    is_str "$(git ls-files | grep -v / | grep -vxE '\..*|[A-Z]+\.md|LICENSE|Makefile|flame\.c|package(-lock)?\.json')" '' \
        'no other file than these is at the top'
fi

# `fold/load.c` from the root, `filter.h` by its name; NAME in capitals stands for any.
named() {
    grep -ohE '`[A-Za-z0-9_./-]+\.(c|h|js|mjs|css|sh|py|proto)`' "$@" | tr -d '`' | sort -u |
        grep -v '[A-Z][A-Z]'
}
is_str "$(named docs/ARCHITECTURE.md docs/design/*.md CONTRIBUTING.md bench/README.md examples/README.md |
    while read -r file; do
        [[ $file != */* && $(sources -name "$file") ]] || [ -e "$file" ] || echo "$file"
    done)" '' 'each file that the documents name is there'

# Allowed names: files of the tree, by path or by name; files of another project with its folder
# ("kernel/signal.c"); a system's header; a placeholder, which is file, x or in capitals.
unknown_in_comments() {
    python3 - "$@" <<'END'
import os, re, sys

tree = {os.path.relpath(os.path.join(at, name)) for at, _, names in os.walk(".") for name in names}
names = {os.path.basename(path) for path in tree}
others = re.compile(r"(include|kernel|nptl|asm)/|(path/)?(file|x|parser)\.|G(init|trace)\.c|.*[A-Z][A-Z]")
system = ("/usr/include/", "/usr/include/x86_64-linux-gnu/")

for source in sys.argv[1:]:
    with open(source) as f:
        comments = re.findall(r"/\*.*?\*/", f.read(), re.S)
    for name in re.findall(r"(?<![\w./<-])[A-Za-z][\w/-]*\.(?:[ch]|js|css|sh|py|supp|proto)\b(?!\()",
                           " ".join(comments)):
        if not (name in tree or name in names or others.match(name) or
                any(os.path.exists(folder + name) for folder in system)):
            print(f"{source}: {name}")
END
}
# shellcheck disable=SC2046 # names without blanks
is_str "$(unknown_in_comments $(sources -name '*.[ch]' | grep -v '^\(bench\|examples\|tests/victims\)/'))" '' \
    'each file that a comment names is there'
echo '/* As nosuch.h has it, not kernel/signal.c; x.c and NAME_main.c are any. */' >"$SCRATCH/named.c"
is_str "$(unknown_in_comments "$SCRATCH/named.c")" "$SCRATCH/named.c: nosuch.h" 'which the check sees'

linted=$(eval "$FLAME_MAKE --eval='linted:;@printf \"%s\\n\" \$(LINT_C) \$(LINT_SH) \$(LINT_PY)' linted")
is_str "$(comm -23 <(
    sources \( -name '*.[ch]' -o -name '*.cc' -o -name '*.sh' -o -name '*.py' -o -path .ci/run -o -path .ci/full \)
) <(sort <<<"$linted"))" '' 'make lint looks at every source'

done_testing
