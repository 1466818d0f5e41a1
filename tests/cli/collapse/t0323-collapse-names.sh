#!/usr/bin/env bash
# Names as programmers wrote them, whatever the profiler printed; the Perl scripts' with --compat perl.
. "${0%/*}/../lib.sh"

cat >perf.txt <<'EOF'
bash  90/90   1.000001: PERF_RECORD_COMM exec: app:90/90
app  90/90   1.000002: PERF_RECORD_FORK(91:91):(90:90)
app  90/90   1.000003: PERF_RECORD_MMAP2 90/90: [0x5555(0x1000) @ 0 08:01 123 0]: r-xp /app
app 90/91 1.5: 10 cycles:
	ffffffff81 do_sys (/usr/lib/debug/boot/vmlinux-6.1.0-13-amd64)
	ffffffff82 ext4_read (/lib/modules/6.1.0-13-amd64/kernel/fs/ext4/ext4.ko.xz)
	55550001 core::ptr::drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$::h0123456789abcdef+0x7 (/app)
	55550002 _ZN3std2io5Write9write_all17h0123456789abcdefE+0x1f (/app)
	7f000001 foo (/root/.debug/jit/llvm-IR-jit-20261124/jitted-90-12.so)
	7f000003 bar (/opt/jitted-up.so)
	7f000004 baz (/root/.debug/jit/llvm-IR-jit-20261124/jit-90.dump)
	7f000005 qux (/opt/jit-up.dump)
	55550003 scala.Foo$C$bar (/app)

app  90/91   1.600000: PERF_RECORD_EXIT(91:91):(90:90)
app  90/90   1.700000: PERF_RECORD_SWITCH OUT
EOF
stack='app;scala.Foo$C$bar;qux;baz;bar;foo;std::io::Write::write_all;core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>;ext4_read;do_sys 10'
run_expect_status 0 'perf script with odd names: collapse succeeds' "$FLAME" collapse perf.txt
is_str "$(cat out)" "$stack" 'perf: names are demangled, and task events are no samples'
marked=${stack/;foo;/;foo_[j];}
marked=${marked/;baz;/;baz_[j];}
marked=${marked/ext4_read/ext4_read_[k]}
is_str "$("$FLAME" collapse --kernel --jit perf.txt)" "${marked/do_sys/do_sys_[k]}" \
    'vmlinux-VERSION and modules are the kernel, jitted-*.so and jit-PID.dump are made code'
# shellcheck disable=SC2016 # a name
is_str "$("$FLAME" collapse --compat perl --kernel --jit perf.txt)" \
    'app 1
app;scala.Foo$C$bar;qux;baz;bar;foo;_ZN3std2io5Write9write_all17h0123456789abcdefE;core::ptr::drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$::h0123456789abcdef;ext4_read;do_sys 10' \
    '--compat perl keeps names as printed'

cat >dtrace.txt <<'EOF'

              app`_ZN2ns1fIiEEvT_+0x12
              app`_ZN3std2rt10lang_start17h0123456789abcdefE+0x3
              app`main+0x1
               12

EOF
is_str "$("$FLAME" collapse dtrace.txt)" 'app`main;app`std::rt::lang_start;app`void ns::f<int>(int) 12' \
    'dtrace: names after a module are demangled'
# shellcheck disable=SC2016 # the same
is_str "$("$FLAME" collapse --compat perl dtrace.txt)" \
    'app`main;app`_ZN3std2rt10lang_start17h0123456789abcdefE;app`_ZN2ns1fIiEEvT_ 12' \
    'dtrace: --compat perl keeps names as printed'

# Two functions of one name are one, as everywhere in flame.
printf 'a;f::h0123456789abcdef 1\n' >x.folded
is_str "$("$FLAME" collapse x.folded)" 'a;f::h0123456789abcdef 1' 'collapse of folded text keeps names'
done_testing
