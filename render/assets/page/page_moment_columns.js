/*
 * ---- page_moment_columns.js: columns that were counted at several moments ----
 *
 * A moment has only the nodes with a count in it. The shown counts are computed from the selected
 * moments: for flows (allocations, samples) their sum; for levels (live memory; fold/viewtable.h)
 * their mean, because a sum of levels has no meaning.
 */

function readMoment(packed, time) {
    const at = [], value = [], read = unpacker(packed.own);
    for (let i = 0; read.more();) {
        i += read.next();
        at.push(i);
        value.push(read.next() + (packed.fractions ? read.next() / 1e6 : 0));
    }
    return { time, at: Int32Array.from(at), value: Float64Array.from(value),
        sum: value.reduce((a, b) => a + b, 0) };
}

/* Own counts by node of moments first..last. */
function addMoments(column, n, first, last) {
    const own = new Float64Array(n), share = column.level ? 1 / (last - first + 1) : 1;
    for (const { at, value } of column.moments.slice(first, last + 1))
        for (let i = 0; i < at.length; i++)
            own[at[i]] += value[i] * share;
    return own;
}

/* A column's words in the switch of views. Pages of earlier versions have none, and so have stacks
 * that are dropped onto a page. */
const labelOf = (column) => column.label || column.name || column.unit;

/* Columns of one view at several times become one column with moments, in order of time. */
function gatherMoments(packed, n) {
    const columns = [];
    for (const c of packed) {
        if (c.time === undefined) {
            columns.push({ name: c.name, title: c.title || c.name || c.unit, label: labelOf(c), unit: c.unit,
                wrapped: c.wrapped, own: readOwn(c, n) });
            continue;
        }
        let column = columns.find((k) => k.moments && k.name === c.name && k.unit === c.unit);
        if (!column) {
            column = { name: c.name, title: c.title || c.name || c.unit, label: labelOf(c), unit: c.unit,
                wrapped: c.wrapped, moments: [], level: c.level };
            columns.push(column);
        }
        column.moments.push(readMoment(c, c.time));
    }
    for (const c of columns)
        if (c.moments) {
            c.moments.sort((a, b) => a.time - b.time);
            c.own = addMoments(c, n, 0, c.moments.length - 1);
        }
    return columns;
}

/* Sets the shown counts of every column to those of moments [first, last]; null: all. */
function selectMoments(profile, range) {
    for (const c of profile.columns) {
        if (!c.moments)
            continue;
        const [first, last] = range || [0, c.moments.length - 1];
        c.shown = [first, last].map((i) => Math.min(i, c.moments.length - 1));
        c.own = addMoments(c, profile.shape.n, ...c.shown);
        c.sum = c.own.reduce((a, b) => a + b, 0);
    }
}

const formatMoment = (time) => Number(time.toFixed(3)) + " s";

/* The strip above the graph: the total at each moment; a click or drag selects. */
class MomentBars {
    constructor(host, onSelect) {
        this.host = host;
        this.onSelect = onSelect;
        this.canvas = element("canvas", "series-canvas");
        this.frame = element("div", "series-frame");
        this.label = element("div", "series-label");
        host.append(this.canvas, this.frame, this.label);
        this.ctx = this.canvas.getContext("2d", { alpha: false });
        host.tabIndex = 0;
        host.setAttribute("role", "slider");
        host.setAttribute("aria-label",
            "Time. Left and right choose a moment, with Shift a range, Escape all.");
        this.listen();
    }

    /* {column, range, theme, dark} */
    show(view) {
        this.view = view;
        this.host.hidden = !view.column.moments;
        if (this.host.hidden)
            return;
        this.paint();
        this.mark(view.range);
    }

    /* Edges of the moments' slots; each is as wide as the time to the next moment. */
    edges() {
        const times = this.view.column.moments.map((m) => m.time), n = times.length;
        const first = times[0], span = times[n - 1] - first;
        const even = !(span > 0), all = even ? n : span * n / Math.max(1, n - 1);
        const at = (i) => even ? i / n : i === n ? 1 : (times[i] - first) / all;
        return Array.from({ length: n + 1 }, (_, i) => at(i));
    }

    paint() {
        const { ctx, host, view } = this, width = host.clientWidth, height = host.clientHeight;
        const ratio = devicePixelRatio || 1, edges = this.edges();
        const most = view.column.moments.reduce((a, m) => Math.max(a, m.sum), 0);
        this.canvas.width = Math.max(1, Math.round(width * ratio));
        this.canvas.height = Math.max(1, Math.round(height * ratio));
        ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        ctx.fillStyle = view.theme.panel;
        ctx.fillRect(0, 0, width, height);
        view.column.moments.forEach((m, i) => {
            const chosen = !view.range || (i >= view.range[0] && i <= view.range[1]);
            const x = edges[i] * width, w = (edges[i + 1] - edges[i]) * width;
            const h = most > 0 ? m.sum / most * (height - 4) : 0;
            ctx.fillStyle = chosen ? view.theme.accent : view.theme.thin;
            ctx.fillRect(x, height - h, Math.max(0.5, w > 3 ? w - 1 : w), h);
        });
    }

    mark(range) {
        const { moments, unit, level } = this.view.column, edges = this.edges();
        const width = this.host.clientWidth, [first, last] = range || [0, moments.length - 1];
        const sum = moments.slice(first, last + 1).reduce((a, m) => a + m.sum, 0);
        const many = last > first, value = formatShort(level ? sum / (last - first + 1) : sum, unit);
        const text = (many ? `${formatMoment(moments[first].time)} to ` : "at ") +
            `${formatMoment(moments[last].time)}: ${value}` + (many && level ? " on average" : "");
        this.frame.hidden = !range;
        this.frame.style.left = edges[first] * width + "px";
        this.frame.style.width = Math.max(3, (edges[last + 1] - edges[first]) * width) + "px";
        this.label.textContent = text;
        this.host.setAttribute("aria-valuemin", 0);
        this.host.setAttribute("aria-valuemax", moments.length - 1);
        this.host.setAttribute("aria-valuenow", last);
        this.host.setAttribute("aria-valuetext", text);
    }

    momentAt(event) {
        const box = this.host.getBoundingClientRect(), edges = this.edges();
        const x = (event.clientX - box.left) / box.width;
        let i = 0;
        while (i + 2 < edges.length && edges[i + 1] <= x)
            i++;
        return i;
    }

    listen() {
        const { host } = this;
        let from = -1;
        host.addEventListener("pointerdown", (event) => {
            if (event.button !== 0)
                return;
            from = this.momentAt(event);
            host.setPointerCapture(event.pointerId);
            this.onSelect([from, from]);
        });
        host.addEventListener("pointermove", (event) => {
            if (from < 0)
                return;
            const to = this.momentAt(event);
            this.onSelect([Math.min(from, to), Math.max(from, to)]);
        });
        host.addEventListener("pointerup", () => {
            from = -1;
        });
        host.addEventListener("dblclick", () => this.onSelect(null));
        host.addEventListener("keydown", (event) => this.key(event));
    }

    key(event) {
        const n = this.view.column.moments.length, { range } = this.view;
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (event.key === "Escape" && range) {
            this.onSelect(null);
        } else if (by && event.shiftKey && range) {
            this.onSelect([range[0], Math.min(n - 1, Math.max(range[0], range[1] + by))]);
        } else if (by) {
            const at = range ? Math.min(n - 1, Math.max(0, (by > 0 ? range[1] : range[0]) + by)) :
                by > 0 ? 0 : n - 1;
            this.onSelect([at, at]);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}
