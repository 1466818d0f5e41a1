/*
 * ---- page_classes.js: sizes of blocks, and their lifetimes ----
 *
 * If a recording has classes, stacks of the columns "sizes" and "lifetimes" end in a frame that
 * names a class: "[33 to 64 bytes]", "[1ms to 2ms]", and for blocks that live at the end "[live: 1s
 * to 2s]". Classes are drawn as histograms, of bytes, on axes that are logarithmic like the
 * classes; the table has medians. Both cover the whole run.
 */

const CLASS_UNITS = { bytes: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4,
    ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };

const CLASS_VIEWS = ["sizes", "lifetimes"];

/* {kind, from, to, unit, known}, or null: the name is no class. */
function readClass(name) {
    const m = /^\[(live: )?(?:(under )|(no birth known)|)(?:(\d+)([a-z]*))?(?: to (\d+)([a-z]*)| and more)?( bytes(?: and more)?)?\]$/.exec(name);
    if (!m || (m[4] === undefined && !m[3]))
        return null;
    const kind = m[8] ? "size" : m[1] ? "age" : "life";
    const amount = (n, unit) => Number(n) * (CLASS_UNITS[unit || "bytes"] || 0);
    const from = m[2] || m[3] ? 0 : amount(m[4], m[5]);
    const to = m[2] ? amount(m[4], m[5]) : m[6] ? amount(m[6], m[7]) : Infinity;
    const unit = kind === "size" || /^[kmgt]?$/.test(m[5] || "") ? "bytes" : "s";
    return { kind, from, to, unit, known: !m[3] };
}

/* Nodes of the profile that are classes, by kind: "size", or "life" for lifetimes and ages. */
function findClasses(profile) {
    if (profile.classes !== undefined)
        return profile.classes;
    const { shape, names, columns } = profile, known = new Map(), found = { size: [], life: [] };
    for (const [key, view] of [["size", "sizes"], ["life", "lifetimes"]]) {
        const column = columns.find((c) => c.name === view);
        for (let i = 1; column && i < shape.n; i++) {
            if (!(column.own[i] > 0))
                continue;
            if (!known.has(shape.name[i]))
                known.set(shape.name[i], readClass(names[shape.name[i]]));
            const c = known.get(shape.name[i]);
            if (c && c.known && (c.kind === "size") === (key === "size"))
                found[key].push({ node: i, bytes: column.own[i], ...c });
        }
    }
    profile.classes = found.size.length + found.life.length ? found : null;
    return profile.classes;
}

/* Sums by class, the smallest first: [{from, to, unit, bytes, live}]. */
function sumClasses(list) {
    const sums = new Map();
    for (const c of list) {
        const at = sums.get(c.from) || { from: c.from, to: c.to, unit: c.unit, bytes: 0, live: 0 };
        at.bytes += c.bytes;
        at.live += c.kind === "age" ? c.bytes : 0;
        sums.set(c.from, at);
    }
    return [...sums.values()].sort((a, b) => a.from - b.from);
}

/* The class in which half of all bytes are reached. */
function medianClass(classes) {
    const all = classes.reduce((a, c) => a + c.bytes, 0);
    let sum = 0;
    return classes.find((c) => (sum += c.bytes) >= all / 2) || null;
}

/* "64 B", "2 KiB", "5 ms", "over 512 MiB" */
function formatClass(c) {
    const end = Number.isFinite(c.to) ? c.to : c.from;
    const text = c.unit === "bytes" ? formatShort(end, "bytes").replace(/\.0+ /, " ") : classTime(end);
    return (Number.isFinite(c.to) ? "" : "over ") + text;
}

function classTime(s) {
    const [unit, scale] = s < 0.9995e-3 ? ["\u00b5s", 1e6] : s < 0.9995 ? ["ms", 1e3] : ["s", 1];
    return `${groups.format(Number((s * scale).toPrecision(3)))} ${unit}`;
}

/* Classes of the blocks of a graph's frame, or of its symbol where frames are callers. */
function classesOf(chart, node) {
    const all = findClasses(chart.profile), test = nodeTest(chart, node), found = {};
    if (!all)
        return null;
    for (const key of ["size", "life"])
        found[key] = sumClasses(all[key].filter((c) => test(c.node)));
    return found.size.length + found.life.length ? found : null;
}

/* End of the class that follows the one ending at `to`: sizes and bytes double, times are 1, 2,
 * 5. */
function nextBound(to, unit) {
    const digits = unit === "s" ? Math.round(to / 10 ** Math.floor(Math.log10(to * 1.0001))) : 1;
    return to * (digits === 2 ? 2.5 : 2);
}

/* Adds the empty classes between others, so that they have their place on the axis. */
function withGaps(classes) {
    const all = [];
    for (const c of classes) {
        for (let last = all[all.length - 1], left = 40; last && last.to * 1.001 + 1e-9 < c.from && left &&
            !(last.unit === "bytes" && last.to + 1 >= c.from); left--) {
            last = { from: last.to, to: nextBound(last.to, c.unit), unit: c.unit, bytes: 0, live: 0 };
            all.push(last);
        }
        all.push(c);
    }
    return all;
}

/* One bar for each class; blocks that live at the end are hatched. */
function histogram(title, classes) {
    if (!classes.length)
        return [];
    const most = classes.reduce((a, c) => Math.max(a, c.bytes), 0), bars = element("div", "hist-bars");
    const all = classes.reduce((a, c) => a + c.bytes, 0), median = medianClass(classes);
    for (const c of withGaps(classes)) {
        const bar = element("div", c === median ? "hist-bar median" : "hist-bar");
        bar.style.height = c.bytes > 0 ? Math.max(4, 100 * c.bytes / most) + "%" : "0";
        if (c.live > 0)
            bar.append(element("div", "hist-live"));
        if (c.live > 0)
            bar.firstChild.style.height = 100 * c.live / c.bytes + "%";
        bars.append(bar);
    }
    const top = classes.find((c) => c.bytes === most);
    return [element("div", "hist", element("div", "tip-row", element("span", "tip-label", title),
        element("span", "tip-value", `half ${Number.isFinite(median.to) ? "up to " : ""}${formatClass(median)}`)), bars,
    element("div", "tip-row hist-axis", element("span", "", "up to " + formatClass(classes[0]).replace("over ", "")),
        element("span", "", `${formatPercent(top.bytes, all)} in the highest`),
        element("span", "", formatClass(classes[classes.length - 1]))))];
}

function classRows(chart, node) {
    const found = classesOf(chart, node);
    if (!found)
        return [];
    const live = found.life.some((c) => c.live > 0);
    return [...histogram("Sizes of blocks", found.size),
        ...histogram(live ? "Lifetimes (hatched: live at the end)" : "Lifetimes", found.life)];
}

/*
 * By name: {size, lived, young}: medians, and the share of bytes that died young. A stack counts
 * once for each name in it.
 */
function classesByName(profile) {
    const all = findClasses(profile);
    if (!all || profile.byClass)
        return profile.byClass || null;
    const { parent, name, n } = profile.shape, of = new Map();
    const visit = (i, take) => {
        const seen = new Set();
        for (; i > 0; i = parent[i])
            if (!seen.has(name[i])) {
                seen.add(name[i]);
                if (!of.has(name[i]))
                    of.set(name[i], { size: [], life: [], short: 0, all: 0 });
                take(of.get(name[i]));
            }
    };
    for (const key of ["size", "life"])
        for (const c of all[key])
            visit(parent[c.node], (at) => {
                at[key].push(c);
                if (key === "life")
                    at.all += c.bytes;
            });
    const short = profile.columns.find((c) => c.name === "short");
    for (let i = 1; short && i < n; i++)
        if (short.own[i] > 0)
            visit(i, (at) => {
                at.short += short.own[i];
            });
    profile.byClass = new Map([...of].map(([key, at]) => [key, {
        size: medianClass(sumClasses(at.size)), lived: medianClass(sumClasses(at.life)),
        young: at.all > 0 && short ? Math.min(1, at.short / at.all) : null }]));
    return profile.byClass;
}

/* Columns of the table: key, title, explanation, value to sort by, text. */
const CLASS_COLUMNS = [
    ["size", "Size", "Half of its bytes are in blocks of up to this size", (c) => c.size ? c.size.from : -1,
        (c) => c.size ? formatClass(c.size) : ""],
    ["lived", "Lived", "Half of its bytes lived up to this long, what lives at the end counted so far",
        (c) => c.lived ? c.lived.from : -1, (c) => c.lived ? formatClass(c.lived) : ""],
    ["young", "Young", "The share of its bytes that died young (view short)", (c) => c.young === null ? -1 : c.young,
        (c) => c.young === null ? "" : Number((100 * c.young).toPrecision(3)) + "%"],
];
