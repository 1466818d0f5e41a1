/*
 * ---- page_profile.js: the data of the page, unpacked ----
 *
 * Nodes are in pre-order with the root as 0, so the subtree of node i is the
 * range i..end[i]. `columns` are own counts by node; totals are summed where they
 * are needed (see page_graph.js), as they depend on what is shown.
 */

/* Numbers of seven bits a byte, lowest first, in base64. */
function unpacker(text) {
    const bytes = atob(text);
    let at = 0;
    return {
        more: () => at < bytes.length,
        next() {
            let v = 0, scale = 1;
            for (;;) {
                const c = bytes.charCodeAt(at++);
                if (c < 128)
                    return v + c * scale;
                v += (c - 128) * scale;
                scale *= 128;
            }
        },
    };
}

function readShape(data) {
    const n = data.nodes, shape = newShape(n);
    const { name, parent, depth, end } = shape;
    const read = unpacker(data.frames), open = [0];
    let last = 0, height = 0;
    name[0] = 0;
    parent[0] = -1;
    for (let i = 1; i < n; i++) {
        const d = last + 1 - read.next();
        for (; last >= d; last--)
            end[open[last]] = i;
        name[i] = read.next();
        parent[i] = open[d - 1];
        depth[i] = d;
        open[d] = i;
        last = d;
        if (d > height)
            height = d;
    }
    for (; last >= 0; last--)
        end[open[last]] = n;
    shape.height = height;
    return shape;
}

function readOwn(column, n) {
    const own = new Float64Array(n), read = unpacker(column.own);
    for (let i = 0; read.more();) {
        i += read.next();
        own[i] = read.next();
        if (column.fractions)
            own[i] += read.next() / 1e6;
    }
    return own;
}

function readDelta(data, n) {
    const delta = new Float64Array(n), read = unpacker(data.delta);
    for (let i = 0; read.more();) {
        i += read.next();
        const v = read.next();
        delta[i] = (v % 2 ? -(v + 1) / 2 : v / 2) / data.deltaScale;
    }
    return delta;
}

/* Marks at the end of a name that say what kind of code it is. */
const MARKS = { "_[k]": "kernel", "_[j]": "jit", "_[i]": "inlined", "_[w]": "waker",
    "_[o]": "cold" };

function readNames(raw) {
    const names = new Array(raw.length), kinds = new Array(raw.length);
    for (let i = 0; i < raw.length; i++) {
        const s = raw[i], kind = MARKS[s.slice(-4)];
        names[i] = kind ? s.slice(0, -4) : s;
        kinds[i] = kind || (s === "-" || s === "--" ? "separator" : "user");
    }
    return { names, kinds };
}

/* `apart`: frames of one function in several lines stay several. */
function readProfile(text, apart) {
    const data = JSON.parse(text);
    const { names, kinds, id, where } = readFunctions(data.names, apart || data.ordered);
    let shape = readShape(data), lines = null;
    const fine = shape.n, hasTimes = data.columns.some((c) => c.time !== undefined);
    let columns = gatherMoments(data.columns, fine);
    let delta = data.delta === undefined || hasTimes ? null : readDelta(data, fine);
    const timeline = readTimeline(data);
    for (const c of timeline ? columns : []) {
        const packed = data.columns.find((k) => k.history !== undefined && k.name === c.name);
        if (packed)
            c.history = readHistory(packed.history);
    }
    if (where) {
        ({ shape, lines } = mergeLines(shape, names, id, where));
        for (const c of columns)
            keepLines(c, lines, shape.n);
        delta = delta && pourLines(lines, shape.n, delta);
    }
    const n = shape.n;
    if (delta)
        columns = compareColumns(columns[0], delta);
    for (const c of columns) {
        c.sum = c.own.reduce((a, b) => a + b, 0);
        c.most = c.moments ? c.moments.reduce((a, m) => a + m.sum, 0) :
            c.history && c.history.node.length ? Math.max(1, c.sum) : c.sum;
    }
    /* A title that only says what the first column is goes when another is shown. */
    const single = columns.length === 1, named = single || data.title !== columns[0].title;
    const wrappers = new Set((data.wrappers || []).map((i) => id[i]));
    const namedWrappers = new Set((data.named || []).map((i) => id[i]));
    const stacks = new Uint8Array(n);
    for (const c of columns)
        for (let i = 0; i < n; i++)
            if (c.own[i] > 0)
                stacks[i] = 1;
    const profile = {
        title: data.title, named, single, subtitle: data.subtitle, nametype: data.nametype,
        reverse: data.reverse, names, kinds, shape, columns, delta, lines, apart,
        timeline, /* what was live at moments (page_timeline.js), or null */
        hasLines: where !== null || apart,
        ordered: data.ordered === true, /* siblings stand in time, also those of one name */
        moments: columns.reduce((a, c) => Math.max(a, c.moments ? c.moments.length : 0), 0),
        wrappers, namedWrappers, /* names whose own counts are their callers', of `wrapped` columns */
        view: data.view, /* the column to begin with, if it has a name */
        widths: data.widths || "after", change: data.change || "absolute",
        stacks, /* 1: a stack ends in this node, in some column */
        nstacks: stacks.reduce((a, b) => a + b, 0),
    };
    if (delta)
        profile.elided = readElided(profile);
    return profile;
}

/* A column of the file's nodes becomes one of the merged ones, and keeps the former. */
function keepLines(column, lines, n) {
    const all = column.own, before = column.moments;
    column.fine = () => all;
    if (before) {
        const fine = { ...column };
        column.fine = () => addMoments(fine, lines.fine.n, ...column.shown);
        column.shown = [0, before.length - 1];
        column.moments = before.map((m) => ({ ...m, at: m.at.map((i) => lines.owner[i]) }));
    }
    column.own = pourLines(lines, n, all);
}
