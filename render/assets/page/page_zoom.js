/*
 * ---- page_zoom.js: follows the zoomed frame into another shape ----
 *
 * Frames are found again by their paths where a shape is rebuilt, and by their functions where it
 * is merged from the other end.
 */

Object.assign(App.prototype, {
    /* The frame zoomed into, found again by its path in another shape, as far as it goes. */
    followZoom(from, to, layout) {
        const { state } = this;
        let node = 0;
        const path = state.zoom > 0 && state.zoom < from.n ? pathOf(from, state.zoom) : [];
        if (path.length && (layout === "callers") !== (this.built === "callers")) {
            node = this.turnedNode(from, to, path, this.zooms[layout]);
            path.length = 0;
        }
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
    },

    /*
     * The frame of a path in a graph that is merged from the other end: the frame that was zoomed
     * before, if that was the same function; else the frame with the longest part of the path after
     * it, and of these the largest.
     */
    turnedNode(from, to, path, before) {
        const steps = path.slice(1).reverse().map((i) => from.name[i]);
        const known = before && before.name === steps[0] ?
            findNode(to, this.profile.names, before.path, false) : -1;
        if (known > 0 && to.name[known] === steps[0])
            return known;
        let best = 0, most = 0;
        for (let i = 1; i < to.n; i++) {
            if (to.name[i] !== steps[0] || !(to.total[i] > 0))
                continue;
            const same = this.stepsBelow(to, i, steps);
            if (same > most || (same === most && to.total[i] > to.total[best])) {
                best = i;
                most = same;
            }
        }
        return best;
    },

    /* Number of the names `steps` that follow one below the other from a frame called steps[0]
     * on. */
    stepsBelow(graph, node, steps) {
        let same = 1;
        for (let found = node; found >= 0 && same < steps.length;) {
            const at = found;
            found = -1;
            for (let c = at + 1; c < graph.end[at] && found < 0; c = graph.end[c])
                if (graph.name[c] === steps[same])
                    found = c;
            same += found >= 0 ? 1 : 0;
        }
        return same;
    },

    zoomTo(chart, node, range, quiet) {
        if (chart.upper) {
            this.upperZoom = { zoom: node, range };
            this.update({ animate: !quiet });
            return;
        }
        if (node === this.state.zoom && !range && !this.state.range)
            return;
        this.change({ zoom: node, range }, quiet);
    },

    /* Selects the next frame that matches, zooming out if it is not visible. */
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
    },

    bringIntoSight(chart, node) {
        const { graph } = chart, [x0, x1] = chart.target();
        const left = startOf(graph, node), right = left + graph.total[node];
        const wide = (right - left) / (x1 - x0) * chart.width >= 3, caller = Math.max(0, parentOf(graph, node));
        if (!wide || right <= x0 || left >= x1)
            this.zoomTo(chart, wide ? 0 : caller, null, true);
        if (!wide && (right - left) / graph.total[caller] * chart.width < 3)
            this.zoomTo(chart, node, null, true);
        chart.select(node);
    },
});
