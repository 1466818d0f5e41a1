/*
 * ---- page_draw.js: from a graph and a zoom to boxes, and from boxes to pixels ----
 *
 * One walk in pre-order finds the frames that are wide enough to see and skips all others by their
 * subtrees' ends, so the cost of drawing depends on the screen and not on the profile. Neighbours
 * under a pixel become one grey box.
 */

/* Opacity of callers of the zoomed frame, by theme, and of the note behind a label. t0576 checks
 * that the contrast is at least 4.5. */
const ALPHAS = { caller: { light: 0.45, dark: 0.28 }, note: 0.86 };
const ROW = 20, PAD = 5, THIN = 1;
const THIN_MOVING = 3; /* of a picture that is replaced with the next frame */
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/* Boxes as columns that reuse their memory from one layout to the next. */
class Boxes {
    constructor() {
        this.n = 0;
        this.reserve(1024);
        this.rows = [];
        this.height = 0;
    }

    reserve(size) {
        const more = (old, fresh) => {
            if (old)
                fresh.set(old);
            return fresh;
        };
        this.node = more(this.node, new Int32Array(size));
        this.last = more(this.last, new Int32Array(size)); /* the next node after the box, or after
                                                            * the run */
        this.depth = more(this.depth, new Int32Array(size));
        this.run = more(this.run, new Uint8Array(size)); /* 1: several thin frames; 2: some, while
                                                          * the picture moves */
        this.x = more(this.x, new Float64Array(size));
        this.w = more(this.w, new Float64Array(size));
    }

    add(node, last, depth, run, x, w) {
        if (this.n === this.node.length)
            this.reserve(2 * this.n);
        const i = this.n++;
        this.node[i] = node;
        this.last[i] = last;
        this.depth[i] = depth;
        this.run[i] = run;
        this.x[i] = x;
        this.w[i] = w;
        (this.rows[depth] || (this.rows[depth] = [])).push(i);
        if (depth >= this.height)
            this.height = depth + 1;
        return i;
    }

    clear() {
        this.n = this.height = 0;
        for (const row of this.rows)
            if (row)
                row.length = 0;
    }

    /* The box at a place, or -1; thin boxes are also hit slightly beside them. */
    at(depth, x) {
        const row = this.rows[depth];
        if (!row || !row.length)
            return -1;
        let low = 0, high = row.length;
        while (low < high) {
            const middle = low + high >> 1;
            if (this.x[row[middle]] <= x)
                low = middle + 1;
            else
                high = middle;
        }
        if (!low)
            return -1;
        const i = row[low - 1];
        return x <= this.x[i] + Math.max(this.w[i], THIN) ? i : -1;
    }

    ofNode(node, depth) {
        for (const i of this.rows[depth] || [])
            if (node >= this.node[i] && node < this.last[i] && (this.run[i] || node === this.node[i]))
                return i;
        return -1;
    }
}

/*
 * Makes the boxes of the range [x0, x1] of counts on `width` pixels. Neighbours narrower than
 * `thin` become one box. Its run is 2, with the first frame's colour, if they are visible when the
 * picture does not move.
 */
function layoutBoxes(boxes, graph, x0, x1, width, thin = THIN) {
    const { n, total, depth, end } = graph, scale = width / (x1 - x0);
    const open = []; /* by depth: the run being gathered there */
    const edges = [0]; /* by depth: left edge of the next frame there */
    boxes.clear();
    for (let i = 0; i < n;) {
        const d = depth[i], start = edges[d], w = total[i] * scale, x = (start - x0) * scale;
        edges[d] = start + total[i];
        edges[d + 1] = start;
        if (w <= 0 || x >= width || x + w <= 0) {
            i = end[i];
            continue;
        }
        if (w >= thin) {
            boxes.add(i, i + 1, d, 0, x, w);
            i++;
            continue;
        }
        const run = open[d];
        const kind = w >= THIN ? 2 : 1;
        if (run !== undefined && run < boxes.n && boxes.run[run] === kind && boxes.depth[run] === d &&
            x - (boxes.x[run] + boxes.w[run]) < 0.01 && boxes.last[run] === i) {
            boxes.w[run] = x + w - boxes.x[run];
            boxes.last[run] = end[i];
        } else {
            open[d] = boxes.add(i, end[i], d, kind, x, w);
        }
        i = end[i];
    }
}

/* Widths of text in FONT, measured by the browser once for each character and name. */
class Pen {
    constructor(profile) {
        this.profile = profile;
        this.context = document.createElement("canvas").getContext("2d");
        this.context.font = FONT;
        this.chars = new Map();
        this.names = new Float32Array(profile.names.length);
    }

    char(c) {
        let w = this.chars.get(c);
        if (w === undefined) {
            w = this.context.measureText(c).width;
            this.chars.set(c, w);
        }
        return w;
    }

    text(s) {
        let w = 0;
        for (const c of s)
            w += this.char(c);
        return w;
    }

    name(n) {
        if (!this.names[n])
            this.names[n] = this.text(this.profile.names[n]);
        return this.names[n];
    }

    /* As much of a text as fits, from its beginning or up to its end. */
    cut(s, room, fromEnd) {
        const dots = this.char("\u2026");
        let used = dots, chars = 0;
        if (fromEnd) {
            let at = s.length;
            while (at > 0 && (used += this.char(s[at - 1])) <= room) {
                at--;
                chars++;
            }
            if (at > 0 && s.charCodeAt(at) >= 0xdc00 && s.charCodeAt(at) < 0xe000)
                at++;
            return chars < 2 ? "" : "\u2026" + s.slice(at);
        }
        let at = 0;
        for (const c of s) {
            used += this.char(c);
            if (used > room)
                break;
            at += c.length;
            chars++;
        }
        return chars < 2 ? "" : s.slice(0, at) + "\u2026";
    }
}

/* Lowest and highest depth in sight. */
function rowsInSight(flame, space, top, bottom) {
    return flame ? [Math.floor((space - bottom) / ROW), Math.floor((space - top) / ROW)] :
        [Math.floor(top / ROW), Math.floor(bottom / ROW)];
}

/*
 * Paints boxes. `view`: {graph, boxes, profile, pen, color, share, marks, theme, flame, space,
 * top, width, height, x0, x1, zoomDepth, search, matchesBefore, highlight, fromEnd}.
 */
function paint(ctx, view) {
    const { graph, boxes, theme, flame, space, top, height } = view;
    const [low, high] = rowsInSight(flame, space, top, top + height);
    ctx.font = FONT;
    ctx.textBaseline = "middle";
    for (let d = Math.max(0, low); d <= high && d < boxes.height; d++) {
        const y = (flame ? space - (d + 1) * ROW : d * ROW) - top;
        const row = boxes.rows[d] || [];
        ctx.globalAlpha = d < view.zoomDepth ? theme.caller : 1;
        for (const i of row)
            paintBox(ctx, view, i, y);
        /* Callers of the zoomed frame are pale, so their labels have the theme's colour. */
        ctx.globalAlpha = 1;
        for (const i of row)
            if (boxes.w[i] > 2 * PAD + 12)
                paintLabel(ctx, view, i, y);
    }
    ctx.globalAlpha = 1;
    if (view.highlight >= 0) {
        ctx.strokeStyle = theme.text;
        ctx.lineWidth = 1.5;
        for (let i = 0; i < boxes.n; i++)
            if (!boxes.run[i] && graph.name[boxes.node[i]] === view.highlight) {
                const d = boxes.depth[i];
                const y = (flame ? space - (d + 1) * ROW : d * ROW) - top;
                const [x, w] = clip(boxes.x[i], boxes.w[i], view.width);
                ctx.strokeRect(x + 0.75, y + 0.75, Math.max(w - 2.5, 0.5), ROW - 2.5);
            }
    }
}

/* A frame that extends beyond an edge gets the width of its visible part. */
function clip(x, w, width) {
    const left = Math.max(x, 0);
    return [left, Math.min(x + w, width) - left];
}

function isMatch(view, i) {
    const { boxes, matchesBefore } = view;
    return boxes.run[i] ? matchesBefore[boxes.last[i]] > matchesBefore[boxes.node[i]] :
        matchesBefore[boxes.node[i] + 1] > matchesBefore[boxes.node[i]];
}

function paintBox(ctx, view, i, y) {
    const { boxes, theme } = view, node = boxes.node[i];
    const x = Math.max(boxes.x[i], 0), w = Math.min(boxes.x[i] + boxes.w[i], view.width) - x;
    const faded = view.search.active && !isMatch(view, i);
    if (boxes.run[i] && (boxes.run[i] === 1 || view.search.active))
        ctx.fillStyle = view.search.active && !faded ? theme.accent : theme.thin;
    else
        ctx.fillStyle = faded ? theme.faded : view.color(node);
    const drawn = w > 3 ? w - 1 : w > 1.5 ? w - 0.5 : w;
    ctx.fillRect(x, y, drawn, ROW - 1);
    if (view.marks && view.marks[node] >= GONE && drawn > 2 && !boxes.run[i] && !faded) {
        ctx.strokeStyle = theme.muted; /* black and white, because the ground may be either */
        ctx.lineWidth = 1;
        ctx.strokeRect(x + 0.5, y + 0.5, drawn - 1, ROW - 2);
    }
}

function paintLabel(ctx, view, i, y) {
    const { boxes, theme, graph, pen, profile } = view, node = boxes.node[i];
    const [x, w] = clip(boxes.x[i], boxes.w[i], view.width), room = w - 2 * PAD;
    const faded = view.search.active && !isMatch(view, i), middle = y + ROW / 2;
    if (boxes.run[i]) {
        const text = plural(boxes.last[i] - node, "frame", "frames");
        ctx.fillStyle = view.search.active && !faded ? theme.panel : theme.text;
        if (pen.text(text) <= room)
            ctx.fillText(text, x + PAD, middle);
        return;
    }
    const n = graph.name[node];
    const width = pen.name(n);
    let s = profile.names[n], left = x + PAD;
    const mark = view.marks ? view.marks[node] : 0;
    ctx.fillStyle = faded ? theme.muted :
        boxes.depth[i] < view.zoomDepth ? theme.text :
            mark === BAND || mark === GONE ? "#ffffff" : theme.label;
    if (view.share) {
        const share = mark === GONE ? -1 : mark === NEW ? 1 : view.share(node);
        ctx.fillText(share > 0 ? "+" : share < 0 ? "\u2212" : "=", left, middle);
        left += 12;
    }
    if (mark === BAND) {
        paintBand(ctx, view, s, left, x + w - PAD, middle);
        return;
    }
    const free = x + w - PAD - left;
    if (width > free) {
        s = pen.cut(s, free, view.fromEnd);
        if (s)
            ctx.fillText(s, left, middle);
        return;
    }
    ctx.fillText(s, left, middle);
    const more = noteOf(graph, node, view), noteWidth = free - width > 60 ? pen.text(more) : Infinity;
    if (width + 10 + noteWidth <= free) {
        const alpha = ctx.globalAlpha;
        ctx.globalAlpha = alpha * ALPHAS.note;
        ctx.fillText(more, left + width + 8, middle);
        ctx.globalAlpha = alpha;
    }
}

/* A thread's name, bold. Only these labels are measured when they are drawn. */
function paintBand(ctx, { pen, fromEnd }, name, left, right, middle) {
    const room = right - left;
    ctx.font = "600 " + FONT;
    for (let cut = room, s = name; s; s = pen.cut(name, cut *= 0.9, fromEnd))
        if (ctx.measureText(s.slice(0, 1000)).width <= room) {
            ctx.fillText(s.slice(0, 1000), left, middle);
            break;
        }
    ctx.font = FONT;
}

/* Text that follows the name if there is room. */
function noteOf(graph, node, { mode, per, carry }) {
    const chain = graph.chain && graph.chain[node].length > 1 ?
        `\u00b7 ${graph.chain[node].length} frames ` : "";
    if (per)
        return chain + formatPer(per, node, graph.unit);
    if (mode === "ratio")
        return chain + formatRatio(graph.now[node], graph.was[node]);
    if (graph.change) {
        const { was, change } = shownChange(graph, carry);
        return chain + formatChange(change[node], mode === "relative" ? was[node] : graph.was[0]);
    }
    return chain + formatShort(graph.total[node], graph.unit);
}

/* By frame, the number of matches before it; computed once for a search, and null without one. */
function matchesOf(graph, search) {
    if (!search.active) {
        graph.matches = null;
        return null;
    }
    if (!graph.matches || graph.matches.search !== search) {
        const before = new Int32Array(graph.n + 1);
        for (let i = 0; i < graph.n; i++)
            before[i + 1] = before[i] + (frameMatches(graph, search.match, i) ? 1 : 0);
        graph.matches = { search, before };
    }
    return graph.matches.before;
}
