/*
 * ---- page_graph.js: trees to draw ----
 *
 * A shape says which frames there are and where they hang; a graph adds to it the
 * counts of one column. Every shape but the profile's own has `owner`: for each
 * node of the profile the node of the shape that its own count goes to, or -1.
 * So any column can be poured into any shape in one pass, and only a change of
 * what is shown builds a new shape.
 */

function newShape(n) {
    return {
        n, height: 0,
        name: new Int32Array(n), parent: new Int32Array(n),
        depth: new Int32Array(n), end: new Int32Array(n),
        owner: null, /* null: each node owns itself */
        chain: null, /* by node: the names of all frames it stands for, outermost first */
    };
}

/* Sums own counts of the profile's nodes over a shape: [own, total] by its nodes. */
function pour(shape, counts) {
    const { n, parent, owner } = shape;
    const own = owner ? new Float64Array(n) : counts;
    if (owner)
        for (let i = 0; i < counts.length; i++)
            if (counts[i] !== 0 && owner[i] >= 0)
                own[owner[i]] += counts[i];
    const total = own.slice();
    for (let i = n - 1; i > 0; i--)
        total[parent[i]] += total[i];
    return [own, total];
}

/* Children stand side by side from their parent's left edge on. */
function edgesOf(shape, total) {
    const { n, parent } = shape;
    const start = new Float64Array(n), next = new Float64Array(n);
    for (let i = 1; i < n; i++) {
        const p = parent[i];
        start[i] = next[i] = next[p];
        next[p] += total[i];
    }
    return start;
}

/* `sides`: of a comparison, the columns after and before. */
function makeGraph(shape, column, sides) {
    const [own, total] = pour(shape, column.own);
    const graph = { ...shape, shape, column, unit: column.unit, own, total,
        start: edgesOf(shape, total), was: null, now: null, change: null };
    if (sides) {
        [graph.now, graph.was] = sides.map((side) => pour(shape, side.own)[1]);
        graph.change = graph.now.map((v, i) => v - graph.was[i]);
    }
    return graph;
}

/*
 * Numbers nodes anew in pre-order. parent[] has parents before children;
 * `less(a, b)` orders siblings, and without it they keep their order.
 */
function preorder(tree, less) {
    const { n, name, parent, owner, chain } = tree, shape = newShape(n);
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
        shape.parent[at] = i ? number[parent[i]] : -1;
        shape.depth[at] = d;
        shape.height = Math.max(shape.height, d);
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

/* The child of `node` that holds the range [x0, x1] of counts, if one does. */
function childAround(graph, node, x0, x1) {
    const { start, total, end } = graph, slack = (x1 - x0) * 1e-6;
    for (let c = node + 1; c < end[node]; c = end[c])
        if (start[c] <= x0 + slack && start[c] + total[c] >= x1 - slack)
            return c;
    return -1;
}

/* Names from the root down to `node`. */
function pathOf(graph, node) {
    const path = [];
    for (let i = node; i >= 0; i = graph.parent[i])
        path.push(i);
    return path.reverse();
}
