/*
 * ---- page_table.js: the symbols, with what they and all they called took ----
 *
 * A real <table>, so that screen readers have the profile too, of which only the
 * rows in sight are in the document.
 */

const ROW_HEIGHT = 28, SPARE_ROWS = 8;

/*
 * The names whose own counts go to their callers, in a column: malloc's wrappers in those
 * of memory, what --wrapper names in all, and what the reader says.
 */
function wrappersOf({ column }, profile, { wrappers, added, spared }) {
    const all = new Set(added);
    for (const name of !wrappers || column.wrapped === "none" ? [] :
        column.wrapped === "all" ? profile.wrappers : profile.namedWrappers)
        all.add(name);
    for (const name of spared)
        all.delete(name);
    return all;
}

/* The node whose name has a frame's own count: itself or the nearest caller that is no wrapper. */
function ownerOf(graph, wrapping, i) {
    const { name, parent } = graph;
    while (wrapping.has(name[i]) && parent[i] > 0)
        i = parent[i];
    return i;
}

/* One row a symbol: own counts summed, totals with each stack counted once. */
function topRows(graph, profile, wrapping) {
    const names = profile.names.length, rows = [];
    const own = new Float64Array(names), total = new Float64Array(names);
    const change = graph.change ? new Float64Array(names) : null;
    const covered = new Int32Array(names), seen = new Uint8Array(names);
    for (let i = 1; i < graph.n; i++) {
        const name = graph.name[i];
        seen[name] = 1;
        own[graph.name[wrapping.size ? ownerOf(graph, wrapping, i) : i]] += graph.own[i];
        if (i >= covered[name]) {
            total[name] += graph.total[i];
            if (change)
                change[name] += graph.change[i];
            covered[name] = graph.end[i];
        }
    }
    for (let name = 0; name < names; name++)
        if (seen[name] && (total[name] > 0 || (change && change[name] !== 0)))
            rows.push({ name, own: own[name], total: total[name],
                change: change ? change[name] : 0 });
    return rows;
}

class TopTable {
    /* listener: {pick(name), sandwich(name), sort(key), hover(name or -1)} */
    constructor(host, profile, listener) {
        this.profile = profile;
        this.listener = listener;
        this.byClass = classesByName(profile);
        this.classColumns = this.byClass ? CLASS_COLUMNS.filter(([, , , value]) =>
            [...this.byClass.values()].some((c) => value(c) >= 0)) : [];
        this.keys = ["name", "own", "total"].concat(profile.delta ? ["change"] : [],
            this.classColumns.map(([key]) => key));
        this.focus = 0;
        this.rows = this.all = [];
        this.build(host);
    }

    build(host) {
        const titles = { name: "Symbol", own: "Self", total: "Total", change: "Change" };
        for (const [key, title] of this.classColumns)
            titles[key] = title;
        const head = element("tr");
        this.heads = {};
        for (const key of this.keys) {
            const button = element("button", "sort", titles[key], element("span", "arrow"));
            const cell = element("th", "col-" + key, button);
            cell.scope = "col";
            for (const [, , title] of this.classColumns.filter(([k]) => k === key)) {
                cell.classList.add("col-class");
                cell.title = title;
            }
            button.addEventListener("click", () => this.listener.sort(key));
            this.heads[key] = cell;
            head.append(cell);
        }
        this.body = element("tbody");
        this.table = element("table", this.classColumns.length ? "top with-classes" : "top", element("thead", "", head), this.body);
        this.table.setAttribute("aria-label", "Symbols by what they took");
        this.empty = element("p", "empty");
        this.scroller = element("div", "table-scroll", this.table, this.empty);
        this.scroller.tabIndex = -1;
        host.append(this.scroller);
        this.scroller.addEventListener("scroll", () => this.fill(), { passive: true });
        this.body.addEventListener("click", (event) => {
            const name = this.nameOf(event);
            if (name < 0)
                return;
            if (event.target.closest(".row-action"))
                this.listener.sandwich(name);
            else
                this.listener.pick(name);
        });
        this.body.addEventListener("pointerover", (event) =>
            this.listener.hover(this.nameOf(event)));
        this.body.addEventListener("pointerleave", () => this.listener.hover(-1));
        this.body.addEventListener("keydown", (event) => this.key(event));
        this.body.addEventListener("focusin", (event) => {
            const row = event.target.closest("tr[data-at]");
            if (row)
                this.focus = Number(row.dataset.at);
        });
    }

    nameOf(event) {
        const row = event.target.closest("tr[data-at]");
        return row ? this.rows[row.dataset.at].name : -1;
    }

    /* {graph, search, query, sort, ascending, picks, color, wrappers, added, spared} */
    show(view) {
        const { wrappers, added, spared } = view;
        const wrapping = [wrappers, ...added, "but", ...spared].join();
        if (view.graph !== this.graph || wrapping !== this.wrapping) {
            this.graph = view.graph;
            this.wrapping = wrapping;
            this.all = topRows(view.graph, this.profile,
                wrappersOf(view.graph, this.profile, view));
            this.rows = null;
        }
        const key = [view.sort, view.ascending].join();
        if (!this.rows || key !== this.order || view.search !== this.view.search) {
            const { match } = view.search;
            this.order = key;
            this.sort(view);
            this.rows = view.query ?
                this.all.filter((r) => match[r.name]) : this.all;
            if (this.focus >= this.rows.length)
                this.focus = 0;
        }
        this.view = view;
        for (const k of this.keys)
            this.heads[k].setAttribute("aria-sort", k !== view.sort ? "none" :
                view.ascending ? "ascending" : "descending");
        this.empty.hidden = this.rows.length > 0;
        this.empty.textContent = this.all.length ? "No symbol matches." : "Nothing was counted.";
        this.table.setAttribute("aria-rowcount", this.rows.length + 1);
        this.drawn = "";
        this.fill();
    }

    sort({ sort: wanted, ascending }) {
        const sort = this.keys.includes(wanted) ? wanted : "own";
        const ranks = nameRanks(this.profile), sign = ascending ? 1 : -1;
        const classes = this.classColumns.find(([key]) => key === sort);
        const none = { size: null, lived: null, young: null };
        const of = (r) => classes[3](this.byClass.get(r.name) || none);
        this.all.sort((a, b) => (classes ? sign * (of(a) - of(b)) || b.total - a.total : sort === "name" ? sign * (ranks[a.name] - ranks[b.name]) :
            sort === "change" ? sign * (Math.abs(a.change) - Math.abs(b.change)) :
                sign * (a[sort] - b[sort])) || b.total - a.total || ranks[a.name] - ranks[b.name]);
    }

    /* Puts the rows in sight into the document, and empty space for the others. */
    fill() {
        if (!this.view)
            return;
        const { scrollTop, clientHeight } = this.scroller;
        const from = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - SPARE_ROWS);
        const to = Math.min(this.rows.length,
            Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + SPARE_ROWS);
        if (this.drawn === from + "-" + to)
            return;
        this.drawn = from + "-" + to;
        const focused = this.body.contains(document.activeElement) &&
            document.activeElement.matches("tr");
        const gap = (rows) => {
            const cell = element("td"), row = element("tr", "gap", cell);
            cell.colSpan = this.keys.length;
            row.style.height = rows * ROW_HEIGHT + "px";
            row.setAttribute("aria-hidden", "true");
            return row;
        };
        const rows = [];
        if (from > 0)
            rows.push(gap(from));
        for (let i = from; i < to; i++)
            rows.push(this.row(i));
        if (to < this.rows.length)
            rows.push(gap(this.rows.length - to));
        this.body.replaceChildren(...rows);
        if (focused)
            this.focusRow(false);
    }

    row(at) {
        const { name, own, total, change } = this.rows[at];
        const { graph, picks, unit } = { ...this.view, unit: this.view.graph.unit };
        const all = graph.total[0] || 1, text = this.profile.names[name];
        const row = element("tr", picks.has(name) ? "picked" : "");
        row.dataset.at = at;
        row.tabIndex = at === this.focus ? 0 : -1;
        row.setAttribute("aria-rowindex", at + 2);
        row.setAttribute("aria-selected", String(picks.has(name)));
        const chip = element("span", "chip");
        chip.style.background = this.view.color(name);
        const label = element("span", "symbol", text || "(no name)");
        label.title = text.slice(0, 600);
        const action = element("button", "row-action", "Sandwich");
        action.tabIndex = -1;
        action.title = "Callers and callees of this symbol";
        row.append(element("td", "col-name", element("div", "name-cell", chip, label, action)));
        const number = (className, value, share) => {
            const cell = element("td", className, element("span", "value", formatShort(value, unit)),
                element("span", "share", formatPercent(value, all)));
            cell.style.setProperty("--share", Math.min(1, share) * 100 + "%");
            cell.title = formatExact(value, unit);
            row.append(cell);
        };
        number("col-own", own, own / all);
        number("col-total", total, total / all);
        if (graph.change) {
            const cell = element("td", "col-change " + (change > 0 ? "more" : change < 0 ? "less" : ""),
                element("span", "value", (change > 0 ? "+" : "") + formatShort(change, unit)),
                element("span", "share", formatChange(change, all)));
            cell.title = formatExact(change, unit);
            row.append(cell);
        }
        for (const [key, , title, , format] of this.classColumns) {
            const cell = element("td", `col-${key} col-class`,
                this.byClass.has(name) ? format(this.byClass.get(name)) : "");
            cell.title = title;
            row.append(cell);
        }
        return row;
    }

    focusRow(scroll) {
        if (scroll) {
            const y = this.focus * ROW_HEIGHT, s = this.scroller;
            if (y < s.scrollTop)
                s.scrollTop = y;
            else if (y + 2 * ROW_HEIGHT > s.scrollTop + s.clientHeight)
                s.scrollTop = y + 2 * ROW_HEIGHT - s.clientHeight + 2;
            this.fill();
        }
        for (const row of this.body.querySelectorAll("tr[data-at]"))
            row.tabIndex = Number(row.dataset.at) === this.focus ? 0 : -1;
        const row = this.body.querySelector(`tr[data-at="${this.focus}"]`);
        if (row)
            row.focus({ preventScroll: true });
    }

    key(event) {
        const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT) - 2);
        const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
            Home: -Infinity, End: Infinity };
        if (event.ctrlKey || event.metaKey || event.altKey || !this.rows.length)
            return;
        if (moves[event.key] !== undefined) {
            this.focus = Math.min(this.rows.length - 1, Math.max(0, this.focus + moves[event.key]));
            this.focusRow(true);
        } else if (event.key === "Enter" || event.key === " ") {
            this.listener.pick(this.rows[this.focus].name);
        } else if (event.key === "s") {
            this.listener.sandwich(this.rows[this.focus].name);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}
