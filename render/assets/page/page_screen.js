/*
 * ---- page_screen.js: drawings and texts around the charts ----
 *
 * Draws theme, colours, table, minimap, controls, path and chips from the state and its graphs.
 */

Object.assign(App.prototype, {
    applyTheme() {
        const wanted = this.printing ? "light" : this.state.theme;
        const dark = wanted === "dark" ||
            (wanted === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
        document.documentElement.dataset.theme = dark ? "dark" : "light";
        if (this.theme && this.dark === dark)
            return;
        const css = getComputedStyle(document.documentElement);
        this.dark = dark;
        this.theme = { caller: ALPHAS.caller[dark ? "dark" : "light"] };
        for (const key of ["panel", "text", "muted", "accent", "thin", "faded", "label"])
            this.theme[key] = css.getPropertyValue("--" + key).trim();
    },

    /* {key, of, share}: of() is a frame's colour, share() its change from -1 to 1, or null. */
    colorsOf(chart, graph) {
        const delta = graph.change, chosen = this.state.color;
        const mode = chart.title === "Change" && !CHANGE_MODES.includes(chosen) ? "change" : chosen;
        const { carry } = this.state, key = [mode, this.dark, carry].join();
        if (graph.colors && graph.colors.key === key)
            return graph.colors;
        const per = perColumn(this.profile, graph, mode);
        if (per) {
            const share = changeShare(per, "ratio");
            graph.colors = { key, mode, share, per, of: (i) => changeColor(share(i), this.dark) };
        } else {
            graph.colors = { key, mode, carry,
                of: colorist(this.profile, graph, mode, this.dark,
                    marksOf(this.profile, graph, chart.reversed), carry),
                share: delta && changeShare(graph, CHANGE_MODES.includes(mode) ? mode : "change", carry) };
        }
        return graph.colors;
    },

    showMain(animate) {
        const { state, search } = this, shownGraph = state.view !== "table";
        byId("main").dataset.view = state.view;
        showLegend(this); /* before the charts, which take the remaining height */
        if (shownGraph)
            this.charts.forEach((chart, i) => {
                if (this.built === "sandwich")
                    chart.pane.style.flexGrow = Math.min(40, this.graphs[i].height + 3);
                const zoom = chart.upper ? this.upperZoom : state;
                const flame = this.built === "sandwich" ?
                    chart.upper === (state.direction === "icicle") : state.direction === "flame";
                const graph = this.graphs[i], colors = this.colorsOf(chart, graph);
                chart.show({
                    graph, color: colors.of, share: colors.share, mode: colors.mode, per: colors.per, carry: colors.carry,
                    marks: marksOf(this.profile, graph, chart.reversed), theme: this.theme,
                    flame, search, zoom: zoom.zoom, range: zoom.range,
                    fromEnd: state.labels === "end", animate,
                });
            });
        byId("charts").classList.toggle("upside-down",
            this.built === "sandwich" && state.direction === "flame");
        byId("minimap").hidden = this.built === "sandwich";
        this.growth.show(state.span);
        this.lanes.show();
        this.series.show({ column: this.column, range: state.moments, theme: this.theme });
        if (shownGraph)
            this.showMinimap();
        if (state.view === "both" && !this.shown && this.profile.shape.n >= LARGE)
            requestAnimationFrame(() => setTimeout(() => this.showTable())); /* the graph comes first */
        else if (state.view !== "graph")
            this.showTable();
        this.showPath();
        this.findings.show();
        showReset(this);
    },

    showTable() {
        const { state, search } = this;
        this.table.show({
            part: state.filters.length > 0 || state.focus.size > 0 || state.hide.size > 0 ||
                state.hideNames.size > 0, partOfTime: Boolean(state.laneRange),
            graph: this.topGraph, shapeView: this.shapeView, search, by: state.by, query: state.query,
            matchCase: state.matchCase, regex: state.regex, sort: state.sort,
            ascending: state.ascending, picks: state.picks, marked: state.places,
            wrappers: state.wrappers, added: state.added, spared: state.spared,
            look: [this.dark, state.color].join(),
            color: (row) => row.place ? hueShade(row.text, row.text, this.dark) : this.chipColor(row.name),
        });
    },

    /* The table's colours are those of names, whatever the graph's mode is. */
    chipColor(name) {
        const byName = this.state.color === "name" || this.state.color === "kind" ?
            this.state.color : "package";
        return colorist(this.profile, { name: [name] }, byName, this.dark, null)(0);
    },

    showMinimap() {
        const chart = this.mainChart(), graph = chart.graph;
        this.minimap.show({
            graph, color: this.colorsOf(chart, graph).of, colorMode: this.state.color, theme: this.theme,
            search: this.search, flame: chart.view.flame, dark: this.dark,
        });
        this.minimap.window(...chart.target());
    },

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
        setText(byId("theme"), this.dark ? "\u2600\ufe0e" : "\u263e\ufe0e");
        byId("theme").setAttribute("aria-label", this.dark ? "Light theme" : "Dark theme");
        byId("search").classList.toggle("wrong", search.error !== "");
        setText(byId("matched"), (search.error ? search.error + "; " : "") +
            (search.asText ? "as text: " : "") +
            (search.active ?
                `${formatPercent(matchedShare(this.topGraph, search), all)} \u00b7 ` +
                plural(search.count, "name", "names") : ""));
        byId("filter").hidden = !search.count;
        byId("picks").hidden = !state.picks.size && !state.places.size;
        setText(byId("picks"), `${state.picks.size + state.places.size} picked \u2715`);
        for (const id of ["next", "previous"])
            byId(id).hidden = !search.active;
        byId("clear").hidden = !state.query && !state.picks.size && !state.places.size;
        /* A title that describes the column changes with the shown time. */
        const timed = (state.span && this.column.history) || (state.laneRange && followsLanes(profile, this.column));
        const whole = this.column.atEnd || this.column.whole;
        const named = profile.named && !(timed && profile.title === whole.title);
        setText(byId("title"), named ? profile.title : this.column.title);
        setText(byId("subtitle"), [profile.subtitle, named && (timed || !profile.single) ?
            this.column.title : "", this.totalText(all)].filter(Boolean).join(" \u00b7 "));
        setText(byId("facts"), [plural(profile.nstacks, "stack", "stacks"),
            plural(this.topGraph.n - 1, "frame", "frames"),
            `${this.topGraph.height} deep`].join(" \u00b7 "));
    },

    totalText(all) {
        const { unit } = this.column, short = formatShort(all, unit);
        return unit === "bytes" || timeUnit(unit) >= 0 ? short : formatExact(all, unit);
    },

    /* ---- the path of the zoomed frame, and filters ---- */

    showPath() {
        const { profile, state } = this, chart = this.mainChart();
        const graph = this.mainGraph;
        const anchor = chart.view ? chart.anchor() : Math.min(state.zoom, graph.n - 1);
        const path = pathOf(graph, anchor), list = byId("crumbs");
        this.showFilters();
        if (list.graph === graph && list.anchor === anchor && list.range === state.range && list.chart === chart)
            return;
        Object.assign(list, { graph, anchor, range: state.range, chart });
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
        /* Wait for the layout of the next frame, instead of forcing one more. */
        requestAnimationFrame(() => {
            list.scrollLeft = list.scrollWidth;
        });
    },

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
                ...[...filter.picks].slice(0, 3).map(name), filter.picks.size > 3 ? "\u2026" : "",
                ...[...filter.places || []].slice(0, 3).map((key) => shorten(splitPlace(key)[1], 36))]
                .filter(Boolean).join(", "),
            { filters: state.filters.filter((_, i) => i !== at) }));
        if (state.recursion)
            chip("Recursion collapsed", { recursion: false });
        if (state.chains)
            chip("Chains collapsed", { chains: false });
        if (chips.length || byId("filters").firstChild)
            byId("filters").replaceChildren(...chips);
    },

    sentence(chart, node) {
        const { graph } = chart;
        if (node < 0)
            return "";
        const change = graph.change ?
            ", change " + formatChange(graph.change[node], graph.was[0]) : "";
        return `${this.profile.names[graph.name[node]].slice(0, 1000)}: ` +
            `${formatShort(graph.total[node], graph.unit)}, ` +
            `${formatPercent(graph.total[node], graph.total[0])}${change}`;
    },

    describe(chart, node) {
        setText(byId("details"), node < 0 ? "" : this.sentence(chart, node));
    },
});
