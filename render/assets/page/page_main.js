/* ---- page_main.js: starts the page and connects its controls ---- */

/* The choice of separate frames for the lines of a function takes effect by a reload. */
const profile = readProfile(byId("profile").textContent,
    new URLSearchParams(location.hash.slice(1)).get("lines") === "apart");
profile.embedded = isEmbedded();
const app = new App(profile);
app.observer = new ResizeObserver(() => {
    for (const chart of app.charts)
        chart.resize();
    if (app.state.view !== "table" && app.mainChart().graph)
        app.showMinimap();
    if (app.series.view)
        app.series.show(app.series.view);
    app.growth.show(app.state.span);
    app.lanes.show();
    app.table.fill();
});

function connectSegments(id, act) {
    byId(id).addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (button)
            act(button.dataset.value);
    });
}

const MANY_COLUMNS = 4; /* more have a line of their own, as their labels are words */

function fillColumns() {
    const host = byId("columns");
    host.hidden = profile.columns.length < 2;
    host.classList.toggle("many", profile.columns.length > MANY_COLUMNS);
    profile.columns.forEach((column, i) => {
        const button = element("button", "", column.label);
        button.dataset.value = i;
        button.dataset.name = column.name;
        button.title = `${column.title}: ${formatShort(column.sum, column.unit)}` +
            (column.unit === "bytes" || timeUnit(column.unit) >= 0 ? "" : " " + column.unit) +
            (column.name && !profile.delta ? ` (view ${column.name})` : "");
        button.disabled = !(column.most > 0);
        host.append(button);
    });
}

/* Colours by the ratio of the shown column to another. */
function fillRatios() {
    if (!profile.delta && profile.columns.length > 1)
        profile.columns.forEach((column, i) => {
            const option = element("option", "", "for each of " + (column.name || column.unit));
            option.value = "per-" + i;
            option.disabled = !(column.most > 0);
            byId("color").append(option);
        });
}

function setLayout(layout) {
    app.change({ layout, sandwich: -1, range: null });
}

function toggleTheme() {
    app.change({ theme: app.dark ? "light" : "dark" }, true);
}

function connectSearch() {
    const query = byId("query");
    query.value = app.state.query;
    const typed = new Typed(profile.shape.n < LARGE ? 0 : 150, (text) => app.change({ query: text }, true));
    query.addEventListener("input", () => typed.put(query.value));
    query.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === "Escape")
            typed.flush();
        if (event.key === "Enter") {
            app.step(!event.shiftKey);
        } else if (event.key === "Escape") {
            app.escape();
            query.blur();
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    });
    byId("matchcase").addEventListener("click", () =>
        app.change({ matchCase: !app.state.matchCase }, true));
    byId("regex").addEventListener("click", () => app.change({ regex: !app.state.regex }, true));
    byId("picks").addEventListener("click", () => app.change({ picks: new Set(), places: new Set() }, true));
    byId("filter").addEventListener("click", () => app.openFilters());
    byId("clear").addEventListener("click", () => app.escape());
    byId("next").addEventListener("click", () => app.step(true));
    byId("previous").addEventListener("click", () => app.step(false));
}

function connectDisplay() {
    const display = byId("display");
    display.addEventListener("change", (event) => {
        const input = event.target;
        if (input.id === "lines") {
            history.replaceState(history.state, "", "#" + otherLines(app.address(), input.checked));
            location.reload();
            return;
        }
        app.change({ [input.name]: input.type === "radio" ? input.value : input.checked });
    });
    display.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && display.open) {
            display.open = false;
            display.firstElementChild.focus();
            event.stopPropagation();
        }
    });
    document.addEventListener("pointerdown", (event) => {
        if (display.open && !display.contains(event.target))
            display.open = false;
    });
}

/* The table's width, as a share of the window. */
function connectDivider() {
    const divider = byId("divider"), main = byId("main");
    const set = (share) => {
        const percent = Math.round(100 * Math.min(0.8, Math.max(0.15, share)));
        main.style.setProperty("--table-width", percent + "%");
        divider.setAttribute("aria-valuenow", percent);
    };
    divider.addEventListener("pointerdown", (event) => {
        divider.setPointerCapture(event.pointerId);
        event.preventDefault();
    });
    divider.addEventListener("pointermove", (event) => {
        if (divider.hasPointerCapture(event.pointerId))
            set((event.clientX - main.getBoundingClientRect().left) / main.clientWidth);
    });
    divider.addEventListener("keydown", (event) => {
        const by = { ArrowLeft: -0.03, ArrowRight: 0.03 }[event.key];
        if (by) {
            set(byId("table").clientWidth / main.clientWidth + by);
            event.preventDefault();
        }
    });
    divider.addEventListener("dblclick", () => set(0.42));
}

function frameKey(key) {
    const chart = app.charts.find((c) => c.selected >= 0 || c.hovered >= 0);
    if (!chart)
        return false;
    const node = chart.hovered >= 0 ? chart.hovered : chart.selected;
    if (key === "s")
        app.openSandwich(chart.graph.name[node]);
    else if (key === "f")
        app.focusOn(chart, node);
    else if (key === "h")
        app.hideNode(chart, node);
    else if (key === "c")
        app.copyName(chart, node);
    else if (key === "a")
        editNote(app, chart, node);
    return true;
}

const KEYS = {
    "/": () => {
        byId("query").focus();
        byId("query").select();
    },
    "n": () => app.step(true), "p": () => app.step(false), "N": () => app.step(false),
    "1": () => app.change({ view: "table" }),
    "2": () => app.change({ view: "both" }),
    "3": () => app.change({ view: "graph" }),
    "0": () => app.change({ zoom: 0, range: null }),
    "r": () => setLayout(app.state.layout === "callers" ? "forward" : "callers"),
    "i": () => app.change({ direction: app.state.direction === "flame" ? "icicle" : "flame" }),
    "t": toggleTheme,
    "w": () => app.findings.toggle(),
    "?": () => byId("keys").showModal(), "e": () => openReading(app),
    "Escape": () => app.escape(),
    "s": () => frameKey("s"), "f": () => frameKey("f"),
    "h": () => frameKey("h"), "a": () => frameKey("a"), "c": () => frameKey("c"),
};

document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input[type=text], select, textarea");
    if ((event.ctrlKey || event.metaKey) && event.key === "f" && !typing) {
        KEYS["/"](); /* a second Ctrl-F is for the browser's own search */
        event.preventDefault();
        return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey ||
        document.querySelector("dialog[open]"))
        return;
    if (KEYS[event.key]) {
        KEYS[event.key]();
        event.preventDefault();
    }
});

function connect() {
    if (!profile.delta) {
        for (const layout of ["compare", "elided"])
            byId("layouts").querySelector(`[data-value=${layout}]`).remove();
        for (const mode of CHANGE_MODES)
            byId("color").querySelector(`[value=${mode}]`).remove();
    }
    if (profile.ordered)
        byId("order-name").textContent = "in time";
    byId("carry-choice").hidden = !profile.delta;
    byId("lines-choice").hidden = !profile.hasLines;
    fillColumns();
    fillRatios();
    connectSegments("columns", (value) => app.chooseColumn(Number(value)));
    connectSegments("views", (view) => app.change({ view }));
    connectSegments("layouts", setLayout);
    byId("color").addEventListener("change", () => app.change({ color: byId("color").value }));
    byId("theme").addEventListener("click", toggleTheme);
    byId("help").addEventListener("click", () => byId("keys").showModal());
    connectSearch();
    connectDisplay();
    connectDivider();
    connectShare(app);
    connectEveryone(app);
    connectDrop(app);
    window.addEventListener("popstate", (event) => leftDropped(app, event) || app.readAddress());
    window.addEventListener("hashchange", () => app.readAddress());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.update({}));
    for (const [when, printing] of [["beforeprint", true], ["afterprint", false]])
        window.addEventListener(when, () => {
            app.printing = printing;
            app.update({});
            for (const chart of app.charts)
                chart.draw();
        });
    app.observer.observe(byId("minimap"));
    app.observer.observe(byId("series"));
    app.observer.observe(byId("growth"));
    app.observer.observe(byId("table"));
}

connect();
app.update({});
if (profile.embedded)
    connectEmbed(app);
requestAnimationFrame(() => performance.mark("flame-drawn"));
