/* ---- page_popups.js: temporary overlays of the page: tooltip, menu, notes ---- */

/* Places an element beside the pointer, inside the window. */
function placeBeside(e, x, y, gap) {
    const box = e.getBoundingClientRect(), right = innerWidth - 8, low = innerHeight - 8;
    const left = x + gap + box.width > right ? Math.max(8, x - gap - box.width) : x + gap;
    const top = y + gap + box.height > low ? Math.max(8, y - gap - box.height) : y + gap;
    e.style.transform = `translate(${Math.round(left)}px,${Math.round(top)}px)`;
}

class Tooltip {
    constructor() {
        this.e = byId("tooltip");
        this.key = "";
    }

    hide() {
        this.e.hidden = true;
        this.key = "";
    }

    /* Fills the tooltip again after a change. */
    renew() {
        if (!this.e.hidden)
            this.fill();
    }

    show(chart, node, last, event) {
        if (node < 0) {
            this.hide();
            return;
        }
        const key = [chart.graph.column.name, chart.view.mode, chart.anchor(), node, last].join();
        if (key !== this.key || this.graph !== chart.graph) {
            this.key = key;
            this.graph = chart.graph;
            this.fill = () => this.e.replaceChildren(...(last ? runText(chart, node, last) : frameText(chart, node)));
            this.fill();
        }
        this.e.hidden = false;
        placeBeside(this.e, event.clientX, event.clientY, 14);
    }
}

function tipRow(label, value, className) {
    return element("div", "tip-row " + (className || ""), element("span", "tip-label", label),
        element("span", "tip-value", value));
}

function runText({ graph }, node, last) {
    let sum = 0;
    for (let i = node; i < last; i = graph.end[i])
        sum += graph.total[i];
    return [element("div", "tip-name", plural(last - node, "frame", "frames") + " too thin to draw"),
        tipRow("Together", formatShort(sum, graph.unit)),
        tipRow("Of all", formatPercent(sum, graph.total[0])),
        element("div", "tip-note", "Click to spread them out")];
}

function frameText(chart, node) {
    const { graph, profile } = chart, unit = graph.unit, value = graph.total[node];
    const anchor = chart.anchor(), parent = parentOf(graph, node);
    const name = graph.name[node], rows = [];
    rows.push(element("div", "tip-name", profile.names[name].slice(0, 1200) || "(no name)"));
    if (graph.chain && graph.chain[node].length > 1)
        rows.push(element("div", "tip-note", graph.chain[node].slice(0, 12)
            .map((n) => shorten(profile.names[n], 60)).join(" \u203a ") +
            (graph.chain[node].length > 12 ? " \u2026" : "")));
    const said = notesOn(app, chart).get(node);
    if (said)
        rows.push(element("div", "tip-note", "Note: " + said));
    const short = formatShort(value, unit), exact = formatExact(value, unit);
    rows.push(tipRow(graph.column.title || "Value", short, "tip-main"));
    if (unit === "bytes" || timeUnit(unit) >= 0 || value >= 1e6)
        rows.push(tipRow("", exact));
    if (chart.view.per) {
        const { per } = chart.view;
        rows.push(tipRow("Each of " + (per.other.name || per.other.unit),
            `${formatPer(per, node, unit)}, of all ${formatPer(per, 0, unit)}`));
    }
    if (graph.change) {
        const before = graph.was[node];
        rows.push(...sideRows(chart, node));
        if (chart.view.mode === "ratio")
            rows.push(tipRow("Ratio", `${formatRatio(graph.now[node], graph.was[node])}, of all ` +
                formatRatio(graph.now[0], graph.was[0])));
        rows.push(tipRow("Change", `${graph.change[node] > 0 ? "+" : ""}` +
            `${formatShort(graph.change[node], unit)}, ${formatChange(graph.change[node],
                graph.was[0])} of all before` + (before > 0 ?
                `, ${formatChange(graph.change[node], before)} of itself` : "")));
    }
    rows.push(...spanRows(graph, node));
    rows.push(tipRow("Of all", formatPercent(value, graph.total[0])));
    if (parent > 0)
        rows.push(tipRow("Of caller", formatPercent(value, graph.total[parent])));
    if (anchor > 0 && anchor !== parent)
        rows.push(tipRow("Of zoom", formatPercent(value, graph.total[anchor])));
    /* In a chain only the last frames have counts of their own: no rows of zeros. */
    const hops = chart.reversed ? null : countHops(profile, graph);
    if (!chart.reversed && (!hops || graph.own[node] > 0))
        rows.push(tipRow("Self", `${formatShort(graph.own[node], unit)}, ` +
            formatPercent(graph.own[node], graph.total[0])));
    if (!chart.reversed)
        rows.push(...lineRows(chart, node));
    for (const [title, text, sum] of otherColumns(chart, node))
        if (!hops || sum > 0)
            rows.push(tipRow(title, text));
    if (hops && hops[node]) {
        rows.push(tipRow("Waker", hops[node] === 1 ? "woke the sleeper" :
            `${hops[node] - 1} before the one that woke the sleeper`));
        linksTo(profile, graph, node).slice(0, 12).forEach(([thread, link], i) => {
            rows.push(tipRow(`Link ${i + 1}`, (thread ? shorten(thread, 40) + ": " : "") +
                `${formatShort(graph.total[link], unit)}, ` +
                formatPercent(graph.total[link], graph.total[0])));
        });
    }
    if (moduleOfName(profile, name))
        rows.push(tipRow("Module", shorten(moduleOfName(profile, name), 60)));
    const kind = profile.kinds[name];
    if (kind !== "user" && kind !== "separator")
        rows.push(tipRow("Kind", kind));
    rows.push(...classRows(chart, node), ...latencyRows(chart, node));
    return rows;
}

/* For a growth: the counts at both ends, and the change; shrunk frames are not drawn. */
function spanRows(graph, node) {
    const { column } = graph;
    if (!column.was)
        return [];
    graph.ends = graph.ends || [column.was, column.now].map((own) => pour(graph.shape, own)[1]);
    const [was, now] = graph.ends.map((total) => total[node]), { unit } = graph;
    return [tipRow("Before", formatShort(was, unit)), tipRow("After", `${formatShort(now, unit)}, ` +
        `${now > was ? "+" : ""}${formatShort(now - was, unit)}`)];
}

/* File and line; several lines with their shares. */
function lineRows(chart, node) {
    const found = linesOf(chart, node), all = found.reduce((sum, [, v]) => sum + v, 0);
    const rows = found.slice(0, 4).map(([line, v], i) => tipRow(i ? "" : found.length > 1 ?
        "Lines" : "Line", shorten(line, 60) + (found.length > 1 && all > 0 ?
        `, ${formatPercent(v, all)}` : "")));
    if (found.length > 4)
        rows.push(tipRow("", `${found.length - 4} more`));
    return rows;
}

/* Sums of the frame in the other columns of the profile. */
function otherColumns({ graph, profile }, node) {
    const { owner } = graph, last = graph.end[node], found = [];
    if (graph.change)
        return found;
    for (const c of profile.columns) {
        let sum = 0;
        if (c === graph.column || !(c.sum > 0) || (CLASS_VIEWS.includes(c.name) && findClasses(profile)) ||
            (c.name === LATENCY_VIEW && findLatency(profile)))
            continue;
        if (owner)
            for (let i = 0; i < owner.length; i++)
                sum += owner[i] >= node && owner[i] < last ? c.own[i] : 0;
        else
            for (let i = node; i < last; i++)
                sum += c.own[i];
        found.push([c.title, `${formatShort(sum, c.unit)}${c.unit === "bytes" ||
            timeUnit(c.unit) >= 0 ? "" : " " + c.unit}, ${formatPercent(sum, c.sum)}`, sum]);
    }
    return found;
}

/* A menu of [text, action, key] rows; null draws a line. */
class Menu {
    constructor() {
        this.e = byId("menu");
        this.e.addEventListener("keydown", (event) => this.key(event));
        document.addEventListener("pointerdown", (event) => {
            if (!this.e.hidden && !this.e.contains(event.target))
                this.hide();
        }, true);
        window.addEventListener("blur", () => this.hide());
    }

    show(title, items, x, y) {
        this.back = document.activeElement;
        const rows = [element("div", "menu-title", shorten(title, 64))];
        for (const item of items) {
            if (!item) {
                rows.push(element("hr"));
                continue;
            }
            const button = element("button", "", item[0]);
            if (item[2])
                button.append(element("kbd", "", item[2]));
            button.setAttribute("role", "menuitem");
            button.addEventListener("click", () => {
                this.hide();
                item[1]();
            });
            rows.push(button);
        }
        this.e.replaceChildren(...rows);
        this.e.hidden = false;
        placeBeside(this.e, x, y, 2);
        this.e.querySelector("button").focus();
    }

    hide() {
        if (this.e.hidden)
            return;
        const inside = this.e.contains(document.activeElement);
        this.e.hidden = true;
        if (inside && this.back && this.back.isConnected)
            this.back.focus({ preventScroll: true });
    }

    key(event) {
        const buttons = [...this.e.querySelectorAll("button")];
        const at = buttons.indexOf(document.activeElement), n = buttons.length;
        if (event.key === "Escape" || event.key === "Tab")
            this.hide();
        else if (event.key === "ArrowDown")
            buttons[(at + 1) % n].focus();
        else if (event.key === "ArrowUp")
            buttons[(at + n - 1) % n].focus();
        else
            return;
        event.preventDefault();
        event.stopPropagation();
    }
}

/* A line at the lower edge that goes away by itself, for display and for screen readers. */
let noteTimer = 0;
function note(text) {
    const e = byId("note");
    e.textContent = text;
    e.classList.add("shown");
    clearTimeout(noteTimer);
    noteTimer = setTimeout(() => e.classList.remove("shown"), 2200);
}

/* Pages from disk may have no clipboard; the older method works there. */
async function copyText(text, what) {
    let done = false;
    try {
        await navigator.clipboard.writeText(text);
        done = true;
    } catch {
        const area = element("textarea", "off-screen");
        area.value = text;
        document.body.append(area);
        area.select();
        done = document.execCommand("copy");
        area.remove();
    }
    note(done ? what + " copied" : "The browser does not let this page copy");
}
