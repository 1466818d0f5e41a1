#!/usr/bin/env bash
# Under an auditor the loader allocates while it relocates: no hook enters the loader then.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

cat >auditor.c <<'EOF'
#define _GNU_SOURCE
#include <link.h>
unsigned int la_version(unsigned int version)
{
    return version;
}
unsigned int la_objopen(struct link_map *map, Lmid_t ns, uintptr_t *cookie)
{
    (void)map, (void)ns, (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
/* That it wants to see calls is what makes the loader keep a table of them. */
#if defined(__x86_64__)
Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym *sym, unsigned int ndx, uintptr_t *from,
                                  uintptr_t *to, La_x86_64_regs *regs, unsigned int *flags,
                                  const char *name, long int *size)
#elif defined(__aarch64__)
Elf64_Addr la_aarch64_gnu_pltenter(Elf64_Sym *sym, unsigned int ndx, uintptr_t *from,
                                   uintptr_t *to, La_aarch64_regs *regs, unsigned int *flags,
                                   const char *name, long int *size)
#endif
{
    (void)ndx, (void)from, (void)to, (void)regs, (void)flags, (void)name, (void)size;
    return sym->st_value;
}
EOF
ok 'the auditor is built' "${CC:-gcc}" -shared -fPIC -O1 -o auditor.so auditor.c
compile_victim known

record "" ./known
is_int "$status" 0 'known without an auditor ends with status 0'
fview count | from_main >plain
status=0
LD_AUDIT=$SCRATCH/auditor.so record "" ./known
is_int "$status" 0 'known under an auditor ends with status 0'
is_str "$(cat err)" "" 'known under an auditor prints no error'
ok 'known without an auditor is recorded' test -s plain
is_str "$(fview count | from_main)" "$(cat plain)" 'known under an auditor has the same calls in its trace'

sotruss=$(command -v sotruss) || skip_all sotruss "no sotruss"
record "" "$sotruss" -o "$SCRATCH/calls" ./known
is_int "$status" 0 'known under sotruss ends with status 0'
done_testing
