/*
 * ---- page_findings.js: the findings, in sentences ----
 *
 * The sentences and their stacks come with the page (render/findings). Each is a link to the state
 * that shows its stack, in the form of all addresses, so that it can be opened in a tab of its own,
 * saved and sent. Texts contain names from outside and are only ever text.
 */

const FINDINGS_FIRST = 6, FINDINGS_ROOM = 520; /* pixels: in a window that is less high the list is
                                                * folded */

class FindingsPanel {
    constructor(app, findings) {
        const { profile } = app;
        this.app = app;
        this.more = false;
        this.findings = findings.map((f) => ({ ...f, at: this.place(profile, f) }));
        if (!findings.length)
            return;
        this.list = element("ol", "");
        this.list.id = "findings-list";
        this.fold = element("button", "fold", "Findings");
        this.fold.title = "Show or fold what there is to see (W)";
        this.fold.setAttribute("aria-controls", "findings-list");
        this.fold.addEventListener("click", () => this.toggle());
        this.panel = element("section", "findings", this.fold, this.list);
        this.panel.id = "findings";
        this.panel.setAttribute("aria-label", "Findings");
        byId("main").before(this.panel);
        window.addEventListener("resize", () => this.show());
        this.fill();
    }

    /* The changes of state that show a finding: a node of the file may be one of a function's
     * several lines. */
    place(profile, f) {
        const usual = defaultState(profile), node = (i) =>
            profile.lines ? profile.lines.owner[i] : i;
        const named = profile.columns.findIndex((c) => c.name === f.column);
        const column = profile.delta || named < 0 ? usual.column : named;
        const times = f.time && profile.timeline && profile.columns[column].history;
        return {
            column, layout: "forward", sandwich: -1, range: null, moments: null,
            focus: new Set(), hide: new Set(), hideNames: new Set(), filters: [],
            recursion: false, chains: false, query: "", places: new Set(), laneRange: null,
            picks: new Set((f.names || []).map(profile.nameId)),
            span: times ? f.time.map((us) => us / 1e6) : null,
            zoom: node(f.node),
        };
    }

    /* The address of a finding; the reader's choices of appearance remain. */
    address(f) {
        const { app } = this;
        return "#" + writeState({ ...app.state, ...f.at }, app.profile, app.profile.shape);
    }

    fill() {
        const shown = this.more ? this.findings : this.findings.slice(0, FINDINGS_FIRST);
        this.links = shown.map((f) => {
            const link = element("a", f.structural ? "structural" : "", f.text);
            link.addEventListener("click", (event) => this.go(event, f));
            return link;
        });
        this.list.replaceChildren(...this.links.map((link) => element("li", "", link)));
        if (shown.length < this.findings.length) {
            const rest = element("button", "tag", `${this.findings.length - shown.length} more`);
            rest.addEventListener("click", () => {
                this.more = true;
                this.fill();
                this.show();
                this.links[shown.length].focus();
            });
            this.list.append(element("li", "rest", rest));
        }
    }

    /* A click without a modifier opens the finding in this page; the browser handles all others. */
    go(event, f) {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button)
            return;
        event.preventDefault();
        const { app } = this;
        byId("query").value = "";
        app.change({ ...f.at, zoom: 0, goal: f.at.zoom ? nodeText(app.profile.shape,
            app.profile.names, f.at.zoom) : null,
        view: app.state.view === "table" ? "both" : app.state.view });
        if (f.at.zoom && app.mainChart().graph)
            app.mainChart().select(app.state.zoom);
    }

    get open() {
        const { findings } = this.app.state;
        return findings === "auto" ? window.innerHeight >= FINDINGS_ROOM : findings === "shown";
    }

    toggle() {
        if (this.panel)
            this.app.change({ findings: this.open ? "folded" : "shown" }, true);
    }

    /* Updates after a change of state; addresses are computed only while visible. */
    show() {
        if (!this.panel)
            return;
        this.list.hidden = !this.open;
        this.fold.setAttribute("aria-expanded", String(this.open));
        if (this.open)
            this.links.forEach((link, i) => link.setAttribute("href",
                this.address(this.findings[i])));
    }
}
