/*
 * ---- page_state.js: what is shown, and how the address says it ----
 *
 * The whole state is in the address after '#', only what differs from the
 * default, so a link shows another reader the same picture. Nodes are numbers of
 * the profile, which are the same in every copy of the file.
 */

const CHOICES = {
    view: ["both", "table", "graph"],
    layout: ["forward", "callers", "sandwich", "compare", "elided"],
    direction: ["icicle", "flame"],
    color: ["package", "name", "kind", "total", "own", "change", "relative", "ratio"],
    order: ["name", "size"],
    labels: ["start", "end"],
    theme: ["auto", "light", "dark"],
    sort: ["own", "total", "name"],
};

function defaultState(profile) {
    const { widths, change, delta } = profile, at = ["after", "before", "either"].indexOf(widths);
    return {
        view: "both", direction: "icicle",
        layout: profile.reverse ? "callers" : delta && widths === "elided" ? "elided" : "forward",
        color: !delta ? "package" : change === "absolute" ? "change" : change, order: "name", labels: "start",
        theme: "auto", sort: "own", ascending: false,
        column: delta && at >= 0 && profile.columns[at].most > 0 ? at :
            Math.max(0, profile.columns.findIndex((c) => c.most > 0)),
        moments: null, /* first and last that are shown */
        sandwich: -1, focus: new Set(), hide: new Set(), hideNames: new Set(),
        recursion: false, chains: false,
        query: "", matchCase: false, regex: true, picks: new Set(),
        zoom: 0, range: null,
    };
}

const FLAGS = ["ascending", "recursion", "chains", "matchCase", "regex"];
const SETS = { focus: "n", hide: "n", hideNames: "names", picks: "names" };

function writeState(state, profile) {
    const usual = defaultState(profile), p = new URLSearchParams();
    for (const key in CHOICES)
        if (state[key] !== usual[key])
            p.set(key, state[key]);
    for (const key of FLAGS)
        if (state[key] !== usual[key])
            p.set(key, state[key] ? "1" : "0");
    for (const key in SETS)
        if (state[key].size)
            p.set(key, [...state[key]].join("."));
    if (state.column !== usual.column)
        p.set("column", profile.columns[state.column].name || state.column);
    for (const key of ["sandwich", "zoom"])
        if (state[key] !== usual[key])
            p.set(key, state[key]);
    if (state.moments)
        p.set("moments", state.moments.join("~"));
    if (profile.apart)
        p.set("lines", "apart");
    if (state.range)
        p.set("range", state.range.map((v) => v.toPrecision(9)).join("~"));
    if (state.query)
        p.set("q", state.query);
    return p.toString();
}

/* Anything may stand in an address: what is not understood stays as by default. */
function readState(text, profile) {
    const state = defaultState(profile), p = new URLSearchParams(text);
    const number = (s, limit) => /^\d{1,10}$/.test(s || "") && Number(s) < limit ? Number(s) : -1;
    for (const key in CHOICES)
        if (CHOICES[key].includes(p.get(key)))
            state[key] = p.get(key);
    for (const key of FLAGS)
        if (p.has(key))
            state[key] = p.get(key) === "1";
    for (const key in SETS) {
        const limit = SETS[key] === "n" ? profile.shape.n : profile.names.length;
        for (const s of (p.get(key) || "").split("."))
            if (number(s, limit) > 0)
                state[key].add(number(s, limit));
    }
    const per = perIndex(p.get("color") || "");
    if (per >= 0 && per < profile.columns.length && !profile.delta)
        state.color = p.get("color");
    const wanted = p.get("column");
    if (wanted !== null) {
        const at = profile.columns.findIndex((c) => c.name === wanted);
        state.column = at >= 0 ? at : Math.max(0, number(wanted, profile.columns.length));
    }
    state.sandwich = number(p.get("sandwich"), profile.names.length);
    state.zoom = Math.max(0, number(p.get("zoom"), 2 ** 31));
    const range = /^([\d.e+-]+)~([\d.e+-]+)$/.exec(p.get("range") || "");
    if (range && Number(range[2]) > Number(range[1]))
        state.range = [Number(range[1]), Number(range[2])];
    const moments = /^(\d{1,9})~(\d{1,9})$/.exec(p.get("moments") || "");
    if (moments && Number(moments[1]) <= Number(moments[2]) && moments[2] < profile.moments)
        state.moments = [Number(moments[1]), Number(moments[2])];
    state.query = p.get("q") || "";
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
