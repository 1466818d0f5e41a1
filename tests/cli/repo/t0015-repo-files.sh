#!/bin/bash
# packaging/files.sh lists the files of this tree: also if the tree lies in another git
# repository, which may ignore it, and where its path has blanks.
. "${0%/*}/../lib.sh"

type git >/dev/null 2>&1 || skip_all git 'there is no git'
outer="$SCRATCH/an outer"
mkdir -p "$outer/in it/packaging"
cp "$ROOT/packaging/files.sh" "$outer/in it/packaging/"
: >"$outer/in it/flame.c"
: >"$outer/in it/with blank"
echo '/in it/' >"$outer/.gitignore"
git -C "$outer" init -q
files() {
    "$outer/in it/packaging/files.sh" | tr '\0' '\n' | sort
}
want=$(printf '%s\n' flame.c packaging/files.sh 'with blank')
is_str "$(files)" "$want" 'files.sh lists the tree in a repository that ignores it'
: >"$outer/.gitignore"
is_str "$(files)" "$want" 'files.sh lists the tree in a repository that would add it'
git -C "$outer/in it" init -q
echo 'with blank' >"$outer/in it/.gitignore"
is_str "$(files)" "$(printf '%s\n' .gitignore flame.c packaging/files.sh)" \
    "files.sh follows the tree's own repository"
done_testing
