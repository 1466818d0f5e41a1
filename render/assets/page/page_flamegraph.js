/*
 * ---- page_flamegraph.js: one flame graph on a canvas, and its reactions to the reader ----
 *
 * A FlameGraph shows a range of counts of one graph, and reports the reader's actions to its
 * listener: zoom(chart, node, range), hover(chart, node, run, event), menu(chart, node, x, y),
 * select(chart, node). It has no state of the page; the page calls show() again.
 */

const MOVE_MS = 180;

class FlameGraph {
    constructor(host, profile, pen, listener, label) {
        this.profile = profile;
        this.pen = pen;
        this.listener = listener;
        this.canvas = element("canvas", "chart-canvas");
        this.canvas.chart = this; /* for tests, and for use in the browser's console */
        this.canvas.tabIndex = 0;
        this.canvas.setAttribute("role", "application");
        this.canvas.setAttribute("aria-roledescription", "flame graph");
        this.canvas.setAttribute("aria-label", label +
            ". Arrow keys walk the frames, Enter zooms, M opens a menu.");
        this.hoverMark = element("div", "mark mark-hover");
        this.selectMark = element("div", "mark mark-select");
        this.space = element("div", "chart-space", this.canvas, this.hoverMark, this.selectMark);
        this.scroller = element("div", "chart-scroll", this.space);
        this.scroller.tabIndex = -1;
        this.host = host;
        host.append(this.scroller);
        this.alphas = ALPHAS;
        this.ctx = this.canvas.getContext("2d", { alpha: false });
        this.boxes = new Boxes();
        this.graph = null;
        this.hovered = this.selected = -1;
        this.width = this.height = 0;
        this.timer = 0;
        this.listen();
    }

    /*
     * Shows a view: {graph, color, theme, flame, search, zoom, range, fromEnd, animate}. `range`
     * is in counts and takes precedence over the node `zoom`.
     */
    show(view) {
        const fresh = !this.graph || this.graph.shape !== view.graph.shape;
        const turned = this.view && this.view.flame !== view.flame;
        const researched = fresh || !this.view || this.view.search !== view.search ||
            this.graph !== view.graph;
        this.view = view;
        this.graph = view.graph;
        if (fresh)
            this.selected = this.hovered = -1;
        if (researched)
            this.matchesBefore = matchesOf(this.graph, view.search);
        const [x0, x1] = this.target();
        this.measure();
        const elsewhere = x0 !== this.x0 || x1 !== this.x1;
        if (view.animate && elsewhere && !fresh && this.width > 0 && !reducedMotion())
            this.moveTo(x0, x1);
        else
            this.jump(x0, x1);
        if (fresh || turned)
            this.scroller.scrollTop = view.flame ? this.scroller.scrollHeight : 0;
        this.redraw();
    }

    target() {
        const { graph, view } = this;
        if (view.range)
            return view.range;
        const node = view.zoom < graph.n && graph.total[view.zoom] > 0 ? view.zoom : 0;
        const start = startOf(graph, node);
        return [start, start + (graph.total[node] || 1)];
    }

    measure() {
        const width = this.scroller.clientWidth, height = this.scroller.clientHeight;
        const ratio = window.devicePixelRatio || 1;
        if (width === this.width && height === this.height && ratio === this.ratio)
            return;
        this.width = width;
        this.height = height;
        this.ratio = ratio;
        this.canvas.width = Math.max(1, Math.round(width * ratio));
        this.canvas.height = Math.max(1, Math.round(height * ratio));
        this.canvas.style.width = width + "px";
        this.canvas.style.height = height + "px";
    }

    resize() {
        if (!this.graph)
            return;
        const below = this.spaceHeight - this.scroller.scrollTop - this.height;
        this.measure();
        this.jump(this.x0, this.x1);
        /* The frame at the lower edge does not move. */
        if (this.view.flame)
            this.scroller.scrollTop = this.spaceHeight - below - this.height;
        this.redraw();
    }

    jump(x0, x1) {
        cancelAnimationFrame(this.timer);
        this.moving = false;
        this.x0 = x0;
        this.x1 = x1;
        this.layout();
    }

    moveTo(x0, x1) {
        const from = [this.x0, this.x1], begin = performance.now();
        const step = (now) => {
            const t = Math.min(1, (now - begin) / MOVE_MS), e = 1 - (1 - t) ** 3;
            if (t <= 0) { /* this animation frame began before the click: the picture does not
                           * change yet */
                this.timer = requestAnimationFrame(step);
                return;
            }
            this.x0 = from[0] + (x0 - from[0]) * e;
            this.x1 = from[1] + (x1 - from[1]) * e;
            this.moving = t < 1;
            this.layout();
            this.draw();
            if (t < 1)
                this.timer = requestAnimationFrame(step);
        };
        cancelAnimationFrame(this.timer);
        cancelAnimationFrame(this.drawing);
        this.drawing = 0;
        this.moving = true; /* and draws with every step */
        this.timer = requestAnimationFrame(step);
    }

    layout() {
        if (!(this.width > 0))
            return;
        const before = this.spaceHeight;
        layoutBoxes(this.boxes, this.graph, this.x0, this.x1, this.width, this.moving ? THIN_MOVING : THIN);
        /* The root is at the lower edge, with some room above the deepest frame. */
        this.spaceHeight = Math.max(this.height, (this.boxes.height + 1) * ROW);
        if (this.spaceHeight !== before) {
            const fromBottom = before - this.scroller.scrollTop;
            this.space.style.height = this.spaceHeight + "px";
            if (this.view.flame && before)
                this.scroller.scrollTop = this.spaceHeight - fromBottom;
        }
    }

    redraw() {
        if (this.drawing || this.moving)
            return;
        this.drawing = requestAnimationFrame(() => {
            this.drawing = 0;
            this.draw();
        });
    }

    draw() {
        const { ctx, view, graph } = this;
        if (!graph || !(this.width > 0))
            return;
        const begin = performance.now();
        ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        ctx.fillStyle = view.theme.panel;
        ctx.fillRect(0, 0, this.width, this.height);
        const zoomed = this.anchor();
        paint(ctx, {
            ...view, boxes: this.boxes, profile: this.profile, pen: this.pen,
            space: this.spaceHeight, top: this.scroller.scrollTop,
            width: this.width, height: this.height, zoomDepth: graph.depth[zoomed],
            matchesBefore: this.matchesBefore,
            highlight: this.highlight === undefined ? -1 : this.highlight,
        });
        this.listener.drawn(this);
        this.mark(this.hoverMark, this.hovered);
        this.mark(this.selectMark, this.selected);
        this.drawMs = performance.now() - begin;
    }

    /* The deepest frame that spans the visible range: the zoomed one. */
    anchor() {
        const { graph, view } = this;
        if (!view.range)
            return view.zoom < graph.n ? view.zoom : 0;
        let node = 0;
        for (let c = 0; c >= 0; c = childAround(graph, node, this.x0, this.x1))
            node = c;
        return node;
    }

    boxTop(depth) {
        return this.view.flame ? this.spaceHeight - (depth + 1) * ROW : depth * ROW;
    }

    mark(e, node) {
        const i = node < 0 ? -1 : this.boxes.ofNode(node, this.graph.depth[node]);
        e.hidden = i < 0;
        if (i < 0)
            return;
        const [x, w] = clip(this.boxes.x[i], this.boxes.w[i], this.width);
        e.style.transform = `translate(${x}px,${this.boxTop(this.boxes.depth[i])}px)`;
        e.style.width = Math.max(w, 2) + "px";
    }

    hover(node) {
        if (node === this.hovered)
            return;
        this.hovered = node;
        this.mark(this.hoverMark, node);
    }

    setHighlight(name) {
        if (this.highlight === name)
            return;
        this.highlight = name;
        this.redraw();
    }

    select(node) {
        this.selected = node;
        if (node < 0) {
            this.mark(this.selectMark, -1);
            return;
        }
        const y = this.boxTop(this.graph.depth[node]), top = this.scroller.scrollTop;
        if (y < top)
            this.scroller.scrollTop = y - ROW;
        else if (y + ROW > top + this.height)
            this.scroller.scrollTop = y + 2 * ROW - this.height;
        this.mark(this.selectMark, node);
        this.listener.select(this, node);
    }

    /* ---- the mouse ---- */

    boxUnder(event) {
        const at = this.canvas.getBoundingClientRect();
        const x = event.clientX - at.left, y = event.clientY - at.top + this.scroller.scrollTop;
        const d = Math.floor((this.view.flame ? this.spaceHeight - y : y) / ROW);
        return this.boxes.at(d, x);
    }

    listen() {
        const { canvas } = this;
        let down = null;
        this.scroller.addEventListener("scroll", () => this.redraw(), { passive: true });
        canvas.addEventListener("pointermove", (event) => {
            if (down && event.buttons & 1 && this.drag(event, down))
                return;
            const i = this.graph ? this.boxUnder(event) : -1;
            this.hover(i < 0 ? -1 : this.boxes.node[i]);
            canvas.style.cursor = i < 0 ? "default" : "pointer";
            this.listener.hover(this, i < 0 ? -1 : this.boxes.node[i],
                i >= 0 && this.boxes.run[i] ? this.boxes.last[i] : 0, event);
        });
        canvas.addEventListener("pointerleave", (event) => {
            this.hover(-1);
            this.listener.hover(this, -1, 0, event);
        });
        canvas.addEventListener("pointerdown", (event) => {
            if (event.button === 0)
                down = { x: event.clientX, y: event.clientY, top: this.scroller.scrollTop,
                    x0: this.x0, x1: this.x1, moved: false };
        });
        canvas.addEventListener("click", (event) => {
            const moved = down && down.moved;
            down = null;
            canvas.classList.remove("dragging");
            if (moved || !this.graph)
                return;
            const i = this.boxUnder(event);
            if (i < 0 || tapShows(this, event, i))
                return;
            this.select(this.boxes.run[i] ? -1 : this.boxes.node[i]);
            this.enter(i);
        });
        canvas.addEventListener("contextmenu", (event) => {
            const i = this.graph ? this.boxUnder(event) : -1;
            event.preventDefault();
            if (i >= 0 && !this.boxes.run[i]) {
                this.select(this.boxes.node[i]);
                this.listener.menu(this, this.boxes.node[i], event.clientX, event.clientY);
            }
        });
        canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
        canvas.addEventListener("keydown", (event) => this.key(event));
        canvas.addEventListener("focus", () => {
            if (this.selected < 0 && this.graph && canvas.matches(":focus-visible"))
                this.select(this.anchor());
        });
    }

    enter(i) {
        const { boxes, graph } = this, node = boxes.node[i];
        if (!boxes.run[i]) {
            this.listener.zoom(this, node, null);
            return;
        }
        const last = boxes.last[i];
        const left = startOf(graph, node);
        let right = left;
        for (let c = node; c < last; c = graph.end[c])
            right += graph.total[c];
        this.listener.zoom(this, 0, [left, right]);
    }

    /* True once the pointer has moved far enough for a drag. */
    drag(event, down) {
        const dx = event.clientX - down.x, dy = event.clientY - down.y;
        if (!down.moved && Math.abs(dx) + Math.abs(dy) < 6)
            return false;
        if (!down.moved) {
            down.moved = true;
            this.canvas.setPointerCapture(event.pointerId);
            this.canvas.classList.add("dragging");
            this.listener.hover(this, -1, 0, event);
            this.hover(-1);
        }
        this.scroller.scrollTop = down.top - dy;
        const by = -dx / this.width * (down.x1 - down.x0);
        this.roam(down.x0 + by, down.x1 + by);
        return true;
    }

    wheel(event) {
        const span = this.x1 - this.x0;
        if (event.ctrlKey || event.metaKey) {
            const at = this.canvas.getBoundingClientRect();
            const f = (event.clientX - at.left) / this.width;
            const to = span * Math.exp(event.deltaY * 0.004), middle = this.x0 + f * span;
            event.preventDefault();
            this.roam(middle - f * to, middle + (1 - f) * to);
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            const by = (event.deltaX || event.deltaY) / this.width * span;
            event.preventDefault();
            this.roam(this.x0 + by, this.x1 + by);
        }
    }

    /* Shows any range, clamped to the graph. */
    roam(x0, x1) {
        const all = this.graph.total[0], span = Math.min(x1 - x0, all);
        if (span < all * 1e-9)
            return;
        const left = Math.min(Math.max(x0, 0), all - span);
        if (left === this.x0 && left + span === this.x1)
            return;
        this.listener.zoom(this, 0, span >= all ? null : [left, left + span], true);
    }

    /* ---- the keyboard ---- */

    /* The next frame in a direction: "out" to the caller, "in" to the widest callee, or a
     * sibling. */
    neighbour(node, step) {
        const { end, total } = this.graph;
        if (step === "out")
            return parentOf(this.graph, node);
        if (step === "in") {
            let best = -1;
            for (let c = node + 1; c < end[node]; c = end[c])
                if (total[c] > 0 && (best < 0 || total[c] > total[best]))
                    best = c;
            return best;
        }
        const p = parentOf(this.graph, node);
        let before = -1;
        for (let c = p + 1; p >= 0 && c < end[p]; c = end[c]) {
            if (total[c] <= 0)
                continue;
            if (step === "previous" && c === node)
                return before;
            if (step === "next" && c > node)
                return c;
            before = c;
        }
        return -1;
    }

    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || !this.graph)
            return;
        const outward = this.view.flame ? "ArrowDown" : "ArrowUp";
        const inward = this.view.flame ? "ArrowUp" : "ArrowDown";
        const steps = { [outward]: "out", [inward]: "in", ArrowLeft: "previous",
            ArrowRight: "next" };
        const node = this.selected < 0 ? this.anchor() : this.selected;
        if (steps[event.key]) {
            const to = this.neighbour(node, steps[event.key]);
            if (to >= 0)
                this.select(to);
        } else if (event.key === "Enter" || event.key === " ") {
            this.listener.zoom(this, node, null);
        } else if (event.key === "m" || event.key === "ContextMenu") {
            const at = this.selectMark.getBoundingClientRect();
            this.listener.menu(this, node, at.left + 12, at.bottom);
        } else if (event.key === "+" || event.key === "=" || event.key === "-") {
            const middle = (this.x0 + this.x1) / 2;
            const half = (this.x1 - this.x0) / 2 * (event.key === "-" ? 1.5 : 1 / 1.5);
            this.roam(middle - half, middle + half);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}

const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
