/*
 * libdwarf changed two signatures when it became 0.x: dwarf_init_b lost an argument, and so did
 * dwarf_finish. The compiler selects the present ones.
 */
#include "fold/symbols/dwarfdie.h"

typedef int (*finish_with_error)(Dwarf_Debug, Dwarf_Error *);
typedef int (*finish_alone)(Dwarf_Debug);
typedef int (*init_with_access)(int, Dwarf_Unsigned, unsigned, Dwarf_Handler, Dwarf_Ptr,
                                Dwarf_Debug *, Dwarf_Error *);
typedef int (*init_without)(int, unsigned, Dwarf_Handler, Dwarf_Ptr, Dwarf_Debug *, Dwarf_Error *);
typedef void (*any_function)(void);

void dwarfdie_finish(Dwarf_Debug dbg)
{
    any_function f = (any_function)dwarf_finish;

    if (_Generic(&dwarf_finish, finish_with_error : 1, default : 0)) {
        finish_with_error with_error = (finish_with_error)f;
        Dwarf_Error err = NULL;

        with_error(dbg, &err);
    } else {
        finish_alone alone = (finish_alone)f;

        alone(dbg);
    }
}

Dwarf_Debug dwarfdie_init(int fd)
{
    any_function f = (any_function)dwarf_init_b;
    Dwarf_Debug dbg = NULL;
    Dwarf_Error err = NULL;
    int res;

    if (_Generic(&dwarf_init_b, init_with_access : 1, default : 0)) {
        init_with_access with_access = (init_with_access)f;

        res = with_access(fd, 0, 0, NULL, NULL, &dbg, &err);
    } else {
        init_without without = (init_without)f;

        res = without(fd, 0, NULL, NULL, &dbg, &err);
    }
    if (res == DW_DLV_OK)
        return dbg;
    if (res == DW_DLV_ERROR)
        dwarf_dealloc(dbg, err, DW_DLA_ERROR);
    return NULL;
}

bool dwarfdie_good(Dwarf_Debug dbg, int res, Dwarf_Error *err)
{
    if (res == DW_DLV_ERROR && *err)
        dwarf_dealloc(dbg, *err, DW_DLA_ERROR);
    *err = NULL;
    return res == DW_DLV_OK;
}

void dwarfdie_drop(Dwarf_Debug dbg, Dwarf_Die die)
{
    if (die)
        dwarf_dealloc(dbg, die, DW_DLA_DIE);
}

Dwarf_Attribute dwarfdie_attribute(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half which)
{
    Dwarf_Attribute attr = NULL;
    Dwarf_Error err = NULL;

    return dwarfdie_good(dbg, dwarf_attr(die, which, &attr, &err), &err) ? attr : NULL;
}

bool dwarfdie_has_number(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half which, uint64_t *value)
{
    Dwarf_Attribute attr = dwarfdie_attribute(dbg, die, which);
    Dwarf_Unsigned number = 0;
    Dwarf_Signed negative = 0;
    Dwarf_Error err = NULL;
    bool found;

    if (!attr)
        return false;
    found = dwarfdie_good(dbg, dwarf_formudata(attr, &number, &err), &err);
    if (!found) {
        found = dwarfdie_good(dbg, dwarf_formsdata(attr, &negative, &err), &err) && negative >= 0;
        number = (Dwarf_Unsigned)negative;
    }
    dwarf_dealloc(dbg, attr, DW_DLA_ATTR);
    if (found)
        *value = number;
    return found;
}

uint64_t dwarfdie_number(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half which)
{
    uint64_t value = 0;

    return dwarfdie_has_number(dbg, die, which, &value) ? value : 0;
}

bool dwarfdie_reference(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half which, uint64_t *to)
{
    Dwarf_Attribute attr = dwarfdie_attribute(dbg, die, which);
    Dwarf_Off off = 0;
    Dwarf_Half form = 0;
    Dwarf_Error err = NULL;
    bool found;

    if (!attr)
        return false;
    found = dwarfdie_good(dbg, dwarf_whatform(attr, &form, &err), &err) &&
            dwarfdie_good(dbg, dwarf_global_formref(attr, &off, &err), &err);
    *to = off;
    if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8)
        *to |= IN_ALTERNATE;
    dwarf_dealloc(dbg, attr, DW_DLA_ATTR);
    return found;
}

const char *dwarfdie_string(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half which)
{
    Dwarf_Attribute attr = dwarfdie_attribute(dbg, die, which);
    Dwarf_Error err = NULL;
    char *s = NULL;

    if (!attr)
        return NULL;
    if (!dwarfdie_good(dbg, dwarf_formstring(attr, &s, &err), &err))
        s = NULL;
    dwarf_dealloc(dbg, attr, DW_DLA_ATTR);
    return s;
}

void dwarfdie_units(Dwarf_Debug dbg, void (*visit)(Dwarf_Debug dbg, Dwarf_Die die, void *arg),
                    void *arg)
{
    for (;;) {
        Dwarf_Unsigned length, type_offset, next;
        Dwarf_Half version, address_size, length_size, extension_size, type;
        Dwarf_Off abbrev;
        Dwarf_Sig8 signature;
        Dwarf_Error err = NULL;
        Dwarf_Die die = NULL;

        if (!dwarfdie_good(dbg,
                           dwarf_next_cu_header_d(dbg, 1, &length, &version, &abbrev, &address_size,
                                                  &length_size, &extension_size, &signature,
                                                  &type_offset, &next, &type, &err),
                           &err))
            return;
        if (!dwarfdie_good(dbg, dwarf_siblingof_b(dbg, NULL, 1, &die, &err), &err))
            continue;
        visit(dbg, die, arg);
        dwarfdie_drop(dbg, die);
    }
}

Dwarf_Die dwarfdie_at(Dwarf_Debug dbg, uint64_t offset)
{
    Dwarf_Error err = NULL;
    Dwarf_Die die = NULL;

    return dwarfdie_good(dbg, dwarf_offdie_b(dbg, offset, 1, &die, &err), &err) ? die : NULL;
}

Dwarf_Half dwarfdie_tag(Dwarf_Debug dbg, Dwarf_Die die)
{
    Dwarf_Error err = NULL;
    Dwarf_Half tag = 0;

    return dwarfdie_good(dbg, dwarf_tag(die, &tag, &err), &err) ? tag : 0;
}

Dwarf_Die dwarfdie_next(Dwarf_Debug dbg, Dwarf_Die die)
{
    Dwarf_Error err = NULL;
    Dwarf_Die next = NULL;
    bool found = dwarfdie_good(dbg, dwarf_siblingof_b(dbg, die, 1, &next, &err), &err);

    dwarfdie_drop(dbg, die);
    return found ? next : NULL;
}

Dwarf_Die dwarfdie_first(Dwarf_Debug dbg, Dwarf_Die die)
{
    Dwarf_Error err = NULL;
    Dwarf_Die child = NULL;

    return dwarfdie_good(dbg, dwarf_child(die, &child, &err), &err) ? child : NULL;
}
