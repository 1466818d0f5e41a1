#define _GNU_SOURCE
#include "render/backends/textfit.h"

#include <stdbool.h>
#include <string.h>

#include "common/utf8.h"

/*
 * Advance widths of Verdana's ASCII characters in thousandths of the font size (from the font's
 * hmtx table). DejaVu Sans, which replaces it on most Linux machines, has nearly the same; most
 * other fonts are narrower.
 */
static const uint16_t ascii_width[95] = {
    352,  394, 459, 818, 636, 1076, 727, 269, 454, 454, 636, 818, 364, 454, 364, 454, /* SP to / */
    636,  636, 636, 636, 636, 636,  636, 636, 636, 636, 454, 454, 818, 818, 818, 545, /* 0 to ? */
    1000, 684, 686, 698, 771, 632,  575, 775, 751, 421, 455, 693, 557, 843, 748, 787, /* @ to O */
    603,  787, 695, 684, 616, 732,  684, 989, 685, 615, 685, 454, 454, 454, 818, 636, /* P to _ */
    636,  601, 623, 521, 623, 596,  352, 623, 633, 274, 344, 592, 274, 973, 633, 607, /* ` to o */
    623,  623, 427, 521, 394, 633,  592, 818, 592, 592, 525, 635, 454, 635, 818,      /* p to ~ */
};

#define MIN_CHARS 3 /* "a.." is no useful label */

static bool is_monospace(const char *fonttype)
{
    return strcasestr(fonttype, "mono") || strcasestr(fonttype, "courier") ||
           strcasestr(fonttype, "consol");
}

static double char_width(uint32_t cp, bool mono, double fontwidth)
{
    if (fontwidth > 0)
        return fontwidth;
    if (cp >= 0x1100) /* CJK and symbols: a square; wrong only on the safe side */
        return 1.0;
    if (mono)
        return 0.602;
    if (cp >= 0x20 && cp < 0x7f)
        return ascii_width[cp - 0x20] / 1000.0;
    return 0.7;
}

size_t textfit(const char *name, size_t len, double width, double fontsize, const char *fonttype,
               double fontwidth)
{
    double room = width / fontsize, dots, used = 0;
    size_t fits = 0, chars = 0;
    bool mono;

    if (room <= 0) /* most frames of a large picture */
        return 0;
    mono = is_monospace(fonttype);
    dots = 2 * char_width('.', mono, fontwidth);

    for (size_t i = 0; i < len;) {
        uint32_t cp = 0;
        size_t n = utf8_decode(name + i, len - i, &cp);

        used += char_width(n ? cp : 0xfffd, mono, fontwidth);
        if (used > room)
            return chars >= MIN_CHARS ? fits : 0;
        i += n ? n : 1;
        if (used + dots <= room) {
            fits = i;
            chars++;
        }
    }
    return len;
}

double textfit_width(const char *text, size_t len, double fontsize, const char *fonttype,
                     double fontwidth)
{
    bool mono = is_monospace(fonttype);
    double used = 0;

    for (size_t i = 0; i < len;) {
        uint32_t cp = 0;
        size_t n = utf8_decode(text + i, len - i, &cp);

        used += char_width(n ? cp : 0xfffd, mono, fontwidth);
        i += n ? n : 1;
    }
    return used * fontsize;
}
