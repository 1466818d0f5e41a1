/*
 * ---- page_graph.js: trees to draw ----
 *
 * A shape has the frames and their parents; a graph adds to it the counts of one column. Every
 * shape but the profile's own has `owner`: for each node of the profile the node of the shape that
 * gets its own count, or -1. So any column can be summed over any shape in one pass, and only a
 * change of the shown frames builds a new shape.
 */

/* Arrays for numbers of names, as narrow as `names` allows, and for depths, which are small: with
 * millions of frames bytes count. */
const nameArray = (names, n) => names <= 60000 ? new Uint16Array(n) : new Int32Array(n);
const depthArray = (most, n) => most < 256 ? new Uint8Array(n) : most < 65536 ? new Uint16Array(n) : new Int32Array(n);

/* depth[] with room for `d`: itself, or a wider copy. */
function widen(depth, d) {
    if (d >> 8 * depth.BYTES_PER_ELEMENT === 0 || depth.BYTES_PER_ELEMENT === 4)
        return depth;
    const wider = depthArray(d, depth.length);
    wider.set(depth);
    return wider;
}

function newShape(n, names) {
    return {
        n, height: 0,
        name: nameArray(names, n), parent: new Int32Array(n),
        depth: new Uint8Array(n) /* see widen() */, end: new Int32Array(n),
        owner: null, /* null: each node owns itself */
        chain: null, /* by node: the names of all frames it represents, outermost first */
    };
}

/* The profile's own counts by node of a shape, in an array as wide as theirs. */
function ownCounts({ n, owner }, counts) {
    if (!owner)
        return counts;
    const own = new counts.constructor(n);
    for (let i = 0; i < counts.length; i++)
        if (counts[i] !== 0 && owner[i] >= 0)
            own[owner[i]] += counts[i];
    return own;
}

/*
 * Sums own counts of the profile's nodes over a shape: [own, total] by its nodes. In the order from
 * the last frame to the first, a frame's callees come before it, so the sum of each depth is
 * complete.
 */
function pour(shape, counts) {
    const { n, parent, depth } = shape, own = ownCounts(shape, counts), total = own.slice();
    if (parent) {
        for (let i = n - 1; i > 0; i--)
            total[parent[i]] += total[i];
        return [own, total];
    }
    const below = new Float64Array(shape.height + 2);
    for (let i = n - 1; i >= 0; i--) {
        const d = depth[i], sum = total[i] + below[d + 1];
        below[d + 1] = 0;
        below[d] += sum;
        total[i] = sum;
    }
    return [own, total];
}

/*
 * A shape of callers has many more frames than the profile, and a parent is four bytes of fifteen:
 * so it has parent: null. The parents of one frame are found from the root down, by the ends of
 * siblings; a walk over all frames remembers the last one of each depth (see parentsOf).
 */
function parentOf(graph, node) {
    if (graph.parent)
        return graph.parent[node];
    const path = pathOf(graph, node);
    return path.length > 1 ? path[path.length - 2] : -1;
}

/* parent[] of a shape, computed if it has none. */
function parentsOf({ n, parent, depth }) {
    if (parent)
        return parent;
    const made = new Int32Array(n), open = [-1];
    for (let i = 0; i < n; i++) {
        made[i] = open[depth[i]];
        open[depth[i] + 1] = i;
    }
    return made;
}

/*
 * Children are side by side from their parent's left edge on. A walk in pre-order knows that edge,
 * and for one frame it is computed from the root, so it is not stored.
 */
function startOf({ end, total }, node) {
    let start = 0;
    for (let i = 1; i <= node;) {
        const inside = node < end[i];
        start += inside ? 0 : total[i];
        i = inside ? i + 1 : end[i];
    }
    return start;
}

/* A shape with the counts of a column; of a comparison also those of both sides. */
class Graph {
    constructor(shape, column) {
        const [own, total] = pour(shape, column.own);
        Object.assign(this, shape, { shape, column, unit: column.unit, counts: column.own, total,
            was: null, now: null, change: null, ownChange: null,
            self: null, /* the same three counts of frames alone, without callees */
            colors: null, matches: null, matched: null });
        /* A shape of callers may have many more frames than the profile, and these counts are
         * rarely needed. */
        this.known = shape.owner && shape.n >= LARGE ? null : own;
    }

    get own() {
        if (!this.known)
            this.known = ownCounts(this.shape, this.counts);
        return this.known;
    }
}

/* `sides`: of a comparison, the columns after and before. */
function makeGraph(shape, column, sides) {
    const graph = new Graph(shape, column);
    if (sides) {
        const [now, was] = sides.map((side) => pour(shape, side.own));
        [graph.now, graph.was] = [now[1], was[1]];
        graph.change = graph.now.map((v, i) => v - graph.was[i]);
        graph.self = { was: was[0], now: now[0], change: now[0].map((v, i) => v - was[0][i]) };
        graph.ownChange = graph.self.change;
    }
    return graph;
}

/*
 * Renumbers nodes in pre-order. parent[] has parents before children; `less(a, b)` orders siblings,
 * and without it their order does not change.
 */
function preorder(tree, less) {
    const { n, name, owner, chain } = tree, shape = newShape(n, 0), parent = parentsOf(tree);
    shape.name = name.constructor === Array ? new Int32Array(n) : new name.constructor(n);
    if (!tree.parent)
        shape.parent = null;
    const first = new Int32Array(n).fill(-1), next = new Int32Array(n).fill(-1);
    const number = new Int32Array(n);
    for (let i = n - 1; i > 0; i--) {
        next[i] = first[parent[i]];
        first[parent[i]] = i;
    }
    if (less)
        for (let i = 0; i < n; i++)
            sortSiblings(i, first, next, less);
    for (let i = 0, at = 0, d = 0; i >= 0;) {
        number[i] = at;
        shape.name[at] = name[i];
        if (shape.parent)
            shape.parent[at] = i ? number[parent[i]] : -1;
        if (d > shape.height) {
            shape.height = d;
            shape.depth = widen(shape.depth, d);
        }
        shape.depth[at] = d;
        at++;
        if (first[i] >= 0) {
            i = first[i];
            d++;
            continue;
        }
        while (i > 0 && next[i] < 0) {
            shape.end[number[i]] = at;
            i = parent[i];
            d--;
        }
        shape.end[number[i]] = at;
        i = i > 0 ? next[i] : -1;
    }
    shape.owner = owner ? owner.map((o) => o < 0 ? -1 : number[o]) : number;
    if (chain) {
        shape.chain = new Array(n);
        for (let i = 0; i < n; i++)
            shape.chain[number[i]] = chain[i];
    }
    return shape;
}

function sortSiblings(parent, first, next, less) {
    if (first[parent] < 0 || next[first[parent]] < 0)
        return;
    const list = [];
    for (let c = first[parent]; c >= 0; c = next[c])
        list.push(c);
    list.sort(less);
    first[parent] = list[0];
    for (let k = 0; k < list.length; k++)
        next[list[k]] = k + 1 < list.length ? list[k + 1] : -1;
}

/* The child of `node` that holds the range [x0, x1] of counts, or -1. */
function childAround(graph, node, x0, x1) {
    const { total, end } = graph, slack = (x1 - x0) * 1e-6;
    let start = startOf(graph, node);
    for (let c = node + 1; c < end[node]; c = end[c]) {
        if (start <= x0 + slack && start + total[c] >= x1 - slack)
            return c;
        start += total[c];
    }
    return -1;
}

/* Names from the root down to `node`. */
function pathOf(graph, node) {
    const path = node < 0 ? [] : [0], { end } = graph;
    for (let i = 1; i <= node;) {
        if (node < end[i])
            path.push(i++);
        else
            i = end[i];
    }
    return path;
}

/*
 * Nodes of the profile that a chart's frame represents, as a function of the node: those that its
 * graph has below the frame, or, where a frame is a caller, those of stacks that have its symbol.
 * Nodes that filters remove belong to no frame.
 */
function nodeTest({ graph, profile, reversed, upper }, node) {
    const { owner, end } = graph, { parent, name } = profile.shape;
    const left = (i) => !owner || owner[i] >= 0;
    const isBelow = (i) => {
        const at = owner ? owner[i] : i;
        return at >= node && at < end[node];
    };
    const isOnStack = (i) => {
        if (!left(i))
            return false;
        while (i > 0 && name[i] !== graph.name[node])
            i = parent[i];
        return i > 0;
    };
    return node === 0 ? left : reversed || upper ? isOnStack : isBelow;
}
