/*
 * ---- page_state.js: the state of the page, and its form in the address ----
 *
 * The address has the whole state after '#', but only differences to the default, so a link shows
 * another reader the same picture.
 *
 * Frames are named by their path, ";main;parse", and functions by their name, ";parse", so a link
 * also finds them in the page of another run. Where several have the same name, a number before
 * the first ';' picks one. A name that is too long for an address is replaced by the number of the
 * node or name, as it is in every copy of the file.
 */

const CHOICES = {
    view: ["both", "table", "graph"],
    layout: ["forward", "callers", "sandwich", "compare", "elided"],
    direction: ["icicle", "flame"],
    color: ["package", "name", "kind", "total", "own", "change", "relative", "ratio"],
    order: ["name", "size"],
    labels: ["start", "end"],
    theme: ["auto", "light", "dark"],
    findings: ["auto", "shown", "folded"],
    sort: ["name", ...TABLE_COLUMNS.map((c) => c.key)],
    by: PLACE_KINDS, /* kind of the table's rows */
};

function defaultState(profile) {
    const { widths, change, delta, columns } = profile;
    const at = delta ? ["after", "before", "either"].indexOf(widths) :
        columns.findIndex((c) => c.name === profile.view);
    return {
        view: profile.embedded ? "graph" : "both", direction: "icicle",
        layout: profile.reverse ? "callers" : delta && widths === "elided" ? "elided" : "forward",
        color: !delta ? "package" : change === "absolute" ? "change" : change, order: "name", labels: "start",
        theme: "auto", findings: "auto", sort: "own", ascending: false, by: "function", places: new Set(), /* searched */
        column: at >= 0 && columns[at].most > 0 ? at :
            Math.max(0, columns.findIndex((c) => c.most > 0)),
        moments: null, /* first and last that are shown */
        span: null, /* two times of the timeline, in seconds: equal ones are a moment */
        sandwich: -1, focus: new Set(), hide: new Set(), hideNames: new Set(),
        recursion: false, chains: false, carry: profile.carry,
        wrappers: true, added: new Set(), spared: new Set(), /* names whose own counts are
                                                              * attributed to their callers */
        query: "", matchCase: false, regex: false, picks: new Set(), filters: [],
        zoom: 0, goal: null, range: null, ...laneDefaults(),
        notes: new Map(), /* of nodes of the profile */
    };
}

const FLAGS = ["ascending", "recursion", "chains", "carry", "wrappers", "matchCase", "regex"];
const LONG = 2000; /* characters of a path, or of all paths of one kind */
const SETS = { focus: "n", hide: "n", hideNames: "names", picks: "names", added: "names",
    spared: "names" };

/* All nodes of a tree that have the path `names`, in order, and the nearest callers. */
function nodesOnPath(tree, names, path) {
    const found = path.map(() => []), { n, end, depth, name } = tree;
    for (let i = 1; i < n;) {
        const at = depth[i] - 1;
        if (names[name[i]] !== path[at]) {
            i = end[i];
            continue;
        }
        found[at].push(i);
        i = at + 1 < path.length ? i + 1 : end[i];
    }
    return found;
}

const tagged = (nth, text) => `${nth > 0 ? nth : ""};${text}`;

function nodeText(tree, names, node) {
    const path = pathOf(tree, node).slice(1).map((i) => names[tree.name[i]]);
    const text = path.join(";");
    if (!path.length || text.length > LONG || text.split(";").length !== path.length)
        return String(node);
    return tagged(nodesOnPath(tree, names, path).pop().indexOf(node), text);
}

function nameText(names, n) {
    if (names[n].length > LONG)
        return String(n);
    let nth = 0;
    for (let i = names.indexOf(names[n], 1); i > 0 && i < n; i = names.indexOf(names[n], i + 1))
        nth++;
    return tagged(nth, names[n]);
}

/* "3;main;parse" is [3, "main;parse"]; null for a number. */
function readTagged(text) {
    const at = (text || "").indexOf(";");
    return at < 0 ? null : [Number(text.slice(0, at)) || 0, text.slice(at + 1)];
}

const nodeNumber = (s, limit) => /^\d{1,10}$/.test(s || "") && Number(s) < limit ? Number(s) : -1;

/* The node of a text by nodeText, or -1; with `near` its nearest caller if it does not exist. */
function findNode(tree, names, text, near) {
    const named = readTagged(text);
    if (!named)
        return nodeNumber(text, tree.n);
    const found = nodesOnPath(tree, names, named[1].split(";"));
    while (near && found.length > 1 && !found[found.length - 1].length)
        found.pop();
    const last = found[found.length - 1];
    return last[named[0]] || last[0] || -1;
}

function findName(names, text) {
    const named = readTagged(text);
    if (!named)
        return nodeNumber(text, names.length);
    const first = names.indexOf(named[1], 1);
    let at = first;
    for (let nth = named[0]; nth > 0 && at >= 0; nth--)
        at = names.indexOf(named[1], at + 1);
    return at >= 0 ? at : first;
}

/* A filter is an array in the address: its operation, "rc" for its flags, query, names. */
function filterText(filter, names) {
    return JSON.stringify([filter.op, (filter.regex ? "r" : "") + (filter.matchCase ? "c" : ""),
        filter.query, ...[...filter.picks].map((i) => nameText(names, i)),
        ...[...filter.places || []].map((key) => "@" + key)]);
}

/* null: invalid. Names that the profile does not have are dropped. */
function readFilter(text, names) {
    let parts = null;
    try {
        parts = JSON.parse(text);
    } catch {
        return null;
    }
    if (!Array.isArray(parts) || !parts.every((s) => typeof s === "string") || parts.length < 3)
        return null;
    const [op, flags, query, ...picked] = parts;
    const places = new Set(picked.filter((s) => s[0] === "@").map((s) => s.slice(1)));
    const picks = new Set(picked.filter((s) => s[0] !== "@").map((s) => findName(names, s))
        .filter((i) => i > 0));
    return Object.hasOwn(FILTERS, op) && (query || picks.size || places.size) ? { op, query, picks, places,
        regex: flags.includes("r"), matchCase: flags.includes("c") } : null;
}

/* `graph`: the graph of which state.zoom is a node. */
function writeState(state, profile, graph) {
    const { names, shape } = profile;
    const usual = defaultState(profile), p = new URLSearchParams();
    for (const key in CHOICES)
        if (state[key] !== usual[key])
            p.set(key, state[key]);
    for (const key of FLAGS)
        if (state[key] !== usual[key])
            p.set(key, state[key] ? "1" : "0");
    for (const key in SETS)
        if (state[key].size) {
            const texts = [...state[key]].map((i) => SETS[key] === "n" ?
                nodeText(shape, names, i) : nameText(names, i));
            if (texts.join("").length > LONG)
                p.set(key, [...state[key]].join("."));
            else
                for (const text of texts)
                    p.append(key, text);
        }
    if (state.column !== usual.column)
        p.set("column", profile.columns[state.column].name || state.column);
    if (state.sandwich > 0)
        p.set("sandwich", nameText(names, state.sandwich));
    if (state.zoom > 0 && state.zoom < graph.n)
        p.set("zoom", nodeText(graph, names, state.zoom));
    if (state.moments)
        p.set("moments", state.moments.join("~"));
    if (state.span)
        p.set("time", [...new Set(state.span)].map((t) => Number(t.toFixed(6))).join("~"));
    writeLaneState(state, profile.lanes, p);
    if (profile.apart)
        p.set("lines", "apart");
    if (profile.embedded)
        p.set(EMBED_KEY, "");
    for (const [node, text] of state.notes)
        p.append("note", noteText(profile, node, text));
    if (state.range)
        p.set("range", state.range.map((v) => v.toPrecision(9)).join("~"));
    if (state.query)
        p.set("q", state.query);
    for (const key of state.places)
        p.append("place", key);
    for (const filter of state.filters)
        p.append("filter", filterText(filter, names));
    return p.toString();
}

/*
 * The address of the same state for a page with lines apart, or not. Numbers of nodes and names
 * differ there; frames are found by their names, or their nearest callers.
 */
function otherLines(text, apart) {
    const p = new URLSearchParams(text), kept = new URLSearchParams();
    for (const [key, value] of p)
        if (key !== "lines" && (!(key in SETS || key === "zoom" || key === "sandwich") || readTagged(value)))
            kept.append(key, value);
    if (apart)
        kept.set("lines", "apart");
    return kept.toString();
}

/*
 * An address may contain anything: invalid parts keep their defaults. The zoomed frame is stored as
 * text in state.goal, as its graph may have to be built first.
 */
function readState(text, profile) {
    const state = defaultState(profile), p = new URLSearchParams(text);
    const { names, shape } = profile;
    for (const key in CHOICES)
        if (CHOICES[key].includes(p.get(key)))
            state[key] = p.get(key);
    for (const key of FLAGS)
        if (p.has(key))
            state[key] = p.get(key) === "1";
    for (const key in SETS) {
        for (const one of p.getAll(key).flatMap((s) => readTagged(s) ? [s] : s.split("."))) {
            const at = SETS[key] === "n" ? findNode(shape, names, one, false) : findName(names, one);
            if (at > 0)
                state[key].add(at);
        }
    }
    const per = perIndex(p.get("color") || "");
    if (per >= 0 && per < profile.columns.length && !profile.delta)
        state.color = p.get("color");
    const wanted = p.get("column");
    if (wanted !== null) {
        const at = profile.columns.findIndex((c) => c.name === wanted);
        state.column = at >= 0 ? at : Math.max(0, nodeNumber(wanted, profile.columns.length));
    }
    state.sandwich = findName(names, p.get("sandwich"));
    state.goal = p.get("zoom");
    const range = /^([\d.e+-]+)~([\d.e+-]+)$/.exec(p.get("range") || "");
    if (range && Number(range[2]) > Number(range[1]))
        state.range = [Number(range[1]), Number(range[2])];
    const moments = /^(\d{1,9})~(\d{1,9})$/.exec(p.get("moments") || "");
    if (moments && Number(moments[1]) <= Number(moments[2]) && moments[2] < profile.moments)
        state.moments = [Number(moments[1]), Number(moments[2])];
    const span = /^(\d{1,12}(?:\.\d{1,6})?)(?:~(\d{1,12}(?:\.\d{1,6})?))?$/.exec(p.get("time") || "");
    if (span && profile.timeline) {
        const { times } = profile.timeline, ends = [span[1], span[2] || span[1]].map(Number);
        state.span = ends.sort((a, b) => a - b).map((t) => times[nearestMoment(times, t)]);
        if (!profile.columns[state.column].history)
            state.column = profile.columns.findIndex((c) => c.history);
        if (state.column < 0)
            Object.assign(state, { column: defaultState(profile).column, span: null });
    }
    readLaneState(state, profile.lanes, p);
    state.query = p.get("q") || "";
    state.places = new Set(p.getAll("place").filter((key) => namesInPlace(profile, key).size));
    if (!profile.places.has(state.by))
        state.by = "function";
    state.filters = p.getAll("filter").map((s) => readFilter(s, names)).filter(Boolean);
    state.notes = readNotes(p.getAll("note"), profile);
    if (state.layout === "sandwich" && state.sandwich < 0)
        state.layout = "forward";
    if (!profile.delta) {
        if (state.layout === "compare" || state.layout === "elided")
            state.layout = "forward";
        if (CHANGE_MODES.includes(state.color))
            state.color = "package";
    }
    return state;
}
