/*
 * ---- page_lanepath.js: the critical path in the lanes ----
 *
 * A band below a lane's bar shows the times when the path was in that thread. It is drawn in the
 * color of the text, as the bars' colors show the kinds of waits. The switch is in the legend, and
 * its state in the address (laneNoPath).
 */

const PATH_BAND = 3;

/* Pieces by thread, in order; null: the file has no path. `packed`: [[short, numbers], ...] */
function readLanePath(packed) {
    const of = new Map();
    let short = 0;
    for (const [least, text] of packed || []) {
        const read = unpacker(text);
        short = Math.max(short, least);
        for (let at = 0; read.more();) {
            const thread = read.next(), begin = at + read.next(), end = begin + read.next();
            const pieces = of.get(thread) || { begin: [], end: [] };
            pieces.begin.push(begin);
            pieces.end.push(end);
            of.set(thread, pieces);
            at = end;
        }
    }
    return of.size ? { of, short } : null;
}

class LanePath {
    /* act(on): the reader switches its display on or off */
    constructor(data, act) {
        this.data = data;
        this.path = data.path;
        this.act = act;
    }

    legend() {
        if (!this.path)
            return [];
        const label = element("label", "lanes-key lanes-path");
        this.box = element("input", "");
        this.box.type = "checkbox";
        this.box.checked = true;
        this.box.addEventListener("change", () => this.act(this.box.checked));
        label.append(this.box, element("i", "lanes-swatch lanes-band"), "Critical path");
        label.title = "The band below a lane: the one chain of running and waiting that took from the beginning to " +
            "the end was in this thread (C, with the lanes focused)" +
            (this.path.short ? `. Pieces below ${laneSpan(this.path.short)} are left out.` : "");
        return [label];
    }

    show(on) {
        this.on = on && Boolean(this.path);
        if (this.box)
            this.box.checked = this.on;
    }

    toggle() {
        if (this.path)
            this.act(!this.on);
    }

    /* Pieces within a pixel of each other are drawn as one. */
    draw(chart, thread, top) {
        const pieces = this.on && this.path.of.get(thread);
        if (!pieces)
            return;
        const [from, to] = chart.window, { begin, end } = pieces, { ctx } = chart;
        ctx.fillStyle = chart.shown.theme.text;
        for (let i = lowerBound(end, from); i < begin.length && begin[i] <= to;) {
            const x0 = Math.max(LANE_EDGE.left, chart.x(begin[i]));
            let x1 = chart.x(Math.min(to, end[i]));
            for (i++; i < begin.length && chart.x(begin[i]) <= x1 + 1; i++)
                x1 = Math.max(x1, chart.x(Math.min(to, end[i])));
            ctx.fillRect(x0, top + LANE_BAR + 2, Math.max(1, x1 - x0), PATH_BAND);
        }
    }

    /* Part of the time in which the path was in the thread. */
    within(thread, from, to) {
        const pieces = this.path && this.path.of.get(thread);
        let sum = 0;
        for (let i = pieces ? lowerBound(pieces.end, from) : 0; pieces && i < pieces.begin.length &&
            pieces.begin[i] < to; i++)
            sum += Math.max(0, Math.min(to, pieces.end[i]) - Math.max(from, pieces.begin[i]));
        return sum;
    }

    /* Text of the tooltip for a wait or a moment. */
    sentence(thread, from, to) {
        const sum = this.within(thread, from, Math.max(to, from + 1));
        if (!sum)
            return "";
        return to - from <= 1 || sum >= to - from ? "; on the critical path" :
            `; on the critical path for ${laneSpan(sum)} of it`;
    }
}
