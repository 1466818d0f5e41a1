/*
 * ---- page_laneregions.js: regions of the program, in the lanes ----
 *
 * A region is a line above the bar of its thread's lane, with a tick at its begin and its end, and
 * its name where there is room. A click on the line or the name takes its time as the range; R does
 * for the region of the wait that is picked. The switch is in the legend, and its state in the
 * address (laneNoRegions).
 */

const REGION_LINE = 3, REGION_NAME_LEAST = 26;

/* By thread {name, begin, end}, in order of their begins; null: without regions. `packed`: [[name,
 * numbers], ...] */
function readLaneRegions(packed) {
    const of = new Map();
    for (const [name, text] of packed || []) {
        const read = unpacker(text);
        for (let at = 0; read.more();) {
            const thread = read.next();
            at += read.next();
            const list = of.get(thread) || [];
            list.push({ name, begin: at, end: at + read.next() });
            of.set(thread, list);
        }
    }
    for (const list of of.values())
        list.sort((a, b) => a.begin - b.begin || b.end - a.end);
    return of.size ? of : null;
}

class LaneRegions {
    /* act(on): the reader switches their display on or off */
    constructor(data, act) {
        this.of = data.regions;
        this.act = act;
        this.drawn = []; /* clickable areas: {x0, x1, y0, y1, region}, the topmost last */
    }

    legend() {
        if (!this.of)
            return [];
        const label = element("label", "lanes-key lanes-regions");
        this.box = element("input", "");
        this.box.type = "checkbox";
        this.box.checked = true;
        this.box.addEventListener("change", () => this.act(this.box.checked));
        label.append(this.box, element("i", "lanes-swatch lanes-region"), "Regions");
        label.title = "The line above a lane: the thread was in a region that the program marks. A click on it takes " +
            "its time as the range (R, of the wait that is picked; G shows regions or not, with the lanes focused)";
        return [label];
    }

    show(on) {
        this.on = on && Boolean(this.of);
        if (this.box)
            this.box.checked = this.on;
    }

    toggle() {
        if (this.of)
            this.act(!this.on);
    }

    begin() {
        this.drawn = [];
    }

    /* Regions shorter than a pixel that lie within one are drawn as one. */
    draw(chart, thread, top) {
        const list = this.on && this.of.get(thread), { ctx } = chart;
        if (!list)
            return;
        const [from, to] = chart.window, right = chart.plot.clientWidth - LANE_EDGE.right;
        let last = -1;
        for (const region of list) {
            if (region.begin > to)
                break;
            if (region.end < from)
                continue;
            const x0 = Math.max(LANE_EDGE.left, chart.x(region.begin)), x1 = Math.min(right, chart.x(region.end));
            if (x1 - x0 < 1 && Math.floor(x0) === last)
                continue;
            last = x1 - x0 < 1 ? Math.floor(x0) : -1;
            this.drawOne(chart, region, [x0, Math.max(x0 + 1, x1)], top);
        }
        ctx.globalAlpha = 1;
    }

    drawOne({ ctx, shown }, region, [x0, x1], top) {
        ctx.fillStyle = shown.theme.accent;
        ctx.fillRect(x0, top, x1 - x0, REGION_LINE);
        if (x1 - x0 > 3)
            for (const x of [x0, x1 - 1])
                ctx.fillRect(x, top, 1, LANE_BAR + 2);
        this.drawn.push({ x0, x1, y0: top - 1, y1: top + REGION_LINE + 1, region });
        if (x1 - x0 < REGION_NAME_LEAST)
            return;
        const name = shorten(region.name, Math.floor((x1 - x0 - 8) / 6)), width = ctx.measureText(name).width + 6;
        if (width > x1 - x0 - 2)
            return;
        ctx.globalAlpha = 0.85;
        ctx.fillStyle = shown.theme.panel;
        ctx.fillRect(x0 + 1, top + REGION_LINE, width, LANE_BAR - 1);
        ctx.globalAlpha = 1;
        ctx.fillStyle = shown.theme.text;
        ctx.fillText(name, x0 + 4, top + REGION_LINE + LANE_BAR / 2);
        this.drawn.push({ x0, x1: x0 + width, y0: top, y1: top + LANE_BAR + 2, region });
    }

    /* The region of the clickable area at a place, or null. */
    at(x, y) {
        for (let i = this.drawn.length - 1; i >= 0; i--) {
            const d = this.drawn[i];
            if (x >= d.x0 - 1 && x <= d.x1 + 1 && y >= d.y0 && y < d.y1)
                return d.region;
        }
        return null;
    }

    /* The innermost region of a thread at a time, or null. */
    around(thread, t) {
        let best = null;
        for (const region of (this.of && this.of.get(thread)) || [])
            if (region.begin <= t && t < region.end)
                best = region;
        return best;
    }

    /* Text of the tooltip. */
    sentence(thread, t) {
        const region = this.around(thread, t);
        return region ? `; in region ${region.name}, which took ${laneSpan(region.end - region.begin)}` : "";
    }
}
