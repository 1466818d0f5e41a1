/*
 * ---- page_everyone.js: use of the page by touch, in small windows, and at a distance ----
 */

/*
 * A finger cannot hover: its first tap on a frame shows what a pointer over it would, and a tap on
 * the frame that is selected zooms. True if the tap has been handled.
 */
function tapShows(chart, event, i) {
    const node = chart.boxes.node[i];
    if (event.pointerType !== "touch" || chart.boxes.run[i] || chart.tapped === node)
        return false;
    chart.tapped = node;
    chart.select(node);
    chart.listener.hover(chart, node, 0, event);
    byId("tooltip").append(element("div", "tip-note", "Tap again to zoom"));
    return true;
}

/* The button over the graph that resets the zoom, visible at any scroll position. */
function showReset(app) {
    const { zoom, range } = app.state, upper = app.upperZoom;
    byId("reset").hidden = app.state.view === "table" || !(zoom > 0 || range || upper.zoom || upper.range);
}

function connectEveryone(app) {
    byId("reset").addEventListener("click", () => {
        app.upperZoom = { zoom: 0, range: null };
        app.change({ zoom: 0, range: null });
        app.mainChart().canvas.focus({ preventScroll: true });
    });
    byId("read").addEventListener("click", () => openReading(app));
}
