/*
 * ---- page_worker.js: long tasks, done beside the page ----
 *
 * Shapes of large profiles (callers, filters, orders) are made in a Worker, while the page still
 * shows its picture and a bar with a button to cancel. The Worker runs this same script, which
 * stops at the end of this file where there is no document: so all functions that page_merge.js
 * calls are defined. Each task has a Worker of its own, because ending the Worker is the only way
 * to stop a task, and frees its memory.
 *
 * If Workers are not available, or one fails, the page builds shapes itself, as it does for small
 * profiles. Rejected: a permanent Worker, because a page of a million stacks would hold the profile
 * twice; shared memory, which pages from disk may not use.
 */

const LARGE = 100000; /* frames, from which on a task may take longer than a blink */

/* The parts of a profile that page_merge.js reads, without those that cannot be sent. */
const profileToSend = ({ names, kinds, shape, stacks, ordered }) => ({ names, kinds, shape, stacks, ordered });

const sameShape = { same: true }; /* in an answer: the profile's own */

/* The arrays of shapes, to be handed over rather than copied. */
function buffersOf(shapes) {
    const found = new Set();
    for (const shape of shapes)
        for (const value of Object.values(shape))
            if (ArrayBuffer.isView(value))
                found.add(value.buffer);
    return [...found];
}

/* Computes filters, then the graph's shapes, then the table's. `tell(share)` reports progress
 * between them. */
function makeAllShapes(profile, view, tell) {
    const filtered = applyFilters(profile, view.filters);
    tell(0.25);
    const shapes = makeShapes(profile, { ...view, filtered });
    tell(0.75);
    const top = ["callers", "sandwich", "elided"].includes(view.layout) ?
        makeShapes(profile, { ...view, filtered, layout: "forward" })[0] : shapes[shapes.length - 1];
    return { shapes, top, filtered };
}

/* A view with the filters that shapes are built from; a Worker does not send them back, as they are
 * rarely needed. */
function withFilters(profile, view, known) {
    let filtered = known;
    return Object.defineProperty({ ...view }, "filtered", { get() {
        if (filtered === undefined)
            filtered = applyFilters(profile, view.filters);
        return filtered;
    } });
}

/* Whether the view is the profile as it is. */
const takesNoTime = (view) => (view.layout === "forward" || view.layout === "compare") &&
    view.order === "name" && !view.recursion && !view.chains && !view.filters.length &&
    !view.focus.size && !view.hide.size && !view.hideNames.size;

function serveShapes() {
    self.onmessage = ({ data: { profile, view } }) => {
        const { shapes, top } = makeAllShapes(profile, view, (share) => self.postMessage({ share }));
        const all = [...shapes, top].map((s) => s === profile.shape ? sameShape : s);
        self.postMessage({ shapes: all.slice(0, -1), top: all[all.length - 1], topIs: shapes.indexOf(top) },
            buffersOf(all.filter((s) => s !== sameShape)));
    };
}

class Background {
    /* listener: {done(), cancel()} */
    constructor(profile, script, listener) {
        this.profile = profile;
        this.script = script;
        this.listener = listener;
        this.key = null; /* key of the running task */
        this.result = null; /* {key, shapes, top} */
        this.begun = false;
        this.broken = profile.shape.n < LARGE || typeof Worker === "undefined";
        byId("working-cancel").addEventListener("click", () => this.giveUp());
    }

    /* The shapes of a view, or null: they are being built, and listener.done is called when they
     * are ready. */
    shapes(key, view) {
        if (this.result && this.result.key === key) {
            const { result } = this;
            this.result = null;
            return result;
        }
        if (this.key === key)
            return null;
        this.stop();
        /* The first shapes are built at once, as there is nothing to show before. */
        const here = this.broken || !this.begun || takesNoTime(view) || view.layout === "elided";
        this.begun = true;
        return !here && this.start(key, view) ? null : makeAllShapes(this.profile, view, () => {});
    }

    start(key, view) {
        try {
            const url = URL.createObjectURL(new Blob([this.script], { type: "text/javascript" }));
            this.worker = new Worker(url);
            URL.revokeObjectURL(url);
            const { columnOwn, ...rest } = view;
            this.worker.postMessage({ profile: profileToSend(this.profile),
                view: view.order === "size" ? { ...rest, columnOwn } : rest });
        } catch {
            this.stop();
            this.broken = true;
            return false;
        }
        this.key = key;
        this.worker.onmessage = ({ data }) => this.take(data);
        this.worker.onerror = (event) => {
            event.preventDefault();
            this.stop();
            this.broken = true;
            this.listener.done();
        };
        this.show(0);
        return true;
    }

    take(data) {
        if (data.share !== undefined) {
            this.show(data.share);
            return;
        }
        const own = (s) => s.same ? this.profile.shape : s, shapes = data.shapes.map(own);
        this.result = { key: this.key, shapes, top: data.topIs >= 0 ? shapes[data.topIs] : own(data.top) };
        this.stop();
        this.listener.done();
    }

    show(share) {
        document.documentElement.classList.add("working");
        byId("working").hidden = false;
        byId("working-share").value = share;
    }

    stop() {
        if (this.worker)
            this.worker.terminate();
        this.worker = this.key = null;
        document.documentElement.classList.remove("working");
        byId("working").hidden = true;
    }

    giveUp() {
        if (this.key === null)
            return;
        this.stop();
        this.listener.cancel();
    }
}

/* Delays a search over many frames until the reader stops typing. */
class Typed {
    constructor(wait, take) {
        this.wait = wait;
        this.take = take;
        this.timer = 0;
    }

    put(text) {
        this.text = text;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.flush(), this.wait);
        byId("search").classList.add("waiting");
        if (!this.wait)
            this.flush();
    }

    flush() {
        if (!this.timer)
            return;
        clearTimeout(this.timer);
        this.timer = 0;
        byId("search").classList.remove("waiting");
        this.take(this.text);
    }
}

if (typeof document === "undefined") {
    serveShapes();
    return;
}

/* currentScript is null once the script waits for anything, so it is read now. */
const ownScript = document.currentScript ? document.currentScript.textContent : "";
