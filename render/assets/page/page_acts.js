/*
 * ---- page_acts.js: actions of the reader ----
 *
 * Each changes the state (App.change), from which the screen follows.
 */

Object.assign(App.prototype, {
    /* Only columns with a history can be shown for a time. `more`: the pointer still moves. */
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
    },

    chooseColumn(column) {
        this.change({ column, range: null,
            span: this.profile.columns[column].history ? this.state.span : null });
    },

    togglePick(name) {
        const picks = new Set(this.state.picks);
        if (!picks.delete(name))
            picks.add(name);
        this.change({ picks }, true);
    },

    togglePlace(key) {
        const places = new Set(this.state.places);
        if (!places.delete(key))
            places.add(key);
        this.change({ places }, true);
    },

    openSandwich(name) {
        if (name === 0)
            return;
        this.change({ layout: "sandwich", sandwich: name, zoom: 0, range: null,
            view: this.state.view === "table" ? "both" : this.state.view });
    },

    sortBy(key) {
        const { sort, ascending } = this.state;
        this.change({ sort: key, ascending: key === sort ? !ascending : key === "name" }, true);
    },

    /* Whether a frame of the graph is a subtree of the profile. */
    hasNodes() {
        return this.built === "forward" || this.built === "compare";
    },

    /* Nodes of the profile that a frame of a graph represents. */
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
    },

    focusOn(chart, node) {
        if (this.hasNodes())
            this.change({ focus: this.nodesOf(chart.graph, node), zoom: 0, range: null });
    },

    hideNode(chart, node) {
        if (node === 0 || !this.hasNodes())
            return;
        this.change({ hide: new Set([...this.state.hide, ...this.nodesOf(chart.graph, node)]) });
    },

    hideName(name) {
        this.change({ hideNames: new Set([...this.state.hideNames, name]) });
    },

    /* Whether the own count of a function is attributed to its callers. */
    isWrapper(name) {
        return wrappersOf(this.topGraph, this.profile, this.state).has(name);
    },

    toggleWrapper(name) {
        const on = this.isWrapper(name);
        const change = (set, has) => has ? new Set([...set, name]) :
            new Set([...set].filter((n) => n !== name));
        this.change({ added: change(this.state.added, !on), spared: change(this.state.spared, on) });
    },

    /* Turns the search into a filter. */
    addFilter(op) {
        const { query, matchCase, regex, picks, places, filters } = this.state;
        byId("query").value = "";
        this.change({ filters: [...filters, { op, query, matchCase, regex, picks, places }],
            query: "", picks: new Set(), places: new Set(), zoom: 0, range: null });
    },

    filterName(op, name) {
        this.change({ filters: [...this.state.filters,
            { op, query: "", matchCase: false, regex: false, picks: new Set([name]) }] });
    },

    openFilters() {
        const { left, bottom } = byId("filter").getBoundingClientRect();
        this.menu.show(byId("matched").textContent, Object.keys(FILTERS).map((op) =>
            [FILTERS[op].menu, () => this.addFilter(op)]), left, bottom);
    },

    stackText(chart, node) {
        const { graph } = chart;
        const path = pathOf(graph, node).map((i) => this.profile.names[graph.name[i]]);
        return (chart.reversed ? path.reverse() : path).filter((s, i, all) =>
            !(graph.name[0] === 0 && i === (chart.reversed ? all.length - 1 : 0))).join("\n");
    },

    copyName(chart, node) {
        copyText(this.profile.names[chart.graph.name[node]], "Name");
    },

    openMenu(chart, node, x, y) {
        const name = chart.graph.name[node], text = this.profile.names[name];
        const tree = this.hasNodes();
        this.tooltip.hide();
        this.menu.show(text, [
            ["Zoom to this frame", () => this.zoomTo(chart, node, null), "Enter"],
            name && [this.column.name === "kept" ? "Sandwich: who keeps it, and what it keeps" :
                "Sandwich: callers and callees", () => this.openSandwich(name), "S"],
            tree && node && ["Focus on this subtree", () => this.focusOn(chart, node), "F"],
            tree && node && [notesOn(this, chart).has(node) ? "Change the note" : "Add a note",
                () => editNote(this, chart, node), "A"],
            tree && node && ["Hide this subtree", () => this.hideNode(chart, node), "H"],
            name && ["Hide this function everywhere", () => this.hideName(name)],
            name && ["Show only stacks with this function", () => this.filterName("keep", name)],
            name && ["Show stacks from this function on", () => this.filterName("from", name)],
            name && ["Merge this function into its callers", () => this.filterName("fold", name)],
            name && [this.state.picks.has(name) ? "Take out of the search" : "Add to the search",
                () => this.togglePick(name)],
            name && this.profile.lanes && ["Its longest waits in the lanes", () => this.lanes.longest(name)],
            name && [this.isWrapper(name) ? "Count what it takes as its own" :
                "Count what it takes as its callers'", () => this.toggleWrapper(name)],
            null,
            ["Copy name", () => this.copyName(chart, node), "C"],
            ["Copy stack", () => copyText(this.stackText(chart, node), "Stack")],
            ["Copy link to this frame", () => copyText(location.href.split("#")[0] + "#" +
                writeState({ ...this.state, range: null, zoom: chart.upper ? 0 : node },
                    this.profile, this.mainGraph), "Link")],
        ].filter((item) => item === null || item), x, y);
    },

    escape() {
        const { state } = this;
        this.tooltip.hide();
        if (this.background.key !== null)
            this.background.giveUp();
        else if (state.query || state.picks.size || state.places.size) {
            byId("query").value = "";
            this.change({ query: "", picks: new Set(), places: new Set() }, true);
        } else if (state.zoom || state.range) {
            this.change({ zoom: 0, range: null });
        } else if (state.laneRange) {
            this.lanes.selectRange(null);
        } else if (state.span) {
            this.selectTime(null);
        }
    },
});
