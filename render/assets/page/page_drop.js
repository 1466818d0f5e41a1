/*
 * ---- page_drop.js: comparison of the page with a second file, dropped onto it ----
 *
 * The file may be folded text, a page or a picture of flame's. The result is the data of a
 * comparison page, in the format that readProfile takes. This document is rewritten around the data
 * with its own scripts, style and controls, and a reload shows the old page again. The shown page
 * is the side before, the file the side after.
 *
 * The file is outside input: it is parsed as data only (a page's JSON, a picture as an XML
 * document that runs nothing), its size is bounded, and its names are only ever text.
 */

const LARGEST_FILE = 256 << 20, LARGEST_TREE = 8e6, DEEPEST = 100000;
/* Inside a script these tags would end it, or look like another one. */
const SCRIPT = "\u003cscript", END_SCRIPT = "\u003c/script>";

/* The controls as the file has them, without the profile, which may be large. A Worker has no
 * document. */
function copyBody() {
    const copy = document.body.cloneNode(false);
    for (const child of document.body.childNodes)
        if (child.nodeName !== "SCRIPT")
            copy.append(child.cloneNode(true));
    return copy;
}

const pristine = typeof document === "undefined" ? null : copyBody();

/* A tree of stacks that combines two files: nodes in the order in which they were added. */
class Stacks {
    constructor() {
        this.name = [""];
        this.parent = [-1];
        this.sides = [[0], [0]];
        this.below = [new Map()];
    }

    child(node, name) {
        const known = this.below[node].get(name);
        if (known !== undefined)
            return known;
        if (this.name.length >= LARGEST_TREE)
            throw new Error("it has too many different stacks for a page");
        this.below[node].set(name, this.name.length);
        this.below.push(new Map());
        this.name.push(name);
        this.parent.push(node);
        for (const side of this.sides)
            side.push(0);
        return this.name.length - 1;
    }
}

/* A tree of {n, name(i), parent(i), own(i)} in pre-order, added to one side. */
function pourTree(stacks, side, { n, name, parent, own }) {
    const place = new Int32Array(n);
    for (let i = 0; i < n; i++) {
        place[i] = i ? stacks.child(place[parent(i)], name(i)) : 0;
        stacks.sides[side][place[i]] += own(i);
    }
}

const MARK_OF_KIND = Object.fromEntries(Object.entries(MARKS).map(([mark, kind]) => [kind, mark]));

const fullName = ({ names, kinds }, i) => names[i] + (MARK_OF_KIND[kinds[i]] || "");

const treeOfProfile = (profile, column, { shape } = profile) => ({
    n: shape.n, name: (i) => fullName(profile, shape.name[i]),
    parent: (i) => shape.parent[i], own: (i) => Math.max(0, column.own[i]),
});

/* ---- the three kinds of files ---- */

/* Counts of different views cannot be compared, whatever their unit. */
function isSameView(view, wanted) {
    if (view && wanted.name && view !== wanted.name)
        throw new Error(`it is of the view ${shorten(view, 30)}, and this page shows ${wanted.name}`);
}

/* {unit, tree} of a page of ours: its column of that name, else of that unit. */
function readDroppedPage(text, wanted) {
    const begin = text.indexOf(SCRIPT + ' id="profile" type="application/json">');
    const from = text.indexOf(">", begin) + 1, to = text.indexOf(END_SCRIPT, from);
    if (begin < 0 || to < 0)
        throw new Error("it is a page, but none of flame's");
    const other = readProfile(text.slice(from, to), false);
    if (other.delta)
        throw new Error("it is a comparison already");
    const column = other.columns.find((c) => c.name === wanted.name && c.unit === wanted.unit) ||
        other.columns.find((c) => c.unit === wanted.unit) || other.columns[0];
    isSameView(column.name, wanted);
    return { unit: column.unit, tree: treeOfProfile(other, column), profile: other };
}

const OF_PICTURE = " (a picture: what was too thin to draw counts for its callers)";

/* flame's pictures have every count exactly; frames too thin to draw count for their caller. */
function readDroppedPicture(text) {
    /* Styles are not read, and the page's content policy would report each of them. */
    const plain = text.replace(/(<\/?)style\b/g, "$1metadata").replace(/(\s)style(\s*=)/g, "$1data-style$2");
    /* Parsed as HTML: the XML parser answers errors with a page of its own that has styles. */
    const xml = new DOMParser().parseFromString(plain, "text/html");
    const frames = [...xml.querySelectorAll("#frames g[data-w]")];
    if (!/<\/svg>\s*$/.test(text) || !frames.length)
        throw new Error("it is a picture, but none of flame's");
    const n = frames.length, names = [], parent = [], own = new Float64Array(n), open = [];
    if (n > LARGEST_TREE)
        throw new Error("it has too many frames for a page");
    frames.forEach((g, i) => {
        const title = g.querySelector("title"), text_ = title ? title.textContent : "";
        const depth = Number(g.getAttribute("data-d")), size = Number(g.getAttribute("data-w"));
        if (!Number.isInteger(depth) || depth < 0 || depth > (i ? open.length : 0) || !(size >= 0) ||
            (i > 0 && depth === 0) || !Number.isFinite(size))
            throw new Error(`its frame ${i + 1} is damaged`);
        names.push(text_.slice(0, Math.max(0, text_.lastIndexOf(" ("))));
        open.length = depth;
        parent.push(depth ? open[depth - 1] : -1);
        open.push(i);
        own[i] += size;
        if (depth)
            own[parent[i]] -= size;
    });
    const unit = / ([^\s\d,(][^,]*), 100(\.00)?%[^(]*\)$/.exec(frames[0].querySelector("title").textContent);
    const short = unit && unit[1].replace("\u00b5s", "us");
    return { note: OF_PICTURE, unit: short && /^(byte|sample|call|fault)$/.test(short) ? short + "s" : short, tree: { n, name: (i) => names[i],
        parent: (i) => parent[i], own: (i) => Math.max(0, own[i]) } };
}

/* Folded text, one stack and its count in each line; `unit` may come from its first line. */
function readDroppedFolded(text, stacks, wanted) {
    let unit = null, view = null, prefixed = false, lines = 0, good = 0;
    if (text.startsWith("FLAMETRC"))
        throw new Error("it is a recording: make a page of it with 'flame render -o x.html'");
    for (let at = 0; at < text.length;) {
        const stop = text.indexOf("\n", at), end = stop < 0 ? text.length : stop;
        const line = text.slice(at, end).replace(/[ \t\r]+$/, "");
        at = end + 1;
        lines++;
        if (line.startsWith("#") || !line) {
            unit = (/^# flame:.*\bunit=(\S+)/.exec(line) || [])[1] || unit;
            prefixed = prefixed || /^# flame:.*\bmodules=prefix\b/.test(line);
            view = (/^# flame:.*\bview=(\S+)/.exec(line) || [])[1] || view;
            continue;
        }
        const parts = /^([^]*[^ \t])[ \t]+(\d{1,20}(?:\.\d+)?)$/.exec(line);
        if (!parts)
            throw new Error(`line ${lines} is no stack and its count: \u201c${shorten(line, 60)}\u201d`);
        if (/\s\d+(\.\d+)?$/.test(parts[1]))
            throw new Error(`line ${lines} has two counts: it is a comparison already`);
        const names = parts[1].split(";").map((s) => prefixed ? s.replace(/^[^`]+`/, "") : s);
        if (names.length > DEEPEST)
            throw new Error(`line ${lines} is deeper than ${DEEPEST} frames`);
        const node = names.reduce((n, name) => stacks.child(n, name), 0);
        stacks.sides[1][node] += Number(parts[2]);
        good++;
    }
    if (!good)
        throw new Error("it has no stacks");
    if (!unit || unit === wanted.unit)
        isSameView(view, wanted);
    return unit;
}

/* ---- the data of a page ---- */

function pack(numbers) {
    const parts = [];
    let bytes = [];
    for (let v of numbers) {
        for (; v >= 128; v = Math.floor(v / 128))
            bytes.push(v % 128 + 128);
        bytes.push(v);
        if (bytes.length > 8000) {
            parts.push(String.fromCharCode(...bytes));
            bytes = [];
        }
    }
    return btoa(parts.join("") + String.fromCharCode(...bytes));
}

/* The module of each name, from either page, in the format that readPlaces takes. */
function modulesOf(profiles, names) {
    const known = new Map(), told = profiles.find((p) => p.modules);
    if (!told)
        return [];
    for (const p of profiles)
        (p.modules || []).forEach((module, i) => module && known.set(fullName(p, i), module));
    const { depth, names: [unknown] } = told.places.get("module"), modules = [...new Set(known.values())];
    const number = new Map(modules.map((module, i) => [module, i + 2]));
    return [{ kind: "module", told: true, depth, names: [unknown, ...modules],
        of: pack(names.map((s, i) => i ? number.get(known.get(s)) || 1 : 0)) }];
}

/* Numbers of the names that are malloc's wrappers on either page. */
function wrappersIn(profiles, key, names) {
    const known = new Set(profiles.flatMap((p) => [...p[key]].map((i) => fullName(p, i))));
    return names.flatMap((s, i) => known.has(s) ? [i] : []);
}

/* `profiles`: the profiles of those of the two files that are pages. */
function pageData(stacks, { title, subtitle, nametype, unit, sample, viewName, wrapped, profiles }) {
    const numbers = new Map([["all", 0]]), names = ["all"], order = [];
    const frames = [], own = [], delta = [];
    const { name, parent, below, sides: [was, now] } = stacks;
    const depth = new Int32Array(name.length);
    const number = (s) => {
        if (!numbers.has(s)) {
            numbers.set(s, names.length);
            names.push(s);
        }
        return numbers.get(s);
    };
    /* The root's own name may be a function's as well. */
    numbers.delete("all");
    const open = [0];
    while (open.length) {
        const i = open.pop();
        order.push(i);
        depth[i] = i ? depth[parent[i]] + 1 : 0;
        const children = [...below[i]].sort((a, b) => a[0] < b[0] ? 1 : -1);
        for (const [, c] of children)
            open.push(c);
    }
    let last = 0, gapOwn = 0, gapDelta = 0;
    for (const i of order) {
        if (i) {
            frames.push(last + 1 - depth[i], number(name[i]));
            last = depth[i];
        }
        const after = Math.round(now[i] * 1e6), change = Math.round((now[i] - was[i]) * 1e6);
        if (after) {
            own.push(gapOwn, Math.floor(after / 1e6), after % 1e6);
            gapOwn = 0;
        }
        if (change) {
            delta.push(gapDelta, change < 0 ? -2 * change - 1 : 2 * change);
            gapDelta = 0;
        }
        gapOwn++;
        gapDelta++;
    }
    return { version: 1, title, subtitle, nametype, sample, view: viewName, reverse: false,
        widths: "after", change: "absolute", names, nodes: order.length, dropped: true,
        named: wrappersIn(profiles, "namedWrappers", names), wrappers: wrappersIn(profiles, "wrappers", names),
        places: modulesOf(profiles, names),
        frames: pack(frames), deltaScale: 1e6, delta: pack(delta),
        columns: [{ name: "", title, unit, wrapped, fractions: true, own: pack(own) }] };
}

/* Rewrites this document around other data. */
function openProfile(data, hash) {
    const script = [...document.scripts].pop().textContent, head = document.head.innerHTML;
    const json = JSON.stringify(data).replaceAll("<", "\\u003c");
    try {
        history.pushState({ dropped: true }, "", "#" + hash);
    } catch {
        /* A page without an address of its own. */
    }
    document.open();
    document.write(`<!DOCTYPE html><html lang="en"><head>${head}</head><body>${pristine.innerHTML}` +
        `${SCRIPT} id="profile" type="application/json">${json}${END_SCRIPT}${SCRIPT}>${script}${END_SCRIPT}</body></html>`);
    document.close();
}

/* Going back from a comparison, or forward to it, leads to another document: the original file is
 * loaded again. */
function leftDropped({ profile }, { state }) {
    if (Boolean(state && state.dropped) === profile.dropped)
        return false;
    location.reload();
    return true;
}

/* Filters of the reader stay in place, on both sides. */
function addressOfComparison({ state, profile }) {
    const p = new URLSearchParams({ layout: "compare" });
    for (const filter of state.filters)
        p.append("filter", filterText(filter, profile.names));
    return p.toString();
}

/* The data of the comparison of the shown profile with a file's text; throws an error about an
 * invalid file. */
function compareWith(app, text, name) {
    const { profile, column } = app, stacks = new Stacks();
    const begin = text.slice(0, 4096).trimStart().toLowerCase();
    const profiles = [profile];
    let unit = null, remark = "";
    pourTree(stacks, 0, treeOfProfile(profile, column));
    if (begin.startsWith("<!doctype html") || begin.startsWith("<html") || begin.startsWith("<")) {
        const other = begin.includes("<svg") && !begin.startsWith("<!doctype html") ?
            readDroppedPicture(text) : readDroppedPage(text, column);
        ({ unit, note: remark = "" } = other);
        profiles.push(...other.profile ? [other.profile] : []);
        pourTree(stacks, 1, other.tree);
    } else {
        unit = readDroppedFolded(text, stacks, column);
    }
    if (unit && unit !== column.unit)
        throw new Error(`it counts ${unit}, and this page shows ${column.unit}`);
    return pageData(stacks, { title: byId("title").textContent, unit: column.unit,
        subtitle: [profile.subtitle, "before: this page, after: " + shorten(name, 80) + remark].filter(Boolean).join(" \u2014 "),
        nametype: profile.nametype, sample: profile.sample, viewName: column.name,
        wrapped: column.wrapped || "none", profiles });
}

async function takeFile(app, file) {
    try {
        if (file.size > LARGEST_FILE)
            throw new Error(`it is larger than ${formatShort(LARGEST_FILE, "bytes")}`);
        openProfile(compareWith(app, await file.text(), file.name), addressOfComparison(app));
    } catch (e) {
        byId("refused").querySelector("p").textContent = `${shorten(file.name, 80)} cannot be compared: ` +
            `${e instanceof SyntaxError || e instanceof RangeError ? "its data are damaged" : e.message}. ` +
            "Folded stacks, or a page or picture of flame's, can.";
        byId("refused").showModal();
    }
}

function connectDrop(app) {
    const input = byId("compare-file"), over = byId("drop");
    const hasFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
    byId("compare-with").addEventListener("click", () => input.click());
    input.addEventListener("change", (event) => {
        event.stopPropagation(); /* the choice does not affect the display */
        if (input.files.length)
            takeFile(app, input.files[0]);
        input.value = "";
    });
    for (const type of ["dragenter", "dragover"])
        document.addEventListener(type, (event) => {
            if (!hasFiles(event))
                return;
            event.preventDefault();
            over.hidden = false;
        });
    document.addEventListener("dragleave", (event) => {
        if (!event.relatedTarget)
            over.hidden = true;
    });
    document.addEventListener("drop", (event) => {
        over.hidden = true;
        if (!hasFiles(event))
            return;
        event.preventDefault();
        if (event.dataTransfer.files.length)
            takeFile(app, event.dataTransfer.files[0]);
    });
}
