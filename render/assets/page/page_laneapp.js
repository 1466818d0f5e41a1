/*
 * ---- page_laneapp.js: lanes and the rest of the page ----
 *
 * The visible time, the counted time and the picked wait are part of the state, so that they are in
 * the address: laneView and laneRange are [from, to] in nanoseconds, lanePick {lane, wait};
 * laneFolded shows only their head, as a frame in another page may have little room.
 */

const laneDefaults = () => ({ laneView: null, laneRange: null, lanePick: null, laneNoPath: false,
    laneNoRegions: false, laneFolded: false });

function writeLaneState(state, data, p) {
    if (!data)
        return;
    for (const key of ["laneView", "laneRange"])
        if (state[key])
            p.set(key, state[key].map((t) => Math.round(t)).join("~"));
    if (state.laneFolded)
        p.set("lanes", "0");
    if (state.laneNoPath && data.path)
        p.set("path", "0");
    if (state.laneNoRegions && data.regions)
        p.set("regions", "0");
    if (state.lanePick) {
        const { lane, wait } = state.lanePick, l = data.lanes[lane];
        p.set("wait", `${data.threads[l.thread].tid}~${l.begin[wait]}`);
    }
}

function readLaneState(state, data, p) {
    if (!data)
        return;
    for (const key of ["laneView", "laneRange"]) {
        const m = /^(\d{1,16})~(\d{1,16})$/.exec(p.get(key) || "");
        if (m && Number(m[1]) < Number(m[2]) && Number(m[1]) < data.last && Number(m[2]) > data.first)
            state[key] = [Number(m[1]), Number(m[2])];
    }
    state.laneNoPath = p.get("path") === "0";
    state.laneFolded = p.get("lanes") === "0";
    state.laneNoRegions = p.get("regions") === "0";
    const m = /^(\d{1,10})~(\d{1,16})$/.exec(p.get("wait") || "");
    const lane = m ? data.lanes.findIndex((l) => data.threads[l.thread].tid === Number(m[1])) : -1;
    if (lane < 0)
        return;
    const { begin } = data.lanes[lane], wait = lowerBound(begin, Number(m[2]));
    if (wait < begin.length && begin[wait] === Number(m[2]))
        state.lanePick = { lane, wait };
}

/* Adds to the columns of waiting the rows of their nodes. */
function addLaneRows(columns, packed) {
    for (const c of columns) {
        const of = packed.find((k) => k.lanes !== undefined && k.name === c.name && k.time === undefined);
        if (of)
            c.laneRows = readLaneRows(of.lanes);
    }
}

const WAITING_VIEWS = ["off", "wakeup", "offwake", "chain", "io", "runq", "latency", "critical", "oncpu", "hotcold"];

/* Lanes have one time axis, so a comparison of two recordings has none: shows the reason. */
function tellWhyNoLanes(host, { delta, lanes, view }) {
    if (!delta || lanes || !WAITING_VIEWS.includes(view))
        return;
    host.classList.add("lanes-none");
    host.hidden = false;
    host.append(element("strong", "", "No lanes"), element("span", "", "Two recordings share no clock, so threads of one cannot " +
        "lie beside those of the other. Each one's own page has its lanes."));
}

const PARTS_SHOWN = 6;

class LaneControl {
    constructor(app) {
        this.app = app;
        this.data = app.profile.lanes;
        this.chart = new LaneChart(byId("lanes"), this.data, {
            path: (on) => this.change({ laneNoPath: !on }),
            fold: (laneFolded) => this.change({ laneFolded }),
            regions: (on) => this.change({ laneNoRegions: !on }),
            view: (view) => this.change({ laneView: view }),
            range: (range, more) => this.selectRange(range, more),
            pick: (pick) => this.change({ lanePick: pick }),
            open: (pick) => this.open(pick),
        });
        tellWhyNoLanes(byId("lanes"), app.profile);
    }

    /* Changes state that affects no count: only the lanes are redrawn. */
    change(changes) {
        const { app } = this;
        Object.assign(app.state, changes);
        this.show();
        app.saveAddress(true);
    }

    selectRange(range, more) {
        const { app } = this, { columns } = app.profile;
        if (range && !(range[1] > range[0]))
            return;
        const changes = { laneRange: range };
        if (!followsLanes(app.profile, app.column))
            Object.assign(changes, { column: columns.findIndex((c) => c.laneRows), range: null });
        app.change(changes, more);
    }

    show() {
        const { app, chart } = this, { state } = app;
        if (!this.data)
            return;
        chart.show({ view: state.laneView, range: state.laneRange, pick: state.lanePick, noPath: state.laneNoPath,
            noRegions: state.laneNoRegions, folded: state.laneFolded, embedded: app.profile.embedded,
            theme: app.theme, matches: matchingRows(app.profile, app.search) });
        const key = state.lanePick ? `${state.lanePick.lane}.${state.lanePick.wait}` : "";
        if (key !== this.described) {
            this.described = key;
            chart.describe(state.lanePick && this.lines(state.lanePick));
        }
    }

    /* Searches for a function, and goes to the longest wait with it. */
    longest(name) {
        if (!this.app.state.picks.has(name))
            this.app.togglePick(name);
        this.change({ laneFolded: false });
        this.chart.toMatch(1);
    }

    /* Names from the leaf of a row's stack in a column to its root; in the view chain, of a link's. */
    stack(view, row) {
        const { profile } = this.app, column = profile.columns.find((c) => c.name === view && c.laneRows);
        if (!column)
            return [];
        const { links, rows } = this.data;
        column.nodeOfRow = column.nodeOfRow || nodesOfRows(column.laneRows, rows + (links && view === "chain" ? links.n : 0));
        let node = column.nodeOfRow[row];
        if (node >= 0 && profile.lines)
            node = profile.lines.owner[node];
        const names = [];
        for (; node > 0; node = profile.shape.parent[node])
            names.push(profile.names[profile.shape.name[node]]);
        return names;
    }

    /* The links of a chain in words: "worker: write \u2190 run  \u21d0  ..."; of all but the last the threads alone,
     * unless `whole`. */
    chain(number, whole) {
        const names = this.stack("chain", number).reverse();
        const links = names.join("\n").split(/^--$/m).slice(1).map((s) => s.trim().split("\n").filter(Boolean));
        const told = (link) => link.length > 1 ? `${link[link.length - 1]}: ${link.slice(0, -1).join(" \u2190 ")}` : link[0];
        return links.map((link, i) => whole || i === links.length - 1 ? told(link) : link[link.length - 1]).join("  \u21d0  ");
    }

    /* A list of what the threads that ended a wait did meanwhile, the longest first. */
    meanwhile(parts) {
        const list = element("ul", "lanes-parts"), all = parts.reduce((a, [, ns]) => a + ns, 0);
        const shown = parts.filter(([, ns]) => ns >= all / 100).slice(0, PARTS_SHOWN);
        for (const [link, ns] of shown)
            list.append(element("li", "", `${laneSpan(ns)}  ${this.chain(link, false) || "no thread ended it"}`));
        const rest = shown.reduce((a, [, ns]) => a - ns, all);
        if (rest > all / 1000)
            list.append(element("li", "", `${laneSpan(rest)}  the rest`));
        return list;
    }

    lines(pick) {
        const { data, chart } = this, l = data.lanes[pick.lane], i = pick.wait, row = l.row[i];
        const lines = [], own = this.stack("off", row);
        const button = (text, act) => {
            const b = element("button", "button", text);
            b.addEventListener("click", act);
            return b;
        };
        const range = `${laneTime(data, l.begin[i], 1e3)} to ${laneTime(data, l.end[i], 1e3)}`;
        lines.push(["Wait", element("span", "", chart.sentence(pick) + " ",
            button("Show in graph", () => this.open(pick)), " ",
            button("Zoom to it", () => chart.goTo(pick)))]);
        if (own.length)
            lines.push(["On", own[0]]);
        const waker = data.waker[row];
        if (waker >= 0) {
            const at = chart.rowOfThread.get(waker);
            lines.push(["Ended by", at === undefined ? chart.label(waker) : button(chart.label(waker), () => {
                chart.cursor = chart.rows[at].lane;
                const wait = waitAt(data.lanes[chart.cursor], chart.woken(pick.lane, i), 1e12);
                if (wait >= 0) {
                    chart.choose({ lane: chart.cursor, wait });
                    chart.reveal({ lane: chart.cursor, wait });
                }
            })]);
        }
        const chains = chainsOf(this.app.profile), parts = chains && l.is[i] !== WAIT_SUM ? chains.wait(l.thread, i) : [];
        if (!chains)
            lines.push(...[this.chain(row, true)].filter(Boolean).map((text) => ["Chain", text]));
        else if (parts.length)
            lines.push(["Meanwhile", this.meanwhile(parts)]);
        if (l.is[i] === WAIT_SUM)
            lines.push(["Sum", `of ${l.times[i]} short waits of this stack between ${range}; the longest ` +
                `${laneSpan(l.longest[i])}`]);
        else
            lines.push(["When", range + (l.is[i] === WAIT_PART ? " (a part of a longer wait)" : "")]);
        if (own.length > 1)
            lines.push(["Stack", own.slice(1).join(" \u2190 ")]);
        return lines;
    }

    /* Zooms the flame graph to the stack of a wait. */
    open(pick) {
        const { app, data } = this, { profile } = app, row = data.lanes[pick.lane].row[pick.wait];
        const column = profile.columns.findIndex((c) => c.name === "off" && c.laneRows);
        if (column < 0)
            return;
        this.stack("off", row);
        let node = profile.columns[column].nodeOfRow[row];
        if (node < 0)
            return;
        if (profile.lines)
            node = profile.lines.owner[node];
        app.change({ column, layout: "forward", sandwich: -1, zoom: 0, range: null,
            view: app.state.view === "table" ? "both" : app.state.view }, true);
        const { owner } = app.mainGraph, at = owner ? owner[node] : node;
        if (at > 0)
            app.change({ zoom: at });
    }
}
