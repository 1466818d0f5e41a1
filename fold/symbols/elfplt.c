/*
 * Names for PLT stubs.
 *
 * A stub has no symbol of its own. Its entry in the procedure linkage table
 * belongs to the relocation of the same place in .rela.plt, and that names the
 * function. Where the table is split in two (.plt.sec, for indirect branch
 * tracking) both halves keep that order; .plt alone begins with a header. Sizes
 * are those of the x86-64 and AArch64 ABIs; elsewhere stubs stay nameless.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "common/strbuf.h"
#include "fold/symbols/elfsym_impl.h"

static void name_stubs(struct elfsym *e, struct symtab *to, Elf_Data *relocs, size_t symbols,
                       uint64_t first, uint64_t end)
{
    Elf_Scn *scn = elf_getscn(e->elf, symbols);
    Elf_Data *syms = scn ? elf_getdata(scn, NULL) : NULL;
    size_t n = relocs->d_size / gelf_fsize(e->elf, ELF_T_RELA, 1, EV_CURRENT);
    GElf_Shdr sh;

    if (!syms || !syms->d_buf || !gelf_getshdr(scn, &sh))
        return;
    e->made = xreallocarray(e->made, e->nmade + n, sizeof *e->made);
    for (size_t i = 0; i < n && i < INT32_MAX && first < end; i++, first += 16) {
        struct strbuf sb = STRBUF_INIT;
        const char *name;
        GElf_Rela rela;
        GElf_Sym sym;
        size_t len;

        if (!gelf_getrela(relocs, (int)i, &rela) || GELF_R_SYM(rela.r_info) > INT32_MAX ||
            !gelf_getsym(syms, (int)GELF_R_SYM(rela.r_info), &sym))
            continue;
        name = elfsym_string(e, sh.sh_link, sym.st_name, &len);
        /* A stub for an address (IRELATIVE) has no name; a name too long is no loss. */
        if (!name || len == 0 || len > 4096)
            continue;
        strbuf_add(&sb, name, len);
        strbuf_addstr(&sb, "@plt");
        symtab_add(to, first, 16, 0, SYMTAB_RANK_LABEL, sb.buf, sb.len);
        e->made[e->nmade++] = strbuf_detach(&sb, NULL);
    }
}

void elfsym_add_plt(struct elfsym *e, struct symtab *to)
{
    GElf_Shdr rela, plt;
    Elf_Scn *scn = elfsym_section(e, ".rela.plt", &rela);
    Elf_Data *relocs = scn ? elf_getdata(scn, NULL) : NULL;
    GElf_Ehdr eh;
    uint64_t head;

    if (!relocs || !relocs->d_buf || rela.sh_type != SHT_RELA || !gelf_getehdr(e->elf, &eh))
        return;
    if (eh.e_machine != EM_X86_64 && eh.e_machine != EM_AARCH64)
        return;
    head = eh.e_machine == EM_X86_64 ? 16 : 32;
    if (elfsym_section(e, ".plt.sec", &plt))
        name_stubs(e, to, relocs, rela.sh_link, plt.sh_addr, plt.sh_addr + plt.sh_size);
    if (elfsym_section(e, ".plt", &plt) && plt.sh_size > head)
        name_stubs(e, to, relocs, rela.sh_link, plt.sh_addr + head, plt.sh_addr + plt.sh_size);
}
