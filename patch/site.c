#include "patch/site.h"

static const char *const kinds[SITE_KINDS] = {
    [SITE_NONE] = "none",   [SITE_NUMBER] = "number", [SITE_BEFORE] = "before",
    [SITE_AFTER] = "after", [SITE_CALL] = "call",
};

static const char *const reasons[SITE_REASONS] = {
    [SITE_FINE] = "fine",
    [SITE_RETURNS_TWICE] = "returns-twice",
    [SITE_SIGRETURN] = "sigreturn",
    [SITE_NO_STACK] = "no-stack",
    [SITE_CANCELLATION] = "cancellation",
    [SITE_JUMPED_INTO] = "jumped-into",
    [SITE_SWITCH] = "switch",
    [SITE_IMMOVABLE] = "immovable",
    [SITE_DOUBTFUL] = "doubtful",
};

const char *site_kind_name(unsigned kind)
{
    return kind < SITE_KINDS ? kinds[kind] : "?";
}

const char *site_reason_name(unsigned reason)
{
    return reason < SITE_REASONS ? reasons[reason] : "?";
}

/* The distances lie in the moved instructions, one after the other. */
static bool relatives_fit(const struct patch_site *s)
{
    unsigned least = s->kind == SITE_AFTER ? s->call_size : 1, end = s->length;

    if (s->kind != SITE_AFTER)
        end -= s->call_size;
    for (unsigned i = 0; i < SITE_RELATIVES; i++) {
        unsigned at = s->relative[i];

        if (!at) {
            least = SITE_WINDOW; /* a 0 ends the list: all later distances are refused */
            continue;
        }
        if (s->kind == SITE_NONE || s->kind == SITE_NUMBER || s->kind == SITE_CALL || at < least ||
            at + 4 > end)
            return false;
        least = at + 4;
    }
    return true;
}

/* Whether the call lies at the right place in its window. */
static bool call_fits(const struct patch_site *s)
{
    uint32_t before = s->call - s->at;

    switch (s->kind) {
    case SITE_NUMBER:
    case SITE_BEFORE:
        return before && before + s->call_size == s->length;
    case SITE_AFTER:
        return !before && s->call_size <= s->length;
    default:
        return !before && s->call_size == s->length;
    }
}

bool site_is_sound(const struct patch_site *s)
{
    if (s->kind >= SITE_KINDS || s->reason >= SITE_REASONS ||
        (s->kind == SITE_NONE) != (s->reason != SITE_FINE) || s->number < SITE_ANY_NUMBER ||
        !s->call_size || s->length > SITE_WINDOW || s->call < s->at ||
        s->at > UINT32_MAX - SITE_WINDOW || !call_fits(s) || !relatives_fit(s))
        return false;
    for (unsigned i = s->length; i < SITE_WINDOW; i++)
        if (s->bytes[i])
            return false;
    return true;
}

bool sites_are_sound(const struct patch_site *sites, size_t n)
{
    uint32_t end = 0;

    for (size_t i = 0; i < n; i++) {
        if (!site_is_sound(&sites[i]) || sites[i].at < end)
            return false;
        end = sites[i].at + sites[i].length;
    }
    return true;
}
