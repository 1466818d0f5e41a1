#!/bin/bash
# Libraries that flame needs only for some functions are loaded on first use, and a
# library that cannot be loaded is named.
. "${0%/*}/../lib.sh"

[ -z "${SAN-}" ] || skip_all sanitizer 'sanitizers bring libraries and page faults of their own'

# Libraries loaded at the start, as the loader lists them.
LD_TRACE_LOADED_OBJECTS=1 "$FLAME" >listed
is_str "$(awk '{ print $1 }' listed | grep -vE '^(linux-vdso|libc|libpthread|libdl)\.so|/ld-linux' | xargs)" '' \
    'flame starts with the C library alone'
# The minimum of five: on a busy machine the kernel may take pages away, and give them back.
faults() {
    for _ in 1 2 3 4 5; do
        /usr/bin/time -o cost -f %R "$@" >/dev/null 2>err && tail -n 1 cost
    done | sort -n | head -n 1
}
ok "flame --version costs at most 50 page faults more than true ($(faults true), $(faults "$FLAME" --version))" \
    test $(($(faults "$FLAME" --version) - $(faults true))) -le 50
ok "flame leak of true costs at most 300 page faults ($(faults "$FLAME" leak -q true))" \
    test "$(faults "$FLAME" leak -q true)" -le 300

# Each library is found, and has the functions that flame uses.
sed -n 's/^#define LATE_LIBRARIES(L)//p' "$BUILD/generated/latelibs.h" | grep -oE 'lib[^"]*' >late
ok "the build lists the libraries that are loaded late ($(wc -l <late))" test -s late
printf 'a;b 1\na;c 2\n' >in.folded
loads() { # PATTERN NAME COMMAND...
    run env LD_DEBUG=files LD_DEBUG_OUTPUT=said "${@:3}"
    is_int "$status" 0 "$2: flame ends with status 0"
    ok "$2: flame loads its library" grep -qE "calling init: .*/$1" said.*
    rm -f said.*
}
loads libpcre2 'a regular expression' "$FLAME" render --grep 'b|c' -o x.svg in.folded
loads libprotobuf-c "pprof's format" "$FLAME" render -o x.pb.gz -f pprof in.folded
run env LD_DEBUG=files LD_DEBUG_OUTPUT=said "$FLAME" render -o x.svg in.folded
ok 'flame without a regular expression does not load libpcre2' \
    test "$(cat said.* | grep -c 'init: .*/libpcre2')" -eq 0

# A library without the functions.
soname=$(grep -m 1 libpcre2 late)
mkdir lib
echo 'int nothing;' | ${CC:-gcc} -x c - -shared -fPIC -Wl,-soname,"$soname" -o "lib/$soname"
run_expect_status 1 'a library that lacks a function: flame ends with status 1' \
    env LD_LIBRARY_PATH="$PWD/lib" "$FLAME" render --grep 'b|c' -o y.svg in.folded
like "$(cat err)" '^flame: .*library.*pcre2' 'a library that lacks a function is named'
is_int "$(wc -l <err)" 1 'a library that lacks a function: one line is printed'

# A library that is not there: no command begins that would end with the tracer, and folding says why.
for name in libseccomp libunwind- libelf "libz[.]"; do
    soname=$(grep -m 1 "^$name" late)
    rm -rf lib
    mkdir lib
    : >"lib/$soname"
    for command in off run; do
        run_expect_status 1 "without $soname flame $command ends with status 1" \
            env LD_LIBRARY_PATH="$PWD/lib" "$FLAME" $command -o z.html -- echo began
        is_str "$(cat out)" '' "without $soname flame $command does not begin the command"
        like "$(cat err)" "^flame: a library that is needed here: .*$name" "without $soname flame $command names it"
    done
done
"$FLAME" mem -q --no-names -o z.flame -- ls / >/dev/null
rm -rf lib
mkdir lib
: >"lib/$(grep -m 1 ^libelf late)"
run_expect_status 1 'without libelf flame fold ends with status 1' \
    env LD_LIBRARY_PATH="$PWD/lib" "$FLAME" fold z.flame
like "$(cat err)" '^flame: a library that is needed here: .*libelf' 'without libelf flame fold names it'
is_int "$(wc -l <err)" 1 'without libelf flame fold prints one line'
done_testing
