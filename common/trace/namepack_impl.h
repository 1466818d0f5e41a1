/* namepack_impl.h: internals of a pack of names, for namepack.c and namepack_bytes.c. */
#ifndef FLAME_COMMON_TRACE_NAMEPACK_IMPL_H
#define FLAME_COMMON_TRACE_NAMEPACK_IMPL_H

#include <uthash.h>

#include "common/trace/namepack.h"

struct namepack_module {
    char *key; /* path, NUL, build-id or layout */
    size_t key_len;
    const char *path;  /* points into the key, as do the next */
    const uint8_t *id; /* id_len bytes, or the layout's four */
    size_t id_len;
    uint32_t layout;
    enum namepack_state state;
    struct namepack_place *places; /* the first `sorted` of them are in order, and one an address */
    size_t nplaces, sorted_places, places_room;
    struct namepack_object *objects; /* sorted like places */
    size_t nobjects, sorted_objects, objects_room;
    UT_hash_handle hh;
};

struct namepack_string {
    uint32_t number;
    size_t len;
    UT_hash_handle hh;
    char text[]; /* NUL-terminated */
};

struct namepack {
    struct namepack_module *modules;  /* a hash by key, in the order they were added */
    struct namepack_string *by_text;  /* a hash */
    struct namepack_string **strings; /* by number; [0] is none */
    size_t nstrings, strings_room;
    struct namepack_frame *frames;
    size_t nframes, frames_room;
    struct namepack_code *made; /* sorted once the pack is finished */
    size_t nmade, made_room;
};

#endif
