/*
 * ---- page_minimap.js: the whole graph in small, with a frame around the visible part ----
 *
 * A click or drag on it selects a range. The picture of the graph is painted once for each graph,
 * colour and size; a change of the range only moves the frame over it.
 */

class Minimap {
    constructor(host, onRange) {
        this.host = host;
        this.canvas = element("canvas", "minimap-canvas");
        this.left = element("div", "minimap-shade");
        this.right = element("div", "minimap-shade");
        this.frame = element("div", "minimap-frame");
        host.append(this.canvas, this.left, this.right, this.frame);
        this.ctx = this.canvas.getContext("2d", { alpha: false });
        this.boxes = new Boxes();
        this.onRange = onRange;
        this.listen();
    }

    show(view) {
        const width = this.host.clientWidth, height = this.host.clientHeight;
        const { graph, color, theme, search, flame, dark } = view;
        const key = [width, height, flame, dark, view.colorMode, devicePixelRatio].join();
        this.graph = graph;
        if (!(width > 0))
            return;
        if (key !== this.key || graph !== this.painted || search !== this.search) {
            this.key = key;
            this.painted = graph;
            this.search = search;
            this.paint({ graph, color, theme, search, flame }, width, height);
        }
    }

    paint({ graph, color, theme, search, flame }, width, height) {
        const ratio = devicePixelRatio || 1, { ctx, boxes } = this;
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        ctx.fillStyle = theme.panel;
        ctx.fillRect(0, 0, width, height);
        if (!(graph.total[0] > 0))
            return;
        layoutBoxes(boxes, graph, 0, graph.total[0], width);
        const row = Math.min(4, height / Math.max(1, boxes.height));
        const before = matchesOf(graph, search);
        for (let i = 0; i < boxes.n; i++) {
            const node = boxes.node[i], d = boxes.depth[i];
            const match = search.active && before[boxes.last[i]] > before[node];
            const y = flame ? height - (d + 1) * row : d * row;
            ctx.fillStyle = search.active && !match ? theme.faded :
                boxes.run[i] ? (search.active ? theme.accent : theme.thin) : color(node);
            ctx.fillRect(boxes.x[i], y, boxes.w[i] > 2 ? boxes.w[i] - 0.5 : boxes.w[i],
                Math.max(row - (row > 2 ? 0.5 : 0), 0.5));
        }
    }

    /* Shows the visible range of counts. */
    window(x0, x1) {
        const all = this.graph ? this.graph.total[0] : 0, width = this.host.clientWidth;
        const whole = !(all > 0) || x1 - x0 >= all * 0.999999;
        this.range = [x0, x1];
        for (const e of [this.left, this.right, this.frame])
            e.hidden = whole;
        if (whole)
            return;
        const left = x0 / all * width, right = x1 / all * width;
        this.left.style.width = Math.max(0, left) + "px";
        this.right.style.left = right + "px";
        this.right.style.width = Math.max(0, width - right) + "px";
        this.frame.style.left = left + "px";
        this.frame.style.width = Math.max(right - left, 3) + "px";
    }

    listen() {
        let from = 0, grip = null;
        const at = (event) => {
            const box = this.host.getBoundingClientRect();
            return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) *
                this.graph.total[0];
        };
        this.host.addEventListener("pointerdown", (event) => {
            if (event.button !== 0 || !this.graph)
                return;
            from = at(event);
            const [x0, x1] = this.range, inside = !this.frame.hidden && from >= x0 && from <= x1;
            grip = inside ? [x0, x1] : "range";
            this.host.setPointerCapture(event.pointerId);
            event.preventDefault();
        });
        this.host.addEventListener("pointermove", (event) => {
            if (!grip)
                return;
            const to = at(event), all = this.graph.total[0];
            if (grip !== "range") {
                const span = grip[1] - grip[0];
                const left = Math.min(Math.max(0, grip[0] + to - from), all - span);
                this.onRange([left, left + span]);
            } else if (Math.abs(to - from) > all * 0.004) {
                this.onRange([Math.min(from, to), Math.max(from, to)]);
            }
        });
        this.host.addEventListener("pointerup", () => {
            grip = null;
        });
        this.host.addEventListener("dblclick", () => this.onRange(null));
    }
}
