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

/*
 * A comparison becomes three columns: what there is now, what there was, and the
 * larger of both, which alone has room for frames that one side does not have.
 */
function compareColumns(after, delta) {
    const before = new Float64Array(after.own.length), either = before.slice();
    for (let i = 0; i < before.length; i++) {
        before[i] = Math.max(0, after.own[i] - delta[i]);
        either[i] = Math.max(before[i], after.own[i]);
    }
    return [
        { ...after, name: "after", title: "After" },
        { ...after, name: "before", title: "Before", own: before },
        { ...after, name: "either", title: "Either", own: either },
    ];
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

function readProfile(text) {
    const data = JSON.parse(text);
    const shape = readShape(data), n = shape.n;
    let columns = data.columns.map((c) => ({
        name: c.name, title: c.title || c.name || c.unit, unit: c.unit, own: readOwn(c, n),
    }));
    const delta = data.delta === undefined ? null : readDelta(data, n);
    if (delta)
        columns = compareColumns(columns[0], delta);
    for (const c of columns)
        c.sum = c.own.reduce((a, b) => a + b, 0);
    /* A title that only says what the first column is goes when another is shown. */
    const single = columns.length === 1, named = single || data.title !== columns[0].title;
    const stacks = new Uint8Array(n);
    for (const c of columns)
        for (let i = 0; i < n; i++)
            if (c.own[i] > 0)
                stacks[i] = 1;
    return {
        title: data.title, named, single, subtitle: data.subtitle, nametype: data.nametype,
        reverse: data.reverse, ...readNames(data.names), shape, columns, delta,
        stacks, /* 1: a stack ends in this node, in some column */
        nstacks: stacks.reduce((a, b) => a + b, 0),
    };
}
