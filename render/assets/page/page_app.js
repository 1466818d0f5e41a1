/*
 * ---- page_app.js: the state, and the screen that follows from it ----
 *
 * Every action of the reader changes `state` and calls update(), which rebuilds only the parts that
 * depend on the change: shapes, then graphs, then the drawing. page_zoom.js, page_screen.js and
 * page_acts.js have more of the class.
 */

const SHAPE_KEYS = ["layout", "sandwich", "order", "recursion", "chains"];

class App {
    constructor(profile) {
        this.profile = profile;
        this.pen = new Pen(profile);
        this.state = readState(location.hash.slice(1), profile);
        this.charts = [];
        this.zooms = {}; /* by previous layout: the zoomed frame's name and path */
        this.tooltip = new Tooltip();
        this.menu = new Menu();
        this.upperZoom = { zoom: 0, range: null }; /* of a sandwich's callers */
        this.background = new Background(profile, ownScript, { done: () => this.update({}),
            cancel: () => this.goBack() });
        this.table = new TopTable(byId("table"), profile, {
            pick: (row) => row.place ? this.togglePlace(row.key) : this.togglePick(row.name),
            by: (by) => this.change({ by }),
            sandwich: (name) => this.openSandwich(name),
            sort: (key) => this.sortBy(key),
            hover: (name) => this.charts.forEach((c) => c.setHighlight(name)),
        });
        this.series = new MomentBars(byId("series"), (moments) => {
            if (String(moments) !== String(this.state.moments))
                this.change({ moments }, true);
        });
        this.growth = new MemoryChart(byId("growth"), profile.timeline, (span, more) =>
            this.selectTime(span, more));
        this.lanes = new LaneControl(this);
        this.findings = new FindingsPanel(this, profile.findings);
        this.minimap = new Minimap(byId("minimap"), (range) =>
            this.zoomTo(this.mainChart(), 0, range, true));
    }

    /* Changes the state. `quiet`: adds no step to the browser's history. */
    change(changes, quiet) {
        Object.assign(this.state, changes);
        this.update({ animate: !quiet });
        this.saveAddress(quiet);
    }

    /* Browsers limit how often a page may do this, so only the last of several small steps is
     * saved. */
    saveAddress(quiet) {
        const save = () => {
            const hash = "#" + this.address();
            if (hash === (location.hash || "#"))
                return;
            try {
                history[quiet ? "replaceState" : "pushState"](history.state, "", hash);
            } catch {
                /* A page without an address of its own has no place to save it. */
            }
        };
        clearTimeout(this.saving);
        if (quiet)
            this.saving = setTimeout(save, 250);
        else
            save();
    }

    address() {
        return writeState(this.state, this.profile, this.mainGraph);
    }

    readAddress() {
        this.state = readState(location.hash.slice(1), this.profile);
        this.upperZoom = { zoom: 0, range: null };
        byId("query").value = this.state.query;
        this.update({});
    }

    mainChart() {
        return this.charts[this.charts.length - 1];
    }

    get mainGraph() {
        return this.graphs[this.graphs.length - 1];
    }

    get column() {
        return this.profile.columns[this.state.column];
    }

    /* ---- from state to shapes and graphs ---- */

    /* False: they are being built, and update() is called again when they are ready. */
    makeGraphs() {
        const { state, profile } = this, momentsKey = String(state.moments);
        const spanKey = String(state.span);
        if (profile.timeline && spanKey !== this.spanKey) {
            this.spanKey = spanKey;
            selectSpan(profile, state.span);
        }
        if (profile.moments && momentsKey !== this.momentsKey) {
            this.momentsKey = momentsKey;
            selectMoments(profile, state.moments);
        }
        const laneKey = String(state.laneRange);
        if (profile.lanes && laneKey !== this.laneKey) {
            this.laneKey = laneKey;
            selectLaneRange(profile, state.laneRange);
        }
        const layout = state.layout === "sandwich" && state.sandwich < 0 ? "forward" : state.layout;
        const key = SHAPE_KEYS.map((k) => state[k]).join() + Object.keys(SETS).slice(0, 3)
            .map((k) => k === "picks" ? "" : [...state[k]].join(".")).join("|") +
            state.filters.map((filter) => filterText(filter, profile.names)).join() +
            (state.order === "size" ? [state.column, state.moments, state.span, laneKey].join() : "");
        if (key !== this.shapeKey) {
            const before = this.graphs && this.graphs[this.graphs.length - 1];
            const view = { ...state, layout, columnOwn: this.column.own };
            const made = this.background.shapes(key, view);
            if (!made)
                return false;
            this.shapes = made.shapes;
            this.topShape = made.top;
            this.shapeView = withFilters(profile, view, made.filtered);
            this.moveZoom = before && this.shapeKey !== undefined ? before : null;
            if (before && layout !== this.built && state.zoom > 0 && state.zoom < before.n)
                this.zooms[this.built] = { name: before.name[state.zoom], path: nodeText(before, profile.names, state.zoom) };
            this.shapeKey = key;
            this.graphKey = "";
        }
        const graphKey = [key, state.column, state.moments, state.span, laneKey].join("/");
        if (graphKey === this.graphKey)
            return true;
        this.graphKey = graphKey;
        const { columns } = profile, sides = profile.delta ? columns.slice(0, 2) : null;
        const shown = layout === "compare" ? [columns[1], columns[0], columns[2]] :
            layout === "elided" ? [profile.elided.column] : this.shapes.map(() => this.column);
        /* After Callers, the profile itself is shared again, and meanwhile the table's. */
        const had = this.topGraph, known = (shape, c) => !sides && had && had.shape === shape && had.column === c &&
            had.counts === c.own ? had : null;
        this.graphs = shown.map((c, i) => {
            const shape = this.shapes[Math.min(i, this.shapes.length - 1)];
            return known(shape, c) || makeGraph(shape, c, sides);
        });
        if (layout === "elided")
            addLost(profile, this.graphs[0]);
        const same = this.graphs.find((g) => g.shape === this.topShape && g.column === this.column);
        this.topGraph = same || known(this.topShape, this.column) || makeGraph(this.topShape, this.column, sides);
        if (this.moveZoom)
            this.followZoom(this.moveZoom, this.mainGraph, layout);
        this.moveZoom = null;
        if (layout !== this.built)
            this.buildCharts(layout);
        return true;
    }

    buildCharts(layout) {
        const host = byId("charts"), { profile, pen } = this;
        const titles = { forward: [""], callers: [""], sandwich: ["Callers", "Callees"],
            compare: ["Before", "After", "Change"], elided: [""] }[layout];
        this.built = layout;
        host.className = "charts-" + layout;
        host.replaceChildren();
        this.charts = titles.map((title) => {
            const pane = element("div", "pane");
            if (title)
                pane.append(element("h2", "", title));
            host.append(pane);
            const chart = new FlameGraph(pane, profile, pen, this.listener(), title || "Flame graph");
            chart.reversed = layout === "callers" || title === "Callers";
            chart.upper = title === "Callers";
            chart.pane = pane;
            chart.title = title;
            this.observer.observe(chart.scroller);
            return chart;
        });
    }

    listener() {
        return {
            zoom: (chart, node, range, quiet) => this.zoomTo(chart, node, range, quiet),
            menu: (chart, node, x, y) => this.openMenu(chart, node, x, y),
            hover: (chart, node, last, event) => {
                this.tooltip.show(chart, node, last, event);
                this.describe(chart, last ? -1 : node);
                if (this.built === "compare")
                    for (const other of this.charts)
                        other.hover(node);
            },
            drawn: (chart) => paintNotes(this, chart),
            select: (chart, node) => {
                this.describe(chart, node);
                byId("live").textContent = this.sentence(chart, node);
                if (this.built === "compare")
                    for (const other of this.charts)
                        if (other !== chart && node < other.graph.n) {
                            other.selected = node;
                            other.mark(other.selectMark, node);
                        }
            },
        };
    }

    /* ---- drawing ---- */

    update({ animate = false }) {
        const { state, profile } = this;
        if (!this.makeGraphs())
            return;
        if (state.goal !== null)
            state.zoom = Math.max(0, findNode(this.mainGraph, profile.names, state.goal, true));
        state.goal = null;
        const searchKey = [state.query, state.matchCase, state.regex, ...state.picks, ...state.places].join("\n");
        if (searchKey !== this.searchKey) {
            this.searchKey = searchKey;
            this.search = makeSearch(profile, state);
        }
        this.applyTheme();
        this.showControls();
        this.showMain(animate);
        this.shown = { ...state };
    }

    /* Gives up a task that takes too long: the page returns to the state that it shows. */
    goBack() {
        if (!this.shown)
            return;
        Object.assign(this.state, this.shown);
        byId("query").value = this.state.query;
        this.update({});
        this.saveAddress(true);
    }
}
