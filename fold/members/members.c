#include "fold/members/members.h"

#include <stdlib.h>

#include "fold/members/memberpath.h"
#include "fold/members/varplaces.h"
#include "fold/symbols/elfsym.h"

/* A module's debug information. */
struct source {
    struct source *next;
    struct symbol_module *module;
    struct elfsym *bytes;
    struct dwarfread *dwarf; /* NULL: there is none */
    struct dwarf_units units;
    struct varplaces places;
    uint64_t variable, type; /* the variable that was asked for last, and its type */
    bool is_asked, is_known; /* there was one; it has a type */
};

struct members {
    struct symbols *symbols;
    struct source *sources; /* the one that was used last is the first */
};

struct members *members_new(struct symbols *s)
{
    struct members *m = xcalloc(1, sizeof *m);

    m->symbols = s;
    return m;
}

void members_free(struct members *m)
{
    while (m->sources) {
        struct source *s = m->sources;

        m->sources = s->next;
        varplaces_release(&s->places);
        free(s->units.at);
        dwarfread_close(s->dwarf);
        elfsym_close(s->bytes);
        free(s);
    }
    free(m);
}

struct known {
    struct symbols *symbols;
    struct symbol_module *module;
};

static bool is_variable(void *opaque, uint64_t address)
{
    const struct known *k = opaque;

    return symbols_is_object(k->symbols, k->module, address);
}

static void open_source(struct members *m, struct source *s)
{
    struct known known = {m->symbols, s->module};
    const uint8_t *info, *list;
    size_t len, list_len = 0;
    char *alternate = NULL, *path = symbols_debug_file(m->symbols, s->module, &alternate);

    s->bytes = path ? elfsym_open(path) : NULL;
    s->dwarf = s->bytes ? dwarfread_open(path, alternate) : NULL;
    if (s->dwarf) {
        dwarftype_units(s->dwarf, &s->units);
        info = elfsym_bytes(s->bytes, ".debug_info", &len);
        list = elfsym_bytes(s->bytes, ".debug_addr", &list_len);
        varplaces_init(&s->places, &s->units, info, info ? len : 0);
        varplaces_find(&s->places, list, list_len, is_variable, &known);
    }
    free(path);
    free(alternate);
}

static struct source *source_of(struct members *m, struct symbol_module *module)
{
    struct source **at = &m->sources, *s;

    while (*at && (*at)->module != module)
        at = &(*at)->next;
    s = *at;
    if (s) {
        *at = s->next;
    } else {
        s = xcalloc(1, sizeof *s);
        s->module = module;
        open_source(m, s);
    }
    s->next = m->sources;
    m->sources = s;
    return s;
}

static bool take_place(void *opaque, uint64_t unit, uint64_t place)
{
    struct source *s = opaque;

    s->is_known = dwarftype_of_variable(s->dwarf, unit, place, s->variable, &s->type);
    return s->is_known;
}

bool members_name(struct members *m, struct symbol_module *module, uint64_t variable,
                  uint64_t offset, struct strbuf *to)
{
    struct source *s;

    symbols_note_reading(m->symbols, module);
    s = source_of(m, module);
    if (!s->dwarf)
        return false;
    if (!s->is_asked || s->variable != variable) {
        s->is_asked = true;
        s->is_known = false;
        s->variable = variable;
        varplaces_each(&s->places, variable, take_place, s);
    }
    return s->is_known && memberpath(s->dwarf, s->type, offset, to);
}
