/*
 * ---- page_lanes.js: one lane for each thread: running, ready to run, waiting, over time ----
 *
 * The canvas is as large as the visible area; lanes scroll under it. Bars are written as pixels
 * (LaneSums has a thread's waiting time in each), so that millions of waits draw as fast as a few.
 * Selections lie over it as elements.
 */

const LANE_HEIGHT = 18, LANE_BAR = 13, LANE_AXIS = 20;
const LANE_EDGE = { left: 178, right: 12 };
const LANE_LEAST = 1000; /* least visible time in ns */
const ARROWS_MAX = 300;

class LaneChart {
    /* listener: {path(on), regions(on), fold(on), view([from, to] | null), range(.., more),
     * pick({lane, wait} | null), open(row)} */
    constructor(host, data, listener) {
        Object.assign(this, { host, data, listener, sort: "waited", shown: null });
        host.hidden = !data;
        if (data)
            this.build();
    }

    /* ---- elements ---- */

    build() {
        const { host } = this;
        this.path = new LanePath(this.data, (on) => this.listener.path(on));
        this.regions = new LaneRegions(this.data, (on) => this.listener.regions(on));
        this.found = new LaneSearch(this.data, (by) => this.toMatch(by));
        this.canvas = element("canvas", "lanes-canvas");
        this.ctx = this.canvas.getContext("2d", { alpha: false });
        this.space = element("div", "lanes-space");
        this.brush = element("div", "lanes-brush");
        this.plot = element("div", "lanes-plot", this.canvas, this.space, this.brush);
        this.plot.chart = this;
        this.plot.tabIndex = 0;
        this.plot.setAttribute("role", "application");
        this.plot.setAttribute("aria-label", "Lanes of threads over time. Up and down choose a thread, " +
            "left and right a wait of it, Enter shows its stack in the graph. Plus and minus zoom, " +
            "with Shift left and right move, Shift and Enter take what is in sight as the range, " +
            "0 shows all, C the critical path or not, G regions or not, R takes the region of the wait as the range, " +
            "N goes to the next wait that the search finds, Escape goes back.");
        this.text = element("div", "lanes-text");
        this.text.setAttribute("aria-live", "polite");
        const button = (text, title, act) => {
            const b = element("button", "icon", text);
            b.title = title;
            b.setAttribute("aria-label", title);
            b.addEventListener("click", act);
            return b;
        };
        const sort = element("select", "");
        for (const [value, text] of [["waited", "by waiting"], ["start", "by start"], ["name", "by name"]]) {
            const option = element("option", "", text);
            option.value = value;
            sort.append(option);
        }
        sort.addEventListener("change", () => {
            this.sort = sort.value;
            this.order();
            this.paint();
        });
        this.fold = button("\u25be", "Hide or show the lanes", () => {
            this.listener.fold(!this.shown.folded);
        });
        this.reset = button("\u2715", "The whole run again (Esc)", () => this.listener.range(null));
        this.takeSight = button("\u21f2", "Count only what is in sight (Shift-Enter)", () =>
            this.listener.range([...this.window]));
        this.detail = element("dl", "lanes-detail");
        this.detail.hidden = true;
        host.append(element("div", "lanes-head", this.fold, element("strong", "", "Lanes"), this.legend(),
            ...this.found.buttons, element("label", "select lanes-sort", element("span", "", "Sort"), sort),
            button("\u2212", "Zoom out (-)", () => this.zoom(2)),
            button("+", "Zoom in (+)", () => this.zoom(1 / 2)),
            this.takeSight, button("0", "All of the time (0)", () => this.listener.view(null)), this.reset),
        this.text, this.plot, this.detail);
        this.order();
        this.listen();
    }

    legend() {
        const box = element("div", "lanes-legend"), used = new Set();
        for (const lane of this.data.lanes)
            for (let i = 0; i < lane.n; i++)
                used.add(CLASS_OF_KIND[this.data.kind[lane.row[i]]]);
        const entry = (key, name, title) => {
            const e = element("span", "lanes-key", element("i", "lanes-swatch wait-" + key), name);
            e.title = title;
            box.append(e);
        };
        WAIT_CLASSES.forEach(([key, name], i) => used.has(i) &&
            entry(key, name, "Asleep: " + name.toLowerCase()));
        entry("ready", "Ready", "Awake, and waiting for a CPU, at the end of a wait");
        entry("running", "Running", "Between waits: on a CPU, or ready for one. Which of the two it was when is " +
            "not known there, but how much of each: point at it.");
        box.append(...this.path.legend(), ...this.regions.legend());
        return box;
    }

    label(thread) {
        const t = this.data.threads[thread];
        return t ? `${t.title || t.name || "?"} ${t.uses > 1 ? `(${t.uses} threads)` : t.tid}` : "?";
    }

    /* Orders lanes so that those of one process are together; `rows`: lanes, and headings of
     * processes. */
    order() {
        const { data } = this, of = new Map();
        data.lanes.forEach((lane, i) => {
            const { pid } = data.threads[lane.thread];
            of.set(pid, [...(of.get(pid) || []), i]);
        });
        const key = { waited: (l) => -l.total, start: (l) => l.first }[this.sort];
        const less = key ? (a, b) => key(data.lanes[a]) - key(data.lanes[b]) :
            (a, b) => this.label(data.lanes[a].thread) < this.label(data.lanes[b].thread) ? -1 : 1;
        const processes = [...of].map(([pid, list]) => [pid, list.sort(less)])
            .sort(([, a], [, b]) => less(a[0], b[0]));
        this.rows = [];
        for (const [pid, list] of processes) {
            if (processes.length > 1 && list.length > 1)
                this.rows.push({ heading: `process ${pid}, ${list.length} threads` });
            for (const lane of list)
                this.rows.push({ lane });
        }
        this.rowOf = new Map();
        this.rows.forEach(({ lane }, i) => lane !== undefined && this.rowOf.set(lane, i));
        this.rowOfThread = new Map();
        data.lanes.forEach((lane, i) => this.rowOfThread.set(lane.thread, this.rowOf.get(i)));
    }

    /* ---- what is shown ---- */

    get window() {
        return (this.shown && this.shown.view) || [this.data.first, this.data.last];
    }

    /* {view, range, pick, noPath, noRegions, folded, embedded, theme, matches} */
    show(shown) {
        if (!this.data)
            return;
        this.shown = shown;
        this.fold.textContent = shown.folded ? "\u25b8" : "\u25be";
        this.fold.setAttribute("aria-expanded", String(!shown.folded));
        this.host.classList.toggle("folded", shown.folded);
        this.path.show(!shown.noPath);
        this.regions.show(!shown.noRegions);
        this.found.show(shown.matches);
        this.paint();
    }

    x(t) {
        const [from, to] = this.window, { left, right } = LANE_EDGE;
        return left + (t - from) / (to - from) * (this.plot.clientWidth - left - right);
    }

    timeAt(x) {
        const [from, to] = this.window, { left, right } = LANE_EDGE;
        return from + (x - left) / Math.max(1, this.plot.clientWidth - left - right) * (to - from);
    }

    y(row) {
        return LANE_AXIS + row * LANE_HEIGHT - this.plot.scrollTop;
    }

    rowAt(y) {
        return Math.floor((y - LANE_AXIS + this.plot.scrollTop) / LANE_HEIGHT);
    }

    paint() {
        const { plot, canvas, ctx, shown } = this;
        const all = LANE_AXIS + this.rows.length * LANE_HEIGHT + 2;
        this.space.style.height = all + "px";
        plot.style.height = Math.min(all, Math.max(shown && shown.embedded ? 84 : 120, Math.round(innerHeight * 0.3))) + "px";
        const width = plot.clientWidth, height = plot.clientHeight, ratio = devicePixelRatio || 1;
        if (!shown || shown.folded || width <= LANE_EDGE.left + LANE_EDGE.right || !(height > LANE_AXIS))
            return;
        const w = Math.round(width * ratio), h = Math.round(height * ratio);
        if (canvas.width !== w || canvas.height !== h) {
            canvas.width = w;
            canvas.height = h;
            canvas.style.width = width + "px";
            canvas.style.height = height + "px";
            canvas.style.marginBottom = -height + "px";
        }
        ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        ctx.fillStyle = shown.theme.panel;
        ctx.fillRect(0, 0, width, height);
        this.readColors();
        this.bars(width, height, ratio);
        this.axis(width, height);
        this.arrows(height);
        this.mark();
        this.say();
    }

    readColors() {
        if (this.colorsOf === this.shown.theme)
            return;
        this.colorsOf = this.shown.theme;
        const css = getComputedStyle(document.documentElement);
        const color = (key) => {
            const v = parseInt(css.getPropertyValue("--wait-" + key).trim().slice(1), 16);
            return 0xff000000 | (v & 255) << 16 | (v >> 8 & 255) << 8 | v >> 16;
        };
        this.colors = Uint32Array.from([...WAIT_CLASSES.map(([key]) => key), "ready", "running"], color);
    }

    bars(width, height, ratio) {
        const { ctx, data, shown, canvas } = this, [from, to] = this.window, { left, right } = LANE_EDGE;
        const pixels = Math.max(1, Math.round((width - left - right) * ratio)), step = (to - from) / pixels;
        const first = Math.max(0, this.rowAt(LANE_AXIS)), last = Math.min(this.rows.length - 1, this.rowAt(height));
        const bar = Math.round(LANE_BAR * ratio);
        if (!this.sums || this.sums.width !== pixels) {
            this.sums = new LaneSums(pixels);
            this.image = ctx.createImageData(pixels, bar);
            this.pixels = new Uint32Array(this.image.data.buffer);
        }
        ctx.font = "11px system-ui, sans-serif";
        ctx.textBaseline = "middle";
        this.regions.begin();
        for (let r = first; r <= last; r++) {
            const { heading, lane } = this.rows[r], top = this.y(r);
            if (heading) {
                ctx.fillStyle = shown.theme.muted;
                ctx.fillText(heading, 8, top + LANE_HEIGHT / 2);
                continue;
            }
            const picked = shown.pick && shown.pick.lane === lane;
            ctx.fillStyle = picked || this.cursor === lane ? shown.theme.accent : shown.theme.text;
            ctx.fillText(shorten(this.label(data.lanes[lane].thread), 27), 8, top + LANE_HEIGHT / 2);
            this.bar(data.lanes[lane], from, step, bar);
            ctx.putImageData(this.image, Math.round(left * ratio), Math.round((top + 2) * ratio));
            this.path.draw(this, data.lanes[lane].thread, top);
            this.regions.draw(this, data.lanes[lane].thread, top);
            this.found.draw(this, lane, top);
        }
        this.painted = { first, last, pixels, canvas: canvas.width };
    }

    /* Draws one lane into the image: in each pixel column first the waits, each as high as its
     * share of the time, then running. */
    bar(lane, from, step, bar) {
        const { pixels, colors } = this, { width } = this.sums, sums = this.sums.make(lane, this.data.kind, from, step);
        const running = colors[SUM_CLASSES];
        for (let x = 0; x < width; x++) {
            let most = 0, which = 0, all = 0;
            for (let c = 0, at = x * SUM_CLASSES; c < SUM_CLASSES; c++) {
                const v = sums[at + c];
                all += v;
                if (v > most) {
                    most = v;
                    which = c;
                }
            }
            const t = from + (x + 0.5) * step, there = t >= lane.first && t < lane.last;
            const share = Math.min(1, all / step);
            let tall = share > 0.985 ? bar : Math.round(share * bar);
            if (all > 0 && tall === 0)
                tall = 1;
            const rest = there ? running : 0, color = colors[which];
            for (let y = 0, p = x; y < bar; y++, p += width)
                pixels[p] = y < tall ? color : rest;
        }
        /* Times at which the thread does not exist have the colour of the panel behind. */
        if (lane.first > from || lane.last < from + step * width) {
            const panel = this.panelColor();
            for (let p = 0; p < pixels.length; p++)
                if (pixels[p] === 0)
                    pixels[p] = panel;
        }
    }

    panelColor() {
        if (this.panelOf !== this.shown.theme.panel) {
            this.panelOf = this.shown.theme.panel;
            this.ctx.fillStyle = this.panelOf;
            const v = parseInt(this.ctx.fillStyle.slice(1), 16);
            this.panel = (0xff000000 | (v & 255) << 16 | (v >> 8 & 255) << 8 | v >> 16) >>> 0;
        }
        return this.panel;
    }

    axis(width, height) {
        const { ctx, shown, data } = this, [from, to] = this.window, { left, right } = LANE_EDGE;
        const step = this.tick(to - from, Math.max(2, (width - left - right) / 110));
        ctx.fillStyle = shown.theme.panel;
        ctx.fillRect(0, 0, width, LANE_AXIS);
        ctx.textAlign = "center";
        for (let i = Math.ceil(from / step); i * step <= to; i++) {
            const x = this.x(i * step);
            ctx.fillStyle = shown.theme.thin;
            ctx.fillRect(x, LANE_AXIS - 4, 1, 4);
            ctx.globalAlpha = 0.35;
            ctx.fillRect(x, LANE_AXIS, 1, height);
            ctx.globalAlpha = 1;
            ctx.fillStyle = shown.theme.muted;
            ctx.fillText(laneTime(data, i * step, step), Math.min(width - right - 20, Math.max(left + 14, x)),
                LANE_AXIS / 2 - 1);
        }
        ctx.textAlign = "start";
    }

    /* Step of the axis in nanoseconds: 1, 2 or 5 times a power of ten, or a round number of
     * seconds. */
    tick(span, most) {
        const least = span / most;
        if (least < 1e3)
            return tickStep(span, most, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3]);
        return tickStep(span / 1e9, most, TIME_STEPS) * 1e9;
    }

    /* ---- wakers ---- */

    woken(lane, i) {
        const l = this.data.lanes[lane];
        return l.is[i] === WAIT_SUM ? l.end[i] : Math.max(l.begin[i], l.end[i] - l.runq[i]);
    }

    arrow(lane, i, color, wide) {
        const { data, ctx } = this, { row, is } = data.lanes[lane];
        const waker = data.waker[row[i]], to = this.rowOf.get(lane), from = this.rowOfThread.get(waker);
        if (waker < 0 || from === undefined || from === to || (is[i] === WAIT_SUM && !wide))
            return;
        const x = Math.round(this.x(this.woken(lane, i))) + 0.5, down = to > from ? 1 : -1;
        const y0 = this.y(from) + LANE_HEIGHT / 2, y1 = this.y(to) + LANE_HEIGHT / 2 - down * LANE_BAR / 2;
        if (x < LANE_EDGE.left || x > this.plot.clientWidth - LANE_EDGE.right)
            return;
        ctx.strokeStyle = ctx.fillStyle = color;
        ctx.lineWidth = wide ? 2 : 1;
        ctx.beginPath();
        ctx.moveTo(x, y0);
        ctx.lineTo(x, y1);
        ctx.stroke();
        ctx.beginPath();
        ctx.arc(x, y0, wide ? 3 : 2, 0, 7);
        ctx.fill();
        ctx.beginPath();
        ctx.moveTo(x, y1 + down * 2);
        ctx.lineTo(x - 3.5, y1 - down * 5);
        ctx.lineTo(x + 3.5, y1 - down * 5);
        ctx.fill();
        this.arrowsDrawn++;
    }

    /* All arrows if there are few, and always that of the picked wait. */
    arrows(height) {
        const { ctx, data, shown, rows } = this, [from, to] = this.window, found = [];
        this.arrowsDrawn = 0;
        ctx.save();
        ctx.beginPath();
        ctx.rect(LANE_EDGE.left, LANE_AXIS, this.plot.clientWidth, height);
        ctx.clip();
        for (let r = this.painted.first; r <= this.painted.last && found.length <= ARROWS_MAX; r++) {
            const { lane } = rows[r];
            if (lane === undefined)
                continue;
            const l = data.lanes[lane];
            let i = Math.max(0, lowerBound(l.begin, from - l.longestSum) - 1);
            for (; i < l.n && l.begin[i] < to && found.length <= ARROWS_MAX; i++)
                if (l.end[i] >= from)
                    found.push([lane, i]);
        }
        if (found.length <= ARROWS_MAX)
            for (const [lane, i] of found)
                this.arrow(lane, i, shown.theme.muted, false);
        if (shown.pick)
            this.arrow(shown.pick.lane, shown.pick.wait, shown.theme.accent, true);
        ctx.restore();
        if (shown.pick)
            this.frame(shown.pick);
    }

    frame({ lane, wait }) {
        const { ctx, data, shown } = this, l = data.lanes[lane];
        const x0 = Math.max(LANE_EDGE.left, this.x(l.begin[wait]));
        const x1 = Math.min(this.plot.clientWidth - LANE_EDGE.right, this.x(l.end[wait]));
        if (x1 < LANE_EDGE.left || x0 > this.plot.clientWidth - LANE_EDGE.right)
            return;
        ctx.strokeStyle = shown.theme.text;
        ctx.lineWidth = 2;
        ctx.strokeRect(x0 - 1, this.y(this.rowOf.get(lane)) + 1, Math.max(3, x1 - x0 + 2), LANE_BAR + 2);
    }

    /* ---- selections and texts ---- */

    mark() {
        const { range } = this.shown;
        this.brush.hidden = !range;
        this.reset.style.visibility = range ? "visible" : "hidden";
        if (!range)
            return;
        const width = this.plot.clientWidth, { left, right } = LANE_EDGE;
        const [x0, x1] = range.map((t) => Math.min(width - right, Math.max(left, this.x(t))));
        this.brush.style.left = x0 + "px";
        this.brush.style.width = Math.max(2, x1 - x0) + "px";
        this.brush.style.height = this.space.style.height;
    }

    say() {
        const { data, shown } = this, [from, to] = this.window, parts = [];
        const at = (t) => laneTime(data, t, (to - from) / 1000);
        if (shown.range)
            parts.push(`counted: ${at(shown.range[0])} to ${at(shown.range[1])}, ` +
                `${laneSpan(shown.range[1] - shown.range[0])}` +
                (data.exact ? "" : " (what goes beyond its ends in proportion)"));
        else
            parts.push(`${plural(data.lanes.length, "thread", "threads")}, ${plural(data.n, "wait", "waits")}`);
        if (shown.view)
            parts.push(`${laneSpan(to - from)} in sight`);
        parts.push(...[this.found.text()].filter(Boolean));
        if (data.short > 0)
            parts.push(`waits below ${laneSpan(data.short)} may be sums of up to ${laneSpan(data.window)}`);
        if (data.others > 0)
            parts.push(`of the first of ${data.others + 1} recordings`);
        if (data.lost > 0)
            parts.push(`${laneSpan(data.lost)} not kept`);
        this.text.textContent = parts.join(" \u00b7 ");
        this.text.title = this.text.textContent + ". Drag to move, Ctrl and the wheel to zoom, " +
            "Shift and drag to count a part of the time.";
    }

    /* ---- actions of the reader ---- */

    clamp([from, to]) {
        const { first, last } = this.data, least = Math.min(LANE_LEAST, last - first);
        const span = Math.min(last - first, Math.max(least, to - from));
        const begin = Math.min(last - span, Math.max(first, from));
        return span >= last - first ? null : [begin, begin + span];
    }

    setView(view) {
        this.listener.view(this.clamp(view));
    }

    /* `factor`: by how much the visible time grows; `at`: the time that does not move. */
    zoom(factor, at) {
        const [from, to] = this.window, mid = at === undefined ? (from + to) / 2 : at;
        const span = Math.max(LANE_LEAST, (to - from) * factor), f = span / (to - from);
        this.setView([mid - (mid - from) * f, mid - (mid - from) * f + span]);
    }

    pan(share) {
        const [from, to] = this.window, by = (to - from) * share;
        this.setView([from + by, to + by]);
    }

    /* The nearest wait below the pointer, or null. */
    find(x, y) {
        const row = this.rows[this.rowAt(y)];
        if (!row || row.lane === undefined || y < LANE_AXIS || x < LANE_EDGE.left)
            return null;
        const [from, to] = this.window, slack = (to - from) / Math.max(1, this.plot.clientWidth) * 2;
        const wait = waitAt(this.data.lanes[row.lane], this.timeAt(x), slack);
        return wait < 0 ? null : { lane: row.lane, wait };
    }

    place(event) {
        const box = this.plot.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    }

    listen() {
        const { plot } = this, touches = new Map();
        let hold = null, pinch = null;
        plot.addEventListener("wheel", (event) => {
            const [x] = this.place(event);
            if (event.ctrlKey || event.metaKey)
                this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.01), this.timeAt(x));
            else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
                this.pan((event.deltaX || event.deltaY) / 800);
            else
                return;
            event.preventDefault();
        }, { passive: false });
        plot.addEventListener("scroll", () => this.later(() => this.paint()));
        plot.addEventListener("pointerdown", (event) => {
            const [x, y] = this.place(event);
            if (event.button !== 0 || x > plot.clientWidth)
                return;
            plot.setPointerCapture(event.pointerId);
            touches.set(event.pointerId, x);
            if (touches.size === 2) {
                const [a, b] = [...touches.values()];
                pinch = { apart: Math.max(10, Math.abs(a - b)), window: this.window, at: this.timeAt((a + b) / 2) };
                hold = null;
            } else {
                hold = { x, y, window: this.window, at: this.timeAt(x), range: event.shiftKey };
            }
        });
        plot.addEventListener("pointermove", (event) => {
            const [x, y] = this.place(event);
            if (touches.has(event.pointerId))
                touches.set(event.pointerId, x);
            if (pinch && touches.size === 2) {
                const [a, b] = [...touches.values()], f = pinch.apart / Math.max(10, Math.abs(a - b));
                const [from, to] = pinch.window;
                this.later(() => this.setView([pinch.at - (pinch.at - from) * f,
                    pinch.at - (pinch.at - from) * f + (to - from) * f]));
            } else if (hold && (hold.moved || Math.abs(x - hold.x) >= 4)) {
                hold.moved = true;
                const held = hold;
                this.later(() => this.drag(held, x));
            } else if (!hold) {
                plot.style.cursor = event.shiftKey ? "crosshair" : this.find(x, y) || this.regions.at(x, y) ?
                    "pointer" : "default";
                this.later(() => this.point(x, y));
            }
        });
        const end = (event) => {
            touches.delete(event.pointerId);
            if (pinch && touches.size < 2) {
                pinch = null;
                hold = null;
                return;
            }
            const [x, y] = this.place(event);
            if (event.type === "pointerup" && hold) {
                cancelAnimationFrame(this.waiting);
                if (hold.moved)
                    this.drag(hold, x, true);
                else
                    this.click(x, y);
            }
            hold = null;
        };
        plot.addEventListener("pointerup", end);
        plot.addEventListener("pointercancel", end);
        plot.addEventListener("dblclick", (event) => {
            const found = this.find(...this.place(event));
            if (found)
                this.goTo(found);
        });
        plot.addEventListener("keydown", (event) => this.key(event));
    }

    later(act) {
        cancelAnimationFrame(this.waiting);
        this.waiting = requestAnimationFrame(act);
    }

    drag(hold, x, done) {
        const { left, right } = LANE_EDGE, wide = Math.max(1, this.plot.clientWidth - left - right);
        const [from, to] = hold.window;
        if (hold.range) {
            const ends = [hold.at, this.timeAt(x)].sort((a, b) => a - b);
            const within = (t) => Math.round(Math.min(this.data.last, Math.max(this.data.first, t)));
            this.listener.range(ends.map(within), !done);
        } else {
            const by = (hold.x - x) / wide * (to - from);
            this.setView([from + by, to + by]);
        }
    }

    click(x, y) {
        const region = y >= LANE_AXIS && this.regions.at(x, y);
        if (region)
            this.takeRegion(region);
        else
            this.choose(this.find(x, y));
    }

    takeRegion(region) {
        if (region)
            this.listener.range([Math.floor(region.begin), Math.max(Math.ceil(region.end), Math.floor(region.begin) + 1)]);
    }

    choose(found) {
        this.cursor = found ? found.lane : this.cursor;
        this.listener.pick(found);
    }

    /* Sets the title: a description of the wait below the pointer. */
    point(x, y) {
        const row = this.rows[this.rowAt(y)], found = this.find(x, y);
        const title = found ? this.sentence(found) : row && row.lane !== undefined && y > LANE_AXIS ?
            this.between(row.lane, this.timeAt(x)) : "";
        if (this.plot.title !== title)
            this.plot.title = title;
    }

    sentence({ lane, wait }) {
        const l = this.data.lanes[lane], name = KIND_NAMES[this.data.kind[l.row[wait]]] || "waited";
        const length = l.is[wait] === WAIT_SUM ? `${l.times[wait]} times, ${laneSpan(l.ns[wait])} together` :
            laneSpan(l.ns[wait]);
        return `${this.label(l.thread)} ${name}: ${length}` +
            (l.runq[wait] ? `, then ready for ${laneSpan(l.runq[wait])}` : "") +
            this.path.sentence(l.thread, l.begin[wait], l.end[wait]) + this.regions.sentence(l.thread, l.begin[wait]);
    }

    /* A description of a time between waits. */
    between(lane, t) {
        const l = this.data.lanes[lane], parts = [];
        if (t < l.first || t >= l.last)
            return "";
        for (const s of l.shares) {
            if (s.begin > t || s.end <= t)
                continue;
            const kind = this.data.kind[s.row];
            parts.push(kind === ON_CPU ? `${laneSpan(s.ns)} on a CPU, ${laneSpan(s.runq)} ready for one, of ` +
                laneSpan(s.end - s.begin) : `${laneSpan(s.ns)} ${KIND_NAMES[kind] || ""}`);
        }
        return `${this.label(l.thread)}: not asleep in a call here` + (parts.length ?
            "; around this time " + parts.join(", ") + " (when within it is not known)" : "") +
            this.path.sentence(l.thread, t, t) + this.regions.sentence(l.thread, t);
    }

    /* ---- the picked wait ---- */

    /* `lines`: [[label, text or element], ...] */
    describe(lines) {
        this.detail.hidden = !lines;
        this.detail.replaceChildren(...(lines || []).flatMap(([what, value]) =>
            [element("dt", "", what), element("dd", "", value)]));
        this.paint();
    }

    goTo({ lane, wait }) {
        const l = this.data.lanes[lane], length = Math.max(LANE_LEAST, l.end[wait] - l.begin[wait]);
        this.setView([l.begin[wait] - length, l.begin[wait] + 2 * length]);
    }

    /* Scrolls to a wait. */
    reveal({ lane, wait }) {
        const l = this.data.lanes[lane], [from, to] = this.window, row = this.rowOf.get(lane);
        const top = row * LANE_HEIGHT, { plot } = this;
        if (top < plot.scrollTop)
            plot.scrollTop = top;
        else if (top + LANE_AXIS + LANE_HEIGHT > plot.scrollTop + plot.clientHeight)
            plot.scrollTop = top + LANE_AXIS + LANE_HEIGHT - plot.clientHeight;
        if (l.end[wait] < from || l.begin[wait] > to) {
            const mid = (l.begin[wait] + l.end[wait]) / 2;
            this.setView([mid - (to - from) / 2, mid + (to - from) / 2]);
        }
    }

    /* The wait before or after the picked one, or the first visible one of the lane. */
    step(by) {
        const { pick } = this.shown, lane = this.cursor === undefined ? this.firstLane() : this.cursor;
        const l = this.data.lanes[lane];
        const at = pick && pick.lane === lane ? pick.wait + by :
            Math.min(l.n - 1, lowerBound(l.begin, this.window[0]));
        if (at >= 0 && at < l.n) {
            this.choose({ lane, wait: at });
            this.reveal({ lane, wait: at });
        }
    }

    toMatch(by) {
        const found = this.found.step(by);
        if (!found)
            return;
        this.choose(found);
        this.reveal(found);
    }

    firstLane() {
        return this.rows.find(({ lane }) => lane !== undefined).lane;
    }

    moveLane(by) {
        let row = this.cursor === undefined ? (by > 0 ? -1 : this.rows.length) : this.rowOf.get(this.cursor);
        do
            row += by;
        while (this.rows[row] && this.rows[row].lane === undefined);
        if (!this.rows[row])
            return;
        this.cursor = this.rows[row].lane;
        const l = this.data.lanes[this.cursor], { pick } = this.shown;
        const near = pick ? this.data.lanes[pick.lane].begin[pick.wait] : this.window[0];
        const wait = Math.min(l.n - 1, lowerBound(l.begin, near));
        if (wait >= 0) {
            this.choose({ lane: this.cursor, wait });
            this.reveal({ lane: this.cursor, wait });
        }
    }

    key(event) {
        const { shown } = this, { key, shiftKey } = event;
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (key === "ArrowLeft" || key === "ArrowRight")
            shiftKey ? this.pan(key === "ArrowLeft" ? -0.1 : 0.1) : this.step(key === "ArrowLeft" ? -1 : 1);
        else if (key === "ArrowUp" || key === "ArrowDown")
            this.moveLane(key === "ArrowUp" ? -1 : 1);
        else if (key === "+" || key === "=" || key === "-")
            this.zoom(key === "-" ? 2 : 1 / 2, shown.pick ? this.woken(shown.pick.lane, shown.pick.wait) : undefined);
        else if (key === "c" || key === "C")
            this.path.toggle();
        else if (key === "n" || key === "N")
            this.toMatch(shiftKey ? -1 : 1);
        else if (key === "g" || key === "G")
            this.regions.toggle();
        else if ((key === "r" || key === "R") && shown.pick)
            this.takeRegion(this.regions.around(this.data.lanes[shown.pick.lane].thread,
                this.data.lanes[shown.pick.lane].begin[shown.pick.wait]));
        else if (key === "0" || key === "Home")
            this.listener.view(null);
        else if (key === "Enter" && shiftKey)
            this.listener.range([...this.window].map(Math.round));
        else if (key === "Enter" && shown.pick)
            this.listener.open(shown.pick);
        else if (key === "Escape" && shown.range)
            this.listener.range(null);
        else if (key === "Escape" && shown.pick)
            this.listener.pick(null);
        else if (key === "Escape" && shown.view)
            this.listener.view(null);
        else
            return;
        event.preventDefault();
        event.stopPropagation();
    }
}
