/*
 * ---- page_table.js: the symbols, with their own counts and their totals ----
 *
 * A real <table>, so that screen readers can read the profile, too; only its visible rows are in
 * the document.
 */

const ROW_HEIGHT = 28, SPARE_ROWS = 8;

/*
 * The names whose own counts are attributed to their callers in a column: malloc's wrappers in
 * columns of memory, those of --wrapper in all, and those that the reader adds.
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

/*
 * A chain of wakers ends with a thread's name, which says nothing of what that thread did: its count
 * belongs to the call of the last waker, by the rules of linkcall.h.
 */
function linkCallOf({ name, parent }, { names, kinds }, i) {
    if (kinds[name[i]] !== "waker")
        return i;
    let first = i, second = i, frames = 1;
    for (let up = parent[i]; names[name[up]] !== "--"; up = parent[up], frames++) {
        if (up <= 0)
            return i;
        second = first;
        first = up;
    }
    const inBrackets = (node) => names[name[node]].startsWith("[");
    return inBrackets(first) && frames >= 4 && !inBrackets(second) ? second : first;
}

/* The node whose name has a frame's own count: itself, the call of a waker, or the nearest caller
 * that is no wrapper. */
function ownerOf(graph, profile, wrapping, start) {
    const { name, parent } = graph;
    let i = linkCallOf(graph, profile, start);
    while (wrapping.has(name[i]) && parent[i] > 0)
        i = parent[i];
    return i;
}

/* One row for each symbol: own counts are summed, and each stack counts once in totals. */
function topRows(graph, profile, wrapping) {
    const names = profile.names.length, rows = [], counts = graph.own;
    const own = new Float64Array(names), total = new Float64Array(names);
    const change = new Float64Array(names), ownChange = new Float64Array(names);
    const covered = new Int32Array(names), seen = new Uint8Array(names);
    for (let i = 1; i < graph.n; i++) {
        const name = graph.name[i];
        const owner = counts[i] || (graph.change && graph.ownChange[i]) ?
            graph.name[ownerOf(graph, profile, wrapping, i)] : name;
        seen[name] = 1;
        own[owner] += counts[i];
        if (graph.change)
            ownChange[owner] += graph.ownChange[i];
        if (i >= covered[name]) {
            total[name] += graph.total[i];
            if (graph.change)
                change[name] += graph.change[i];
            covered[name] = graph.end[i];
        }
    }
    for (let name = 0; name < names; name++)
        if (seen[name] && (total[name] > 0 || change[name] !== 0))
            rows.push({ name, own: own[name], total: total[name],
                ownChange: ownChange[name], change: change[name] });
    return rows;
}

class TopTable {
    /* listener: {pick(row), sandwich(name), sort(key), hover(name or -1), by(kind)} */
    constructor(host, profile, listener) {
        this.profile = profile;
        this.listener = listener;
        this.focus = 0;
        this.rows = this.all = [];
        this.build(host);
    }

    /* The kind of rows: a place of the profile (page_places.js), or null for functions. */
    placeOf({ by }) {
        return this.profile.places.get(by) || null;
    }

    build(host) {
        this.head = element("tr");
        this.body = element("tbody");
        this.table = element("table", "top", element("thead", "", this.head), this.body);
        this.empty = element("p", "empty");
        this.scroller = element("div", "table-scroll", this.table, this.empty);
        this.scroller.tabIndex = -1;
        this.by = element("select", "by");
        this.by.title = "What the rows are";
        this.by.setAttribute("aria-label", "Rows of the table");
        for (const kind of PLACE_KINDS)
            if (kind === "function" || this.profile.places.has(kind)) {
                const option = element("option");
                option.label = "by " + kind; /* no text, which would become the head's */
                option.value = kind;
                this.by.append(option);
            }
        this.by.addEventListener("change", () => this.listener.by(this.by.value));
        if (TABLE_COLUMNS.filter((c) => c.wanted(this.profile, "function")).length > 2)
            byId("main").style.setProperty("--table-width", "52%");
        host.append(this.scroller);
        this.scroller.addEventListener("scroll", () => this.fill(), { passive: true });
        this.body.addEventListener("click", (event) => {
            const row = this.rowOf(event);
            if (!row)
                return;
            if (event.target.closest(".row-action"))
                this.listener.sandwich(row.name);
            else
                this.listener.pick(row);
        });
        this.body.addEventListener("pointerover", (event) => {
            const row = this.rowOf(event);
            this.listener.hover(row && !row.place ? row.name : -1);
        });
        this.body.addEventListener("pointerleave", () => this.listener.hover(-1));
        this.body.addEventListener("keydown", (event) => this.key(event));
        this.body.addEventListener("focusin", (event) => {
            const row = event.target.closest("tr[data-at]");
            if (row)
                this.focus = Number(row.dataset.at);
        });
    }

    /* The title of the first column. */
    title() {
        return PLACE_TITLES[this.placeOf(this.view) ? this.view.by : "function"];
    }

    /* Builds the heads of the columns that fit. */
    buildHead(columns) {
        const { shown, level } = fitColumns(columns, this.scroller.clientWidth, this.view.sort);
        const key = [this.view.by, LEVELS[level], ...shown.map((c) => c.key)].join();
        this.shown = shown;
        if (key === this.headKey)
            return false;
        this.headKey = key;
        this.table.className = "top " + LEVELS[level];
        this.heads = {};
        const title = this.title();
        const focused = document.activeElement === this.by;
        this.head.replaceChildren(...[{ key: "name", title }, ...shown].map((column) => {
            const button = element("button", "sort", column.title, element("span", "arrow"));
            const cell = element("th", "col-" + column.key, button);
            cell.scope = "col";
            if (column.width)
                cell.style.width = column.width[level] + "px";
            if (column.hint)
                cell.title = column.hint;
            else if (shown.length < columns.length)
                cell.title = `Make the table wider for ${plural(columns.length - shown.length, "column", "columns")} more`;
            if (column.key === "name")
                cell.append(this.by);
            button.addEventListener("click", () => this.listener.sort(column.key));
            this.heads[column.key] = cell;
            return cell;
        }));
        if (focused)
            this.by.focus();
        return true;
    }

    rowOf(event) {
        const row = event.target.closest("tr[data-at]");
        return row ? this.rows[row.dataset.at] : null;
    }

    /* The name of a row. */
    textOf(row) {
        return row.place ? row.text : this.profile.names[row.name];
    }

    makeRows(view) {
        const place = this.placeOf(view), wrapping = wrappersOf(view.graph, this.profile, view);
        if (!place)
            return topRows(view.graph, this.profile, wrapping);
        return placeRows(this.profile, view.shapeView, view.graph.column, place, wrapping)
            .map((row) => ({ ...row, place, text: place.names[row.name],
                key: placeKey(place.kind, place.names[row.name]) }));
    }

    /* `look`: what `color` depends on. {graph, shapeView, search, query, by, sort, ascending, picks, marked, color, look, wrappers, added, spared} */
    show(view) {
        const { wrappers, added, spared } = view;
        const wrapping = [view.by, wrappers, ...added, "but", ...spared].join();
        if (view.graph !== this.graph || wrapping !== this.wrapping) {
            if (this.wrapping && view.by !== this.view.by)
                this.focus = this.scroller.scrollTop = 0;
            this.graph = view.graph;
            this.wrapping = wrapping;
            this.all = this.makeRows(view);
            this.rows = null;
        }
        /* Most actions of the reader do not affect the table. */
        const before = this.view, same = this.rows && before && view.search === before.search &&
            ["sort", "ascending", "look", "part", "partOfTime", "picks", "marked", "by"].every((k) => view[k] === before[k]);
        if (same)
            return;
        const key = [view.sort, view.ascending].join();
        if (!this.rows || key !== this.order || view.search !== this.view.search) {
            this.order = key;
            this.sort(view);
            this.rows = view.query ? this.matching(view) : this.all;
            if (this.focus >= this.rows.length)
                this.focus = 0;
        }
        this.view = view;
        this.by.value = this.placeOf(view) ? view.by : "function";
        this.table.setAttribute("aria-label", `${this.placeOf(view) ? PLACE_TITLES[view.by] + " rows" : "Symbols"} by what they took`);
        this.empty.hidden = this.rows.length > 0;
        this.empty.textContent = !this.all.length ? "Nothing was counted." :
            this.placeOf(view) ? `No ${view.by} matches.` : "No symbol matches.";
        this.table.setAttribute("aria-rowcount", this.rows.length + 1);
        this.drawn = "";
        this.fill();
    }

    columns(view) {
        const by = this.placeOf(view) ? view.by : "function";
        return TABLE_COLUMNS.filter((c) => !(c.all && (view.part || (view.partOfTime && !c.ofTime))) && c.wanted(this.profile, by, view.graph.column));
    }

    /* Places are found by their own text, and by the frames in them. */
    matching({ search, by, query, matchCase, regex }) {
        const { match } = search, place = this.profile.places.get(by), found = new Set();
        if (!place)
            return this.all.filter((r) => match[r.name]);
        place.of.forEach((p, i) => {
            if (p && match[this.profile.ids[i]])
                found.add(p - 1);
        });
        const texts = findNames(query, { matchCase, regex }, place.names.length, (i) => place.names[i]).match;
        return this.all.filter((r) => found.has(r.name) || texts[r.name]);
    }

    sort(view) {
        const columns = this.columns(view), sign = view.ascending ? 1 : -1;
        const column = columns.find((c) => c.key === view.sort) || columns[0];
        const ranks = nameRanks(this.profile), place = this.placeOf(view);
        const names = (a, b) => place ? (a.text < b.text ? -1 : a.text > b.text ? 1 : 0) : ranks[a.name] - ranks[b.name];
        const first = view.sort === "name" ? (a, b) => sign * names(a, b) :
            (a, b) => sign * (column.of(a, this.profile) - column.of(b, this.profile));
        this.all.sort((a, b) => first(a, b) || b.total - a.total || names(a, b));
    }

    /* Puts the rows in sight into the document, and empty space for the others. */
    fill() {
        if (!this.view)
            return;
        if (this.buildHead(this.columns(this.view)))
            this.drawn = "";
        for (const key in this.heads)
            this.heads[key].setAttribute("aria-sort", key !== this.view.sort ? "none" :
                this.view.ascending ? "ascending" : "descending");
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
            cell.colSpan = this.shown.length + 1;
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

    /* `columns`: other columns than those that fit. */
    row(at, columns = this.shown) {
        const data = this.rows[at], { picks, marked } = this.view, text = this.textOf(data);
        const picked = data.place ? marked.has(data.key) : picks.has(data.name);
        const row = element("tr", picked ? "picked" : "");
        row.dataset.at = at;
        row.tabIndex = at === this.focus ? 0 : -1;
        row.setAttribute("aria-rowindex", at + 2);
        row.setAttribute("aria-selected", String(picked));
        const chip = element("span", "chip");
        chip.style.background = this.view.color(data);
        const label = element("span", "symbol", text || "(no name)");
        label.title = text.slice(0, 600);
        const inner = element("div", "name-cell", chip, label);
        if (!data.place) {
            const action = element("button", "row-action", "Sandwich");
            action.tabIndex = -1;
            action.title = "Callers and callees of this symbol";
            inner.append(action);
        }
        row.append(element("td", "col-name", inner));
        for (const column of columns)
            row.append(column.cell(data, { graph: this.view.graph, profile: this.profile }));
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
            this.listener.pick(this.rows[this.focus]);
        } else if (event.key === "s" && !this.rows[this.focus].place) {
            this.listener.sandwich(this.rows[this.focus].name);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}
