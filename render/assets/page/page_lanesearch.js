/*
 * ---- page_lanesearch.js: waits that a search finds, in the lanes ----
 *
 * A wait matches if a frame of its stack does, the call and its object included. A band above a
 * lane's bar shows the matching waits; a button goes from one to the next, the longest first.
 */

const MATCH_BAND = 2;

class LaneSearch {
    /* act(by): the reader goes to the next match (1) or the one before (-1) */
    constructor(data, act) {
        this.data = data;
        this.of = [];
        this.n = 0;
        this.at = -1;
        this.buttons = [["\u2039", "The match before, a longer one (Shift-N)", -1],
            ["\u203a", "The next match, the longest first (N)", 1]].map(([text, title, by]) => {
            const button = element("button", "icon", text);
            button.title = title;
            button.setAttribute("aria-label", title);
            button.addEventListener("click", () => act(by));
            button.hidden = true;
            return button;
        });
    }

    /* rows: by row, whether it matches; null: there is no search. */
    show(rows) {
        if (rows === this.rows)
            return;
        this.rows = rows;
        this.ranked = null;
        this.at = -1;
        this.n = 0;
        this.of = this.data.lanes.map((lane) => {
            const wait = [];
            for (let i = 0; rows && i < lane.n; i++)
                if (rows[lane.row[i]])
                    wait.push(i);
            this.n += wait.length;
            return { wait, begin: Float64Array.from(wait, (i) => lane.begin[i]), end: Float64Array.from(wait, (i) => lane.end[i]) };
        });
        for (const button of this.buttons)
            button.hidden = !this.n;
    }

    /* The next match, {lane, wait}; null: there is none. */
    step(by) {
        if (!this.n)
            return null;
        const { lanes } = this.data;
        this.ranked = this.ranked || this.of.flatMap(({ wait }, lane) => wait.map((i) => ({ lane, wait: i })))
            .sort((a, b) => lanes[b.lane].longest[b.wait] - lanes[a.lane].longest[a.wait]);
        this.at = Math.min(this.n - 1, Math.max(0, this.at + by));
        return this.ranked[this.at];
    }

    text() {
        if (!this.rows)
            return "";
        return this.at < 0 ? `${plural(this.n, "wait matches", "waits match")}` :
            `match ${(this.at + 1).toLocaleString("en-US")} of ${this.n.toLocaleString("en-US")}, the longest first`;
    }

    /* Matches within a pixel of each other are drawn as one. */
    draw(chart, lane, top) {
        const found = this.rows && this.of[lane];
        if (!found || !found.wait.length)
            return;
        const [from, to] = chart.window, { begin, end } = found, { ctx } = chart, right = chart.x(to);
        ctx.fillStyle = chart.shown.theme.accent;
        for (let i = lowerBound(end, from); i < begin.length && begin[i] <= to;) {
            const x0 = Math.max(LANE_EDGE.left, chart.x(begin[i]));
            let x1 = chart.x(Math.min(to, end[i]));
            for (i++; i < begin.length && chart.x(begin[i]) <= x1 + 1;) {
                x1 = Math.max(x1, chart.x(Math.min(to, end[i])));
                i = Math.max(i + 1, lowerBound(end, chart.timeAt(x1)));
            }
            ctx.fillRect(x0, top, Math.min(right, Math.max(x0 + 1, x1)) - x0, MATCH_BAND);
        }
    }
}

/* By row, whether a frame of its stack matches; null: there is no search, or no column to ask. */
function matchingRows(profile, search) {
    const { lanes: data, columns, shape, lines } = profile, column = columns.find((c) => c.name === "off" && c.laneRows);
    if (!search || !search.active || !column)
        return null;
    if (search.laneRows)
        return search.laneRows;
    const { name, parent } = shape, found = new Uint8Array(shape.n), rows = new Uint8Array(data.rows);
    for (let i = 1; i < shape.n; i++)
        found[i] = search.match[name[i]] || found[parent[i]] ? 1 : 0;
    nodesOfRows(column.laneRows, data.rows).forEach((node, row) => {
        rows[row] = node > 0 && found[lines ? lines.owner[node] : node];
    });
    search.laneRows = rows;
    return rows;
}
