/*
 * ---- page_legend.js: the line below the graph: the total, and the meaning of colours ----
 *
 * render/backends/legend.c does this for pictures.
 */

const SCALE_STEPS = 9, LEGEND_PACKAGES = 4;
const KIND_WORDS = { user: "the program", kernel: "kernel", jit: "made at run time (JIT)",
    inlined: "inlined", waker: "who woke it", cold: "off CPU" };
const HOP_WORDS = ["", "who woke it", "who woke that one", "3 wakes before", "4 wakes before",
    "5 wakes before, and so on"];

const scaleOf = (color, from) => Array.from({ length: SCALE_STEPS }, (_, i) =>
    color(from + (1 - from) * i / (SCALE_STEPS - 1)));
const swatch = (color, text) => ["", [color], text];

/* Keys of a comparison's colours, or of ratios to another column: the ends of the scale. */
function changeKeys(app, graph, { mode, per }) {
    const colors = scaleOf((share) => changeColor(share, app.dark), -1);
    const withSign = (v) => (v < 0 ? "" : "+") + formatShort(v, graph.unit);
    if (mode === "relative")
        return [["Change of a frame, against itself: gone", colors, "new"]];
    if (mode === "ratio" || per) {
        const was = per ? per.was[0] : graph.was[0], now = per ? per.now[0] : graph.now[0];
        const short = (v) => per ? formatShort(Number(v.toPrecision(3)), graph.unit) :
            String(Number(v.toPrecision(3)));
        const what = per ? `For each of ${per.other.name || per.other.unit}: ` :
            "Second count for each of the first: ";
        return [was > 0 && now > 0 ? [what + "\u2264 " + short(now / was / 4), colors,
            `\u2265 ${short(4 * now / was)}; of all ${short(now / was)}`] :
            [what + "less", colors, "more"]];
    }
    const largest = largestChange(graph, app.state.carry);
    if (!(largest > 0))
        return [["Nothing changed", [], ""]];
    return [[(app.state.carry ? "Change of a frame and all it calls: " :
        "Change of a frame itself: ") + withSign(-largest), colors, withSign(largest)]];
}

/* Kinds whose colour is not their package's. */
const OWN_COLOURS = ["separator", "cold", "waker"];

/*
 * Packages by their own counts, the largest first; then those that only call others, by their
 * largest frame, because their colours are visible as well.
 */
function packageKeys(app, graph) {
    const { profile, dark } = app, { n: frames, name, own, total } = graph;
    const sums = new Float64Array(profile.names.length), around = new Float64Array(sums.length);
    for (let i = 1; i < frames; i++) {
        sums[name[i]] += own[i];
        around[name[i]] = Math.max(around[name[i]], total[i]);
    }
    const packages = new Map();
    for (let n = 0; n < sums.length; n++) {
        const v = sums[n];
        if (!(v > 0 || around[n] > 0) || OWN_COLOURS.includes(profile.kinds[n]) || /^\[.* to .*\]$|^\[longest /.test(profile.names[n]))
            continue;
        const key = moduleOfName(profile, n) || packageOf(profile.names[n]), so = packages.get(key) || [0, n, 0, 0];
        packages.set(key, [so[0] + v, v > so[2] ? n : so[1], Math.max(v, so[2]), Math.max(around[n], so[3])]);
    }
    const color = colorist(profile, { name: [...profile.names.keys()] }, "package", dark, null);
    const most = [...packages].sort(([, a], [, b]) => b[0] - a[0] || b[3] - a[3]);
    return most.slice(0, LEGEND_PACKAGES).map(([key, [, n]]) =>
        swatch(color(n), shorten(key || "(no name)", 28)));
}

function colorKeys(app, chart, graph) {
    const { profile, dark } = app, colors = app.colorsOf(chart, graph), { mode } = colors;
    if (colors.per || (CHANGE_MODES.includes(mode) && graph.change))
        return changeKeys(app, graph, colors);
    if (mode === "own" || mode === "total") {
        const v = mode === "own" ? graph.own : graph.total;
        let most = 0;
        for (let i = 1; i < graph.n; i++)
            most = Math.max(most, v[i]);
        return [[(mode === "own" ? "Self: " : "Total of a frame: ") + formatShort(0, graph.unit),
            scaleOf((share) => heat(share, dark), 0), formatShort(most, graph.unit)]];
    }
    /* Only wakers of the shown column count: other columns may have some, and memory has none. */
    const hops = countHops(profile, graph);
    const most = !hops ? 0 : Math.min(HOP_WORDS.length - 1,
        hops.reduce((a, b, i) => graph.total[i] > 0 ? Math.max(a, b) : a, 0));
    if (most > 0) {
        return [["Sleepers by " + (mode === "name" ? "name" : mode === "kind" ? "kind" : "package"), [], ""],
            ...HOP_WORDS.slice(1, most + 1).map((word, i) =>
                swatch(lookShade(HOP_LOOKS[i % HOP_LOOKS.length], "", dark), word)),
            swatch(bandColor("thread"), "name of a thread")];
    }
    if (mode === "kind") {
        const kinds = new Set(Array.from(graph.name, (n, i) => i && graph.total[i] > 0 ? profile.kinds[n] : ""));
        return Object.keys(KIND_WORDS).filter((kind) => kinds.has(kind)).map((kind) =>
            swatch(lookShade(KIND_LOOKS[kind], "", dark), KIND_WORDS[kind]));
    }
    if (mode === "name")
        return [["Colours tell names apart and mean nothing else", [], ""]];
    const cold = profile.kinds.includes("cold") &&
        graph.name.some((n, i) => graph.total[i] > 0 && profile.kinds[n] === "cold");
    /* A frame of callers has the counts of its stacks' outermost frames; the table's graph has the
     * owner of each count. */
    return [["Hues by package, shades by name", [], ""], ...packageKeys(app, chart.reversed ? app.topGraph : graph),
        ...cold ? [swatch(lookShade(KIND_LOOKS.cold, "", dark), KIND_WORDS.cold)] : []];
}

function markKeys(app, graph) {
    const { profile, dark } = app, colors = ["", "", dark ? "#000000" : "#26262b", "#ffffff"];
    return profile.elided && graph.column === profile.elided.column ?
        [swatch(colors[GONE], "only before"), swatch(colors[NEW], "only after")] : [];
}

/* Rebuilt only when its inputs change. */
function showLegend(app) {
    const host = byId("legend"), chart = app.mainChart(), graph = app.mainGraph;
    host.hidden = app.state.view === "table" || !graph;
    if (host.hidden)
        return;
    const key = [app.state.color, app.state.carry, app.dark, graph.total[0]].join();
    if (host.graph === graph && host.key === key)
        return;
    host.graph = graph;
    host.key = key;
    const all = graph.total[0], short = formatShort(all, graph.unit), exact = formatExact(all, graph.unit);
    const total = "Total " + (short === exact || exact.startsWith(short + " ") ? exact : `${short}, ${exact}`);
    host.replaceChildren(...[[total, [], ""], ...colorKeys(app, chart, graph), ...markKeys(app, graph)]
        .map(([before, colors, after]) => {
            const scale = element("span", colors.length > 1 ? "scale" : "swatch");
            scale.append(...colors.map((color) => {
                const step = element("i");
                step.style.background = color;
                return step;
            }));
            return element("span", "legend-key", ...[before, colors.length ? scale : "", after].filter(Boolean));
        }));
}
