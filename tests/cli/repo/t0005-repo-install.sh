#!/bin/bash
# make install and uninstall under DESTDIR, into a directory with a blank in it.
. "${0%/*}/../lib.sh"
dest="$SCRATCH/dest dir"

# FLAME_MAKE is `make` with the flags of the build under test.
eval "install_run() { ( cd '$ROOT' && ${FLAME_MAKE:-make --no-print-directory} \"\$@\" ); }"

run_expect_status 0 'make install' install_run install DESTDIR="$dest" PREFIX=/opt/flame
ok 'make install installs flame' test -x "$dest/opt/flame/bin/flame"
ok 'make install installs libflamemem.so' test -r "$dest/opt/flame/lib/flame/libflamemem.so"
ok 'make install installs flamemem.h, and it compiles' "${CC:-gcc}" -fsyntax-only -Wall -Wextra -Werror -x c \
    -include "$dest/opt/flame/include/flamemem.h" /dev/null
ok 'make install installs flamemem.hpp, and it compiles' \
    "${CXX:-g++}" -fsyntax-only -Wall -Wextra -Werror -x c++ \
    -include "$dest/opt/flame/include/flamemem.hpp" /dev/null
ok 'make install installs flame(1)' test -r "$dest/opt/flame/share/man/man1/flame.1"
share="$dest/opt/flame/share"
ok 'make install installs completions for bash' test -s "$share/bash-completion/completions/flame"
ok 'make install installs completions for zsh' test -s "$share/zsh/site-functions/_flame"
ok 'make install installs completions for fish' test -s "$share/fish/vendor_completions.d/flame.fish"
# Documents of packages: all of docs/, with the recipes that they name. Sources, examples and manual pages
# are elsewhere.
is_str "$(cd "$ROOT" && find docs -type f | LC_ALL=C sort)" "$(cd "$share/doc/flame" && find docs -type f | LC_ALL=C sort)" \
    'make install installs all of docs/'
dead_links() {
    python3 - "$1" <<'END'
import os, re, sys
for at, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith(".md"):
            with open(os.path.join(at, name), encoding="utf-8") as f:
                text = f.read()
            for link in re.findall(r"\]\(([^)#\s]+)", text):
                path = os.path.normpath(os.path.join(at, link))
                there = os.path.relpath(path, sys.argv[1])
                if "://" not in link and not os.path.exists(path) and \
                        not re.match(r"(man|examples|fold|tests|bench)/|CONTRIBUTING\.md", there):
                    print(os.path.relpath(os.path.join(at, name), sys.argv[1]), link)
END
}
is_str "$(dead_links "$share/doc/flame")" '' 'links between installed documents hold'
mkdir dead
echo '[it](nosuch.md) [and](https://example.org/x.md)' >dead/some.md
is_str "$(dead_links dead)" 'some.md nosuch.md' 'which the check sees'
run_expect_status 0 'the installed flame runs' "$dest/opt/flame/bin/flame" --version
run "$dest/opt/flame/bin/flame" mem --shim
is_str "$(cat "$SCRATCH/out")" "$dest/opt/flame/lib/flame/libflamemem.so" \
    'the installed flame finds its own libflamemem.so'
run_expect_status 0 'the installed flame records' "$dest/opt/flame/bin/flame" mem -o x.folded -- /bin/echo hello
is_str "$(cat "$SCRATCH/out")" hello "the installed flame leaves the command's output unchanged"

run_expect_status 0 'make uninstall' install_run uninstall DESTDIR="$dest" PREFIX=/opt/flame
is_str "$(find "$dest" -type f)" '' 'make uninstall leaves no file'
is_str "$(find "$dest" -type d -path '*lib/flame')" '' 'make uninstall removes lib/flame'

# Link-time optimization, as distributions build, cuts a program into parts; each has to
# find the files that the assembler put in. gcc is asked for as many parts as it can make.
cat >lengths.c <<'END'
#include <stdio.h>
#include "render/backends/assets.h"
static size_t (*const len[])(void) = {asset_svg_js_len, asset_page_html_len, asset_page_js_len};
int main(int argc, char **argv)
{
    for (int i = 0; i < 2 + argc; i++)
        printf("%zu\n", len[i]());
    return argv[0] ? asset_page_html[0] != '<' : 1;
}
END
lto=(-O2 -flto)
! "${CC:-gcc}" --version | grep -q 'Free Software Foundation' || lto+=(-flto-partition=max)
echo 'int main(void) { return 0; }' >nothing.c
if "${CC:-gcc}" "${lto[@]}" -o nothing nothing.c 2>/dev/null; then
    # shellcheck disable=SC2016 # the parameters are those of the inner shell
    ok 'the page and its script link with -flto' sh -c 'cd "$1" && shift && exec "$@"' - "$ROOT" \
        "${CC:-gcc}" "${lto[@]}" -I. -o "$SCRATCH/lengths" "$SCRATCH/lengths.c" render/backends/assets.c
    run ./lengths
    is_str "$status $(cat out)" "0 $(cat "$ROOT"/render/assets/{regex,svg/svg_*}.js | wc -c)
$(wc -c <"$ROOT/render/assets/page/page.html")
$(cat "$ROOT"/render/assets/{regex,page/page_*}.js | wc -c)" 'assets linked with -flto are complete'
else
    skip lto 'this compiler has no link-time optimization'
fi

done_testing
