/*
 * ---- page_app.js: the state, and the screen that follows from it ----
 *
 * Everything the reader does changes `state` and calls update(), which makes
 * anew only what depends on what changed: shapes, then graphs, then drawing.
 */

const SHAPE_KEYS = ["layout", "sandwich", "order", "recursion", "chains"];

class App {
    constructor(profile) {
        this.profile = profile;
        this.pen = new Pen(profile);
        this.state = readState(location.hash.slice(1), profile);
        this.charts = [];
        this.tooltip = new Tooltip();
        this.menu = new Menu();
        this.upperZoom = { zoom: 0, range: null }; /* of a sandwich's callers */
        this.table = new TopTable(byId("table"), profile, {
            pick: (name) => this.togglePick(name),
            sandwich: (name) => this.openSandwich(name),
            sort: (key) => this.sortBy(key),
            hover: (name) => this.charts.forEach((c) => c.setHighlight(name)),
        });
        this.series = new TimeChart(byId("series"), (moments) => {
            if (String(moments) !== String(this.state.moments))
                this.change({ moments }, true);
        });
        this.growth = new GrowthChart(byId("growth"), profile.timeline, (span, more) =>
            this.selectTime(span, more));
        this.minimap = new Minimap(byId("minimap"), (range) =>
            this.zoomTo(this.mainChart(), 0, range, true));
    }

    /* Changes the state. `quiet`: not worth a step in the browser's history. */
    change(changes, quiet) {
        Object.assign(this.state, changes);
        this.update({ animate: !quiet });
        this.saveAddress(quiet);
    }

    /* Browsers limit how often a page may do this, so small steps wait for the last. */
    saveAddress(quiet) {
        const save = () => {
            const hash = "#" + writeState(this.state, this.profile, this.mainGraph);
            if (hash === (location.hash || "#"))
                return;
            try {
                history[quiet ? "replaceState" : "pushState"](null, "", hash);
            } catch {
                /* A page without an address of its own: nothing to keep it in. */
            }
        };
        clearTimeout(this.saving);
        if (quiet)
            this.saving = setTimeout(save, 250);
        else
            save();
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
        const layout = state.layout === "sandwich" && state.sandwich < 0 ? "forward" : state.layout;
        const key = SHAPE_KEYS.map((k) => state[k]).join() + Object.keys(SETS).slice(0, 3)
            .map((k) => k === "picks" ? "" : [...state[k]].join(".")).join("|") +
            state.filters.map((filter) => filterText(filter, profile.names)).join() +
            (state.order === "size" ? [state.column, state.moments, state.span].join() : "");
        if (key !== this.shapeKey) {
            const before = this.graphs && this.graphs[this.graphs.length - 1];
            const view = { ...state, layout, columnOwn: this.column.own,
                filtered: applyFilters(profile, state.filters) };
            this.shapes = makeShapes(profile, view);
            this.topShape = ["callers", "sandwich", "elided"].includes(layout) ?
                makeShapes(profile, { ...view, layout: "forward" })[0] :
                this.shapes[this.shapes.length - 1];
            this.moveZoom = before && this.shapeKey !== undefined ? before : null;
            this.shapeKey = key;
            this.graphKey = "";
        }
        const graphKey = [key, state.column, state.moments, state.span].join("/");
        if (graphKey === this.graphKey)
            return;
        this.graphKey = graphKey;
        const { columns } = profile, sides = profile.delta ? columns.slice(0, 2) : null;
        const shown = layout === "compare" ? [columns[1], columns[0], columns[2]] :
            layout === "elided" ? [profile.elided.column] : this.shapes.map(() => this.column);
        this.graphs = shown.map((c, i) =>
            makeGraph(this.shapes[Math.min(i, this.shapes.length - 1)], c, sides));
        if (layout === "elided")
            addLost(profile, this.graphs[0]);
        const same = this.graphs.find((g) => g.shape === this.topShape && g.column === this.column);
        this.topGraph = same || makeGraph(this.topShape, this.column, sides);
        if (this.moveZoom)
            this.followZoom(this.moveZoom, this.mainGraph);
        this.moveZoom = null;
        if (layout !== this.built)
            this.buildCharts(layout);
    }

    /* The frame zoomed into, found again by its path in another shape, as far as it goes. */
    followZoom(from, to) {
        const { state } = this;
        let node = 0;
        const path = state.zoom > 0 && state.zoom < from.n ? pathOf(from, state.zoom) : [];
        for (const step of path.slice(1)) {
            let found = -1;
            for (let c = node + 1; c < to.end[node]; c = to.end[c])
                if (to.name[c] === from.name[step])
                    found = c;
            if (found < 0)
                break;
            node = found;
        }
        state.zoom = node;
        state.range = null;
        this.upperZoom = { zoom: 0, range: null };
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
            const chart = new Chart(pane, profile, pen, this.listener(), title || "Flame graph");
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
        this.makeGraphs();
        if (state.goal !== null)
            state.zoom = Math.max(0, findNode(this.mainGraph, profile.names, state.goal, true));
        state.goal = null;
        const searchKey = [state.query, state.matchCase, state.regex, ...state.picks].join("\n");
        if (searchKey !== this.searchKey) {
            this.searchKey = searchKey;
            this.search = makeSearch(profile, state);
        }
        this.applyTheme();
        this.showControls();
        this.showMain(animate);
    }

    applyTheme() {
        const wanted = this.printing ? "light" : this.state.theme;
        const dark = wanted === "dark" ||
            (wanted === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
        document.documentElement.dataset.theme = dark ? "dark" : "light";
        if (this.theme && this.dark === dark)
            return;
        const css = getComputedStyle(document.documentElement);
        this.dark = dark;
        this.theme = {};
        for (const key of ["panel", "text", "muted", "accent", "thin", "faded", "label"])
            this.theme[key] = css.getPropertyValue("--" + key).trim();
    }

    /* {key, of, share}: of() is a frame's colour, share() its change from -1 to 1, or null. */
    colorsOf(chart, graph) {
        const delta = graph.change, chosen = this.state.color;
        const mode = chart.title === "Change" && !CHANGE_MODES.includes(chosen) ? "change" : chosen;
        const key = [mode, this.dark].join();
        if (graph.colors && graph.colors.key === key)
            return graph.colors;
        const per = perColumn(this.profile, graph, mode);
        if (per) {
            const share = changeShare(per, "ratio");
            graph.colors = { key, mode, share, per, of: (i) => changeColor(share(i), this.dark) };
        } else {
            graph.colors = { key, mode,
                of: colorist(this.profile, graph, mode, this.dark,
                    marksOf(this.profile, graph, chart.reversed)),
                share: delta && changeShare(graph, CHANGE_MODES.includes(mode) ? mode : "change") };
        }
        return graph.colors;
    }

    showMain(animate) {
        const { state, search } = this, shownGraph = state.view !== "table";
        byId("main").dataset.view = state.view;
        if (shownGraph)
            this.charts.forEach((chart, i) => {
                if (this.built === "sandwich")
                    chart.pane.style.flexGrow = Math.min(40, this.graphs[i].height + 3);
                const zoom = chart.upper ? this.upperZoom : state;
                const flame = this.built === "sandwich" ?
                    chart.upper === (state.direction === "icicle") : state.direction === "flame";
                const graph = this.graphs[i], colors = this.colorsOf(chart, graph);
                chart.show({
                    graph, color: colors.of, share: colors.share, mode: colors.mode, per: colors.per,
                    marks: marksOf(this.profile, graph, chart.reversed), theme: this.theme,
                    flame, search, zoom: zoom.zoom, range: zoom.range,
                    fromEnd: state.labels === "end", animate,
                });
            });
        byId("charts").classList.toggle("upside-down",
            this.built === "sandwich" && state.direction === "flame");
        byId("minimap").hidden = this.built === "sandwich";
        this.growth.show(state.span);
        this.series.show({ column: this.column, range: state.moments, theme: this.theme });
        if (shownGraph)
            this.showMinimap();
        if (state.view !== "graph")
            this.table.show({
                graph: this.topGraph, search, query: state.query, sort: state.sort,
                ascending: state.ascending, picks: state.picks,
                wrappers: state.wrappers, added: state.added, spared: state.spared,
                color: (name) => this.chipColor(name),
            });
        this.showPath();
    }

    /* The table's colours are of names, whatever the graph's are of. */
    chipColor(name) {
        const byName = this.state.color === "name" || this.state.color === "kind" ?
            this.state.color : "package";
        return colorist(this.profile, { name: [name] }, byName, this.dark, null)(0);
    }

    showMinimap() {
        const chart = this.mainChart(), graph = chart.graph;
        this.minimap.show({
            graph, color: this.colorsOf(chart, graph).of, colorMode: this.state.color, theme: this.theme,
            search: this.search, flame: chart.view.flame, dark: this.dark,
        });
        this.minimap.window(...chart.target());
    }

    showControls() {
        const { state, search, profile } = this;
        const all = this.topGraph.total[0];
        for (const id of ["views", "layouts"])
            for (const button of byId(id).children)
                button.setAttribute("aria-pressed",
                    String(button.dataset.value === state[id.slice(0, -1)]));
        for (const button of byId("columns").children)
            button.setAttribute("aria-pressed",
                String(Number(button.dataset.value) === state.column));
        for (const input of byId("display").querySelectorAll("input"))
            input.checked = input.type === "radio" ? state[input.name] === input.value :
                input.id === "lines" ? profile.apart : state[input.name];
        byId("color").value = state.color;
        for (const [id, on] of [["matchcase", state.matchCase], ["regex", state.regex]])
            byId(id).setAttribute("aria-pressed", String(on));
        byId("theme").textContent = this.dark ? "\u2600\ufe0e" : "\u263e\ufe0e";
        byId("theme").setAttribute("aria-label", this.dark ? "Light theme" : "Dark theme");
        byId("search").classList.toggle("wrong", search.error !== "");
        byId("matched").textContent = (search.error ? search.error + "; " : "") +
            (search.asText ? "as text: " : "") +
            (search.active ?
                `${formatPercent(matchedTotal(this.topGraph, search.match), all)} \u00b7 ` +
                plural(search.count, "name", "names") : "");
        byId("filter").hidden = !search.count;
        byId("picks").hidden = !state.picks.size;
        byId("picks").textContent = `${state.picks.size} picked \u2715`;
        for (const id of ["next", "previous"])
            byId(id).hidden = !search.active;
        byId("clear").hidden = !state.query && !state.picks.size;
        /* A title that says what the column is of changes with the time that is shown. */
        const timed = state.span && this.column.history;
        const named = profile.named && !(timed && profile.title === this.column.atEnd.title);
        byId("title").textContent = named ? profile.title : this.column.title;
        byId("subtitle").textContent = [profile.subtitle, named && (timed || !profile.single) ?
            this.column.title : "", this.totalText(all)].filter(Boolean).join(" \u00b7 ");
        byId("facts").textContent = [plural(profile.nstacks, "stack", "stacks"),
            plural(this.topGraph.n - 1, "frame", "frames"),
            `${this.topGraph.height} deep`].join(" \u00b7 ");
    }

    totalText(all) {
        const { unit } = this.column, short = formatShort(all, unit);
        return unit === "bytes" || timeUnit(unit) >= 0 ? short : formatExact(all, unit);
    }

    /* ---- the path of the zoomed frame, and what is left out ---- */

    showPath() {
        const { profile, state } = this, chart = this.mainChart();
        const graph = this.mainGraph;
        const anchor = chart.view ? chart.anchor() : Math.min(state.zoom, graph.n - 1);
        const path = pathOf(graph, anchor), list = byId("crumbs");
        const shown = path.length > 9 ? [...path.slice(0, 2), -1, ...path.slice(-6)] : path;
        list.replaceChildren(...shown.map((node) => {
            if (node < 0)
                return element("li", "gap", `\u2026 ${path.length - 8} more`);
            const name = profile.names[graph.name[node]];
            const button = element("button", "crumb", shorten(name, 40));
            button.title = name.slice(0, 600);
            if (node === anchor)
                button.setAttribute("aria-current", "true");
            button.addEventListener("click", () => this.zoomTo(chart, node, null));
            return element("li", "", button);
        }));
        if (state.range)
            list.append(element("li", "gap", formatPercent(
                state.range[1] - state.range[0], graph.total[0]) + " in sight"));
        list.scrollLeft = list.scrollWidth;
        this.showFilters();
    }

    showFilters() {
        const { state, profile } = this, chips = [];
        const chip = (text, changes) => {
            const button = element("button", "tag", text + " \u2715");
            button.addEventListener("click", () => this.change(changes));
            chips.push(button);
        };
        const name = (n) => shorten(profile.names[n], 36);
        if (state.layout === "sandwich")
            chip("Sandwich: " + name(state.sandwich),
                { layout: "forward", sandwich: -1, zoom: 0, range: null });
        if (state.focus.size)
            chip("Focus: " + name(profile.shape.name[[...state.focus][0]]), { focus: new Set() });
        if (state.hide.size)
            chip(plural(state.hide.size, "subtree", "subtrees") + " hidden", { hide: new Set() });
        if (state.hideNames.size)
            chip("Hidden: " + [...state.hideNames].slice(0, 3).map(name).join(", ") +
                (state.hideNames.size > 3 ? " \u2026" : ""), { hideNames: new Set() });
        state.filters.forEach((filter, at) => chip(
            `${FILTERS[filter.op].chip}: ` + [filter.query && shorten(filter.query, 36),
                ...[...filter.picks].slice(0, 3).map(name), filter.picks.size > 3 ? "\u2026" : ""]
                .filter(Boolean).join(", "),
            { filters: state.filters.filter((_, i) => i !== at) }));
        if (state.recursion)
            chip("Recursion collapsed", { recursion: false });
        if (state.chains)
            chip("Chains collapsed", { chains: false });
        byId("filters").replaceChildren(...chips);
    }

    sentence(chart, node) {
        const { graph } = chart;
        if (node < 0)
            return "";
        const change = graph.change ?
            ", change " + formatChange(graph.change[node], graph.total[0]) : "";
        return `${this.profile.names[graph.name[node]].slice(0, 1000)}: ` +
            `${formatShort(graph.total[node], graph.unit)}, ` +
            `${formatPercent(graph.total[node], graph.total[0])}${change}`;
    }

    describe(chart, node) {
        byId("details").textContent = node < 0 ? "" : this.sentence(chart, node);
    }

    /* ---- what the reader does ---- */

    /* Only what has a history can be shown of a time. `more`: the pointer still moves. */
    selectTime(span, more) {
        const changes = { span }, { columns } = this.profile;
        if (String(span) === String(this.state.span))
            return;
        if (span && !this.column.history) {
            const at = columns.findIndex((c) => c.history);
            if (at < 0)
                return;
            Object.assign(changes, { column: at, range: null });
        }
        this.change(changes, more);
    }

    chooseColumn(column) {
        this.change({ column, range: null,
            span: this.profile.columns[column].history ? this.state.span : null });
    }

    zoomTo(chart, node, range, quiet) {
        if (chart.upper) {
            this.upperZoom = { zoom: node, range };
            this.update({ animate: !quiet });
            return;
        }
        if (node === this.state.zoom && !range && !this.state.range)
            return;
        this.change({ zoom: node, range }, quiet);
    }

    togglePick(name) {
        const picks = new Set(this.state.picks);
        if (!picks.delete(name))
            picks.add(name);
        this.change({ picks }, true);
    }

    openSandwich(name) {
        if (name === 0)
            return;
        this.change({ layout: "sandwich", sandwich: name, zoom: 0, range: null,
            view: this.state.view === "table" ? "both" : this.state.view });
    }

    sortBy(key) {
        const { sort, ascending } = this.state;
        this.change({ sort: key, ascending: key === sort ? !ascending : key === "name" }, true);
    }

    /* Whether a frame of the graph is a subtree of the profile. */
    hasNodes() {
        return this.built === "forward" || this.built === "compare";
    }

    /* The profile's nodes that a frame of a graph stands for. */
    nodesOf(graph, node) {
        if (!graph.owner)
            return new Set([node]);
        const found = new Set(), { end } = this.profile.shape;
        for (let i = 0; i < graph.owner.length;)
            if (graph.owner[i] === node) {
                found.add(i);
                i = end[i];
            } else {
                i++;
            }
        return found;
    }

    focusOn(chart, node) {
        if (this.hasNodes())
            this.change({ focus: this.nodesOf(chart.graph, node), zoom: 0, range: null });
    }

    hideNode(chart, node) {
        if (node === 0 || !this.hasNodes())
            return;
        this.change({ hide: new Set([...this.state.hide, ...this.nodesOf(chart.graph, node)]) });
    }

    hideName(name) {
        this.change({ hideNames: new Set([...this.state.hideNames, name]) });
    }

    /* Whether the own count of a function is its callers'. */
    isWrapper(name) {
        return wrappersOf(this.topGraph, this.profile, this.state).has(name);
    }

    toggleWrapper(name) {
        const on = this.isWrapper(name);
        const change = (set, has) => has ? new Set([...set, name]) :
            new Set([...set].filter((n) => n !== name));
        this.change({ added: change(this.state.added, !on), spared: change(this.state.spared, on) });
    }

    /* Makes a filter of the search. */
    addFilter(op) {
        const { query, matchCase, regex, picks, filters } = this.state;
        byId("query").value = "";
        this.change({ filters: [...filters, { op, query, matchCase, regex, picks }],
            query: "", picks: new Set(), zoom: 0, range: null });
    }

    filterName(op, name) {
        this.change({ filters: [...this.state.filters,
            { op, query: "", matchCase: false, regex: false, picks: new Set([name]) }] });
    }

    openFilters() {
        const { left, bottom } = byId("filter").getBoundingClientRect();
        this.menu.show(byId("matched").textContent, Object.keys(FILTERS).map((op) =>
            [FILTERS[op].menu, () => this.addFilter(op)]), left, bottom);
    }

    stackText(chart, node) {
        const { graph } = chart;
        const path = pathOf(graph, node).map((i) => this.profile.names[graph.name[i]]);
        return (chart.reversed ? path.reverse() : path).filter((s, i, all) =>
            !(graph.name[0] === 0 && i === (chart.reversed ? all.length - 1 : 0))).join("\n");
    }

    copyName(chart, node) {
        copyText(this.profile.names[chart.graph.name[node]], "Name");
    }

    openMenu(chart, node, x, y) {
        const name = chart.graph.name[node], text = this.profile.names[name];
        const tree = this.hasNodes();
        this.tooltip.hide();
        this.menu.show(text, [
            ["Zoom to this frame", () => this.zoomTo(chart, node, null), "Enter"],
            name && ["Sandwich: callers and callees", () => this.openSandwich(name), "S"],
            tree && node && ["Focus on this subtree", () => this.focusOn(chart, node), "F"],
            tree && node && ["Hide this subtree", () => this.hideNode(chart, node), "H"],
            name && ["Hide this function everywhere", () => this.hideName(name)],
            name && ["Show only stacks with this function", () => this.filterName("keep", name)],
            name && ["Show stacks from this function on", () => this.filterName("from", name)],
            name && ["Merge this function into its callers", () => this.filterName("fold", name)],
            name && [this.state.picks.has(name) ? "Take out of the search" : "Add to the search",
                () => this.togglePick(name)],
            name && [this.isWrapper(name) ? "Count what it takes as its own" :
                "Count what it takes as its callers'", () => this.toggleWrapper(name)],
            null,
            ["Copy name", () => this.copyName(chart, node), "C"],
            ["Copy stack", () => copyText(this.stackText(chart, node), "Stack")],
            ["Copy link to this frame", () => copyText(location.href.split("#")[0] + "#" +
                writeState({ ...this.state, range: null, zoom: chart.upper ? 0 : node },
                    this.profile, this.mainGraph), "Link")],
        ].filter((item) => item === null || item), x, y);
    }

    /* Selects the next frame that matches, zooming out to it where it is not in sight. */
    step(forward) {
        const chart = this.mainChart(), { graph } = chart, { match } = this.search;
        if (!this.search.active || !graph)
            return;
        let i = chart.selected;
        for (let k = 0; k < graph.n; k++) {
            i = (i + (forward ? 1 : -1) + graph.n) % graph.n;
            if (graph.total[i] > 0 && frameMatches(graph, match, i)) {
                this.bringIntoSight(chart, i);
                return;
            }
        }
    }

    bringIntoSight(chart, node) {
        const { graph } = chart, [x0, x1] = chart.target();
        const left = graph.start[node], right = left + graph.total[node];
        const wide = (right - left) / (x1 - x0) * chart.width >= 3;
        if (!wide || right <= x0 || left >= x1)
            this.zoomTo(chart, wide ? 0 : Math.max(0, graph.parent[node]), null, true);
        if (!wide && (right - left) / graph.total[Math.max(0, graph.parent[node])] * chart.width < 3)
            this.zoomTo(chart, node, null, true);
        chart.select(node);
    }

    escape() {
        const { state } = this;
        this.tooltip.hide();
        if (state.query || state.picks.size) {
            byId("query").value = "";
            this.change({ query: "", picks: new Set() }, true);
        } else if (state.zoom || state.range) {
            this.change({ zoom: 0, range: null });
        } else if (state.span) {
            this.selectTime(null);
        }
    }
}
