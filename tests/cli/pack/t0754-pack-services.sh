#!/bin/bash
# The drop-in that records a service of systemd is valid for systemd, and its environment records; names
# in the Containerfile and the RPM spec exist.
. "${0%/*}/../lib.sh"

eval "install_run() { ( cd '$ROOT' && ${FLAME_MAKE:-make --no-print-directory} \"\$@\" ); }"
run_expect_status 0 'make install' install_run install DESTDIR="$SCRATCH/dest" PREFIX=/usr LIBDIR=/usr/lib/some-processor
dropin=$SCRATCH/dest/usr/share/flame/flame-record.conf
lib=/usr/lib/some-processor/flame/libflamemem.so
ok 'make install uses LIBDIR' test -e "$SCRATCH/dest$lib"
is_str "$(sed -n 's/^Environment=LD_PRELOAD=//p' "$dropin")" "$lib" 'the drop-in names the installed library'

# ---- systemd ----

if command -v systemd-analyze >/dev/null; then
    mkdir -p units/app.service.d
    printf '[Unit]\nDescription=A service\n[Service]\nExecStart=/bin/true\n' >units/app.service
    cp "$dropin" units/app.service.d/
    SYSTEMD_LOG_LEVEL=info run_expect_status 0 'systemd-analyze accepts the drop-in' \
        systemd-analyze verify --man=no "$PWD/units/app.service"
    is_str "$(grep -E 'app\.service|flame' err)" '' 'systemd-analyze prints nothing on the drop-in'
    sed -i 's/^Environment=LD/Enviroment=LD/' units/app.service.d/flame-record.conf
    run systemd-analyze verify --man=no "$PWD/units/app.service"
    file_has err 'flame-record\.conf:[0-9]+: Unknown key' 'systemd-analyze reports a misspelled key'
else
    skip systemd 'there is no systemd-analyze'
fi

# The environment as systemd sets it, with a folder of this test.
is_str "$(sed -n 's/^StateDirectory=//p' "$dropin")" 'flame/%N' 'systemd makes the directory of the traces'
mkdir -p state/flame/app
sed -n 's/^Environment=//p' "$dropin" |
    sed -e 's|%%|\x01|g' -e 's|%N|app|g' -e 's|\x01|%|g' -e "s|/var/lib/|$SCRATCH/state/|" \
        -e "s|=$lib|=$SCRATCH/dest$lib|" >environment
is_int "$(grep -c % environment)" 1 'no name of a unit is left to replace'
mapfile -t environment <environment
run_expect_status 0 "a service with the drop-in's environment runs" \
    env "${environment[@]}" sh -c 'ls / | sort >/dev/null'
is_str "$(find state/flame/app -name '*.flame' -printf '%f\n' | sed 's/\.[0-9.]*flame$//; s/dash/sh/' | sort -u | xargs)" \
    'ls sh sort' 'a service leaves a trace of each of its processes'
run_expect_status 0 "a service's traces can be drawn" "$FLAME" render -o live.svg state/flame/app/*.flame

# ---- the image and the RPM packages ----

# Each command of make that the image is built with is one that this Makefile has.
targets=$(grep -oE '^RUN make .*' "$ROOT/packaging/Containerfile" | grep -oE '[a-z]+$' | sort -u)
is_str "$(xargs <<<"$targets")" 'all deps tarball' 'the image is built by make'
for target in $targets; do
    ok "the target $target of the image exists" \
        grep -qE "^(\.PHONY: .*\b)?$target\b" "$ROOT/Makefile" "$ROOT/packaging/packages.mk"
done
if command -v rpmspec >/dev/null; then
    run_expect_status 0 'the RPM spec is well-formed' rpmspec -q --define 'flame_version 1.2' \
        --qf '%{name} %{version}\n' "$ROOT/packaging/rpm/flame.spec"
    is_str "$(cat out)" 'flame 1.2
libflamemem 1.2
libflamemem-devel 1.2' 'the RPM spec has three packages'
    # The recorder of musl programs is in the second where musl-gcc is, and only if it is wanted.
    for with in with without; do
        rpmspec -P --$with musl --define 'flame_version 1.2' "$ROOT/packaging/rpm/flame.spec" >$with
    done
    is_str "$(grep -oE 'MUSL_GCC=[^ ]*|^BuildRequires:.*musl.*' with | sed 's/: */: /' | xargs)" \
        'BuildRequires: /usr/bin/musl-gcc MUSL_GCC=musl-gcc MUSL_GCC=musl-gcc' \
        'the RPM spec builds and installs the recorder of musl programs'
    is_str "$(grep -oE 'MUSL_GCC=[^ ]*|^BuildRequires:.*musl.*' without | xargs)" 'MUSL_GCC= MUSL_GCC=' \
        'the RPM spec leaves the recorder of musl programs out if it is not wanted'
    # Each installed file is in one of them: rpmbuild would refuse another one, minutes later.
    rpmspec -P --define 'flame_version 1.2' --define '_prefix /usr' "$ROOT/packaging/rpm/flame.spec" >spec
    sed -n '/^%files/,$p' spec | grep '^/' | sed 's|^/usr/lib64/flame$|/usr/lib/some-processor/flame|' >packed
    is_str "$(cd dest && find usr -type f | while read -r file; do
        while read -r pattern; do
            # shellcheck disable=SC2254 # a pattern
            case /$file in $pattern | "$pattern"/*) continue 2 ;; esac
        done <../packed
        echo "$file"
    done)" '' 'each installed file is in an RPM package'
else
    skip rpm 'there is no rpmspec'
fi

done_testing
