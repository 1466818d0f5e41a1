/*
 * ---- page_memory_chart.js: live, mapped and resident memory over time, above the graph ----
 *
 * Lines are SVG, so that they are sharp on paper; the selection and the pointer's line lie over
 * them, so that moving either redraws nothing else. A click selects a moment, a drag a growth,
 * whose ends and middle can be dragged again.
 */

const GROWTH_LINES = [["live", "Live", "Allocated and not freed"],
    ["rss", "Resident", "In memory, as the kernel counts it (RSS)"],
    ["mapped", "Mapped", "Mapped by the program or its allocator"]];
const GROWTH_EDGE = { left: 64, right: 14, top: 16, bottom: 20 };
const GRAB = 5; /* pixels beside an end of the selection in which a press still grabs it */

function svgElement(tag, attributes, text) {
    const e = document.createElementNS(document.querySelector("svg").namespaceURI, tag);
    for (const key in attributes)
        e.setAttribute(key, attributes[key]);
    if (text !== undefined)
        e.textContent = text;
    return e;
}

/* The step of an axis: the least round step that gives at most `most` ticks. */
function tickStep(span, most, rounds) {
    return rounds.find((step) => span / step <= most) || rounds[rounds.length - 1];
}

const TIME_STEPS = [];
for (let k = -6; k < 2; k++)
    TIME_STEPS.push(10 ** k, 2 * 10 ** k, 5 * 10 ** k);
TIME_STEPS.splice(TIME_STEPS.indexOf(20), 9, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400,
    21600, 43200);
for (let days = 1; days < 1e4; days *= 2)
    TIME_STEPS.push(days * 86400);
const BYTE_STEPS = [];
for (let k = 0; k < 6; k++)
    for (const step of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
        BYTE_STEPS.push(step * 1024 ** k);

class MemoryChart {
    /* listener(span or null, whether the drag continues) */
    constructor(host, timeline, listener) {
        Object.assign(this, { host, timeline, listener, off: new Set(), span: null });
        host.hidden = !timeline;
        if (timeline)
            this.build();
    }

    build() {
        const { timeline, host } = this;
        const most = {};
        for (const [key] of GROWTH_LINES)
            most[key] = timeline[key].reduce((a, b) => Math.max(a, b), 0);
        this.lines = GROWTH_LINES.filter(([key]) => most[key] > 0);
        /* A line many times higher than the others would flatten them. */
        if (most.mapped > 8 * Math.max(most.live, most.rss) && this.lines.length > 1)
            this.off.add("mapped");
        this.most = most;
        this.legend = element("div", "growth-legend");
        this.legend.setAttribute("role", "group");
        this.legend.setAttribute("aria-label", "Lines of the chart");
        this.values = {};
        for (const [key, name, title] of this.lines)
            this.legend.append(this.legendButton(key, name, title));
        this.text = element("div", "growth-text");
        this.reset = element("button", "icon growth-reset", "\u2715");
        this.reset.setAttribute("aria-label", "Back to the whole run");
        this.reset.title = "Back to the whole run (Esc)";
        this.reset.addEventListener("click", () => this.listener(null));
        this.plot = element("div", "growth-plot");
        this.plot.tabIndex = 0;
        this.plot.setAttribute("role", "slider");
        this.plot.setAttribute("aria-label", "Memory over time. Left and right choose a moment, " +
            "with Shift the growth up to one, Home and End the first and the last, Escape the whole run.");
        this.svg = svgElement("svg", { "aria-hidden": "true" });
        this.brush = element("div", "growth-brush");
        this.cursor = element("div", "growth-cursor");
        this.cursor.hidden = true;
        this.plot.append(this.svg, this.brush, this.cursor);
        this.player = new Player({
            count: () => timeline.times.length,
            at: () => {
                const moments = momentsOf(timeline, this.span);
                return moments && moments[0] === moments[1] ? moments[0] : -1;
            },
            show: (moment, more) => this.select(moment, moment, more),
        });
        this.player.button.hidden = timeline.times.length < 2;
        host.append(element("div", "growth-head", this.legend, this.text, this.player.button, this.reset),
            this.plot);
        this.listen();
    }

    legendButton(key, name, title) {
        this.values[key] = element("span", "growth-value");
        const button = element("button", "growth-key", element("span", "growth-swatch line-" + key),
            name, this.values[key]);
        button.title = title + ". Click to show or hide.";
        button.addEventListener("click", () => {
            if (!this.off.delete(key))
                this.off.add(key);
            this.paint();
        });
        button.dataset.line = key;
        return button;
    }

    show(span) {
        this.span = span;
        if (this.timeline)
            this.paint();
    }

    /* ---- drawing ---- */

    paint() {
        const { svg, plot, timeline } = this, { left, right, top, bottom } = GROWTH_EDGE;
        const width = plot.clientWidth, height = plot.clientHeight;
        if (!(width > left + right) || !(height > top + bottom))
            return;
        const { times } = timeline, last = times[times.length - 1];
        const first = times[0] > last / 5 ? times[0] : 0;
        const shown = this.lines.filter(([key]) => !this.off.has(key));
        const most = shown.reduce((a, [key]) => Math.max(a, this.most[key]), 0) || 1;
        const span = last - first || 1;
        this.x = (t) => left + (t - first) / span * (width - left - right);
        this.timeOf = (x) => first + (x - left) / (width - left - right) * span;
        this.y = (v) => height - bottom - v / (most * 1.05) * (height - top - bottom);
        svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
        svg.replaceChildren(...this.grid(first, last, most, width, height),
            ...shown.slice().reverse().map(([key]) => this.line(key, height - bottom)),
            ...this.flags(width, height));
        for (const button of this.legend.children)
            button.setAttribute("aria-pressed", String(!this.off.has(button.dataset.line)));
        this.mark();
    }

    grid(first, last, most, width, height) {
        const { left, right, top, bottom } = GROWTH_EDGE, parts = [];
        const step = tickStep(most * 1.05, Math.max(2, (height - top - bottom) / 22), BYTE_STEPS);
        for (let v = 0; v <= most * 1.05; v += step) {
            parts.push(svgElement("line", { class: v ? "growth-grid" : "growth-axis", x1: left,
                x2: width - right, y1: this.y(v), y2: this.y(v) }),
            svgElement("text", { class: "growth-label", x: left - 7, y: this.y(v) + 3.5,
                "text-anchor": "end" }, v ? formatShort(v, "bytes").replace(/\.0+ /, " ") : "0"));
        }
        const wide = tickStep(last - first, Math.max(2, (width - left - right) / 80), TIME_STEPS);
        for (let i = Math.ceil(first / wide - 1e-9); i * wide <= last * (1 + 1e-9); i++) {
            const x = this.x(i * wide);
            parts.push(svgElement("line", { class: "growth-axis", x1: x, x2: x, y1: height - bottom,
                y2: height - bottom + 4 }),
            svgElement("text", { class: "growth-label", x, y: height - 5, "text-anchor":
                x > width - 30 ? "end" : "middle" }, formatTime(i * wide)));
        }
        return parts;
    }

    line(key, base) {
        const { times } = this.timeline, values = this.timeline[key];
        const points = Array.from(times, (t, i) =>
            `${this.x(t).toFixed(1)},${this.y(values[i]).toFixed(1)}`);
        const group = svgElement("g", { class: "growth-line line-" + key });
        if (key === "live")
            group.append(svgElement("polygon", { points: `${this.x(times[0]).toFixed(1)},${base} ` +
                `${points.join(" ")} ${this.x(times[times.length - 1]).toFixed(1)},${base}` }));
        group.append(svgElement("polyline", { points: points.join(" ") }));
        return group;
    }

    /* The program's marks; names where there is room for them. */
    flags(width, height) {
        const { right, top, bottom } = GROWTH_EDGE, { marks } = this.timeline;
        let free = 0;
        return marks.map(({ time, name }) => {
            const x = this.x(time), text = shorten(name || "(no name)", 24);
            const group = svgElement("g", { class: "growth-flag" });
            group.append(svgElement("line", { x1: x, x2: x, y1: 5, y2: height - bottom }),
                svgElement("path", { d: `M${x} 4l6 3.5l-6 3.5z` }),
                svgElement("title", {}, `${name.slice(0, 300)}, marked at ${formatTime(time)}`));
            const room = text.length * 6.2 + 14;
            if (x >= free && x + room < width - right + 8) {
                group.append(svgElement("text", { x: x + 9, y: top - 5 }, text));
                free = x + room;
            }
            return group;
        });
    }

    /* ---- the selection ---- */

    mark() {
        const { timeline, span, plot } = this, { times } = timeline, n = times.length;
        const moments = momentsOf(timeline, span), [a, b] = moments || [n - 1, n - 1];
        this.brush.hidden = !moments;
        this.reset.style.visibility = moments ? "visible" : "hidden"; /* its room remains */
        if (moments) {
            const x0 = this.x(times[a]), x1 = this.x(times[b]);
            this.brush.classList.toggle("one", a === b);
            this.brush.style.left = (a === b ? x0 - 1 : x0) + "px";
            this.brush.style.width = Math.max(2, x1 - x0) + "px";
            this.brush.style.top = GROWTH_EDGE.top + "px";
            this.brush.style.bottom = GROWTH_EDGE.bottom + "px";
        }
        for (const [key] of this.lines)
            this.values[key].textContent = a === b ? formatShort(timeline[key][b], "bytes") :
                signed(timeline[key][b] - timeline[key][a]);
        this.text.textContent = this.sentence(a, b, moments);
        plot.setAttribute("aria-valuemin", 0);
        plot.setAttribute("aria-valuemax", n - 1);
        plot.setAttribute("aria-valuenow", b);
        plot.setAttribute("aria-valuetext", this.text.textContent + ". " + this.lines.map(([key, name]) =>
            name + " " + this.values[key].textContent).join(", "));
    }

    sentence(a, b, moments) {
        const { times } = this.timeline;
        if (!moments)
            return `${plural(times.length, "moment", "moments")} \u00b7 click for one, drag for the growth`;
        return a === b ? `at ${formatTime(times[a])}` :
            `from ${formatTime(times[a])} to ${formatTime(times[b])}`;
    }

    /* The pointer's line, with the amounts at the nearest moment. */
    point(x) {
        const { timeline, plot } = this, { left, right } = GROWTH_EDGE;
        this.cursor.hidden = x === null || x < left - 8 || x > plot.clientWidth - right + 8;
        if (this.cursor.hidden)
            return;
        const i = nearestMoment(timeline.times, this.timeOf(x)), at = this.x(timeline.times[i]);
        const near = timeline.marks.filter(({ time }) => Math.abs(this.x(time) - x) <= 4).slice(0, 3);
        this.cursor.style.left = at + "px";
        this.cursor.classList.toggle("left", at > plot.clientWidth / 2);
        this.cursor.replaceChildren(element("div", "growth-tip",
            element("div", "tip-name", formatTime(timeline.times[i])),
            ...this.lines.map(([key, name]) => tipRow(name, formatShort(timeline[key][i], "bytes"))),
            ...near.map(({ name }) => element("div", "tip-note", "\u2691 " + shorten(name, 60)))));
    }

    /* ---- actions of the reader ---- */

    select(a, b, more) {
        const { times } = this.timeline;
        this.listener([times[Math.min(a, b)], times[Math.max(a, b)]], more);
    }

    at(event) {
        const box = this.plot.getBoundingClientRect();
        return event.clientX - box.left;
    }

    momentAt(x) {
        return nearestMoment(this.timeline.times, this.timeOf(x));
    }

    /* The part that a press at x moves. {from}: the other end does not move; {a, b}: both ends
     * move. */
    grab(x) {
        const moments = momentsOf(this.timeline, this.span), { times } = this.timeline;
        if (!moments || moments[0] === moments[1])
            return { from: this.momentAt(x) };
        const [x0, x1] = moments.map((i) => this.x(times[i]));
        if (Math.abs(x - x0) <= GRAB)
            return { from: moments[1], held: true };
        if (Math.abs(x - x1) <= GRAB)
            return { from: moments[0], held: true };
        return x > x0 && x < x1 ? { span: this.span, from: this.momentAt(x) } :
            { from: this.momentAt(x) };
    }

    drag(x) {
        const { hold, timeline: { times } } = this, to = this.momentAt(x);
        if (!hold.moved && Math.abs(x - hold.x) < 4)
            return;
        hold.moved = true;
        if (!hold.span) {
            this.select(hold.from, to, true);
            return;
        }
        const [t0, t1] = hold.span, last = times[times.length - 1];
        const by = Math.max(times[0] - t0, Math.min(last - t1, this.timeOf(x) - this.timeOf(hold.x)));
        const ends = [t0 + by, t1 + by].map((t) => nearestMoment(times, t));
        this.select(ends[0], Math.max(ends[1], Math.min(times.length - 1, ends[0] + 1)), true);
    }

    /* Pointer events come faster than pictures: only the last one before each picture counts. */
    later(act) {
        cancelAnimationFrame(this.waiting);
        this.waiting = requestAnimationFrame(act);
    }

    listen() {
        const { plot } = this;
        plot.addEventListener("pointerdown", (event) => {
            if (event.button !== 0)
                return;
            const x = this.at(event);
            this.hold = { ...this.grab(x), x };
            plot.setPointerCapture(event.pointerId);
        });
        plot.addEventListener("pointermove", (event) => {
            const x = this.at(event), held = this.hold || this.grab(x);
            plot.style.cursor = held.held ? "ew-resize" : held.span ? "grab" : "crosshair";
            this.later(() => {
                this.point(x);
                if (this.hold)
                    this.drag(x);
            });
        });
        plot.addEventListener("pointerup", (event) => {
            const { hold } = this, x = this.at(event);
            cancelAnimationFrame(this.waiting);
            if (hold && (hold.moved || Math.abs(x - hold.x) >= 4))
                this.drag(x);
            else if (hold)
                this.select(this.momentAt(x), this.momentAt(x));
            this.hold = null;
        });
        plot.addEventListener("pointercancel", () => {
            this.hold = null;
        });
        plot.addEventListener("pointerleave", () => this.later(() => this.point(null)));
        plot.addEventListener("dblclick", () => this.listener(null));
        plot.addEventListener("keydown", (event) => this.key(event));
    }

    key(event) {
        const n = this.timeline.times.length, moments = momentsOf(this.timeline, this.span);
        const page = Math.max(1, Math.round(n / 10));
        const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -page, PageUp: page, Home: -n, End: n }[event.key];
        const within = (i) => Math.min(n - 1, Math.max(0, i));
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (event.key === " ")
            this.player.toggle();
        else if (event.key === "Escape" && moments)
            this.listener(null);
        else if (by && event.shiftKey && moments)
            this.select(moments[0], Math.max(moments[0], within(moments[1] + by)));
        else if (by)
            this.selectOne(moments ? within(moments[by > 0 ? 1 : 0] + by) : by > 0 ? 0 : n - 1);
        else
            return;
        event.preventDefault();
        event.stopPropagation();
    }

    selectOne(moment) {
        this.select(moment, moment);
    }
}

const signed = (v) => (v > 0 ? "+" : "") + formatShort(v, "bytes");
