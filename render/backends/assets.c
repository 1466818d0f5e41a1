/*
 * The files under render/assets, put into the program by the assembler. Its
 * .incbin is one line a file and the same for gcc and clang; a generator that
 * prints arrays would be one more program to build first, and its output slow
 * to compile.
 */
#include "render/backends/assets.h"

#define FILE_BYTES(file) ".incbin \"render/assets/" file "\"\n"

#define ASSET(name, bytes)                                                                         \
    __asm__(".pushsection .rodata\n"                                                               \
            ".globl " #name ", " #name "_end\n" #name ":\n" bytes #name "_end:\n"                  \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char name##_end[] __attribute__((visibility("hidden")));                          \
    size_t name##_len(void)                                                                        \
    {                                                                                              \
        return (size_t)(name##_end - name);                                                        \
    }

/* A script is several files, one a line; each uses the ones above it. */
/* clang-format off */
ASSET(asset_svg_js,
      FILE_BYTES("regex.js")
      FILE_BYTES("svg/svg_frames.js")
      FILE_BYTES("svg/svg_findings.js")
      FILE_BYTES("svg/svg_address.js")
      FILE_BYTES("svg/svg_search.js")
      FILE_BYTES("svg/svg_legend.js")
      FILE_BYTES("svg/svg_keys.js"))
ASSET(asset_svg_css, FILE_BYTES("svg/svg.css"))
ASSET(asset_svg_dark_css, FILE_BYTES("svg/svg_dark.css"))
ASSET(asset_page_html, FILE_BYTES("page/page.html"))
ASSET(asset_page_css,
      FILE_BYTES("page/page.css")
      FILE_BYTES("page/page_table.css")
      FILE_BYTES("page/page_lanes.css")
      FILE_BYTES("page/page_share.css")
      FILE_BYTES("page/page_worker.css")
      FILE_BYTES("page/page_findings.css")
      FILE_BYTES("page/page_everyone.css"))
ASSET(asset_page_js,
      FILE_BYTES("page/page_format.js")
      FILE_BYTES("page/page_profile.js")
      FILE_BYTES("page/page_graph.js")
      FILE_BYTES("page/page_merge.js")
      FILE_BYTES("page/page_callers.js")
      FILE_BYTES("page/page_lines.js")
      FILE_BYTES("page/page_moment_columns.js")
      FILE_BYTES("page/page_timeline.js")
      FILE_BYTES("page/page_lanedata.js")
      FILE_BYTES("page/page_lanechains.js")
      FILE_BYTES("page/page_compare.js")
      FILE_BYTES("page/page_color.js")
      FILE_BYTES("page/page_places.js")
      FILE_BYTES("regex.js")
      FILE_BYTES("page/page_search.js")
      FILE_BYTES("page/page_classes.js")
      FILE_BYTES("page/page_columns.js")
      FILE_BYTES("page/page_latency.js")
      FILE_BYTES("page/page_lanesleeps.js")
      FILE_BYTES("page/page_state.js")
      FILE_BYTES("page/page_draw.js")
      FILE_BYTES("page/page_flamegraph.js")
      FILE_BYTES("page/page_minimap.js")
      FILE_BYTES("page/page_table.js")
      FILE_BYTES("page/page_popups.js")
      FILE_BYTES("page/page_play.js")
      FILE_BYTES("page/page_memory_chart.js")
      FILE_BYTES("page/page_lanepath.js")
      FILE_BYTES("page/page_laneregions.js")
      FILE_BYTES("page/page_lanesearch.js")
      FILE_BYTES("page/page_lanes.js")
      FILE_BYTES("page/page_laneapp.js")
      FILE_BYTES("page/page_notes.js")
      FILE_BYTES("page/page_export.js")
      FILE_BYTES("page/page_share.js")
      FILE_BYTES("page/page_findings.js")
      FILE_BYTES("page/page_legend.js")
      FILE_BYTES("page/page_noise.js")
      FILE_BYTES("page/page_read.js")
      FILE_BYTES("page/page_drop.js")
      FILE_BYTES("page/page_everyone.js")
      FILE_BYTES("page/page_app.js")
      FILE_BYTES("page/page_zoom.js")
      FILE_BYTES("page/page_screen.js")
      FILE_BYTES("page/page_acts.js")
      FILE_BYTES("page/page_worker.js")
      FILE_BYTES("page/page_main.js"))
/* clang-format on */
