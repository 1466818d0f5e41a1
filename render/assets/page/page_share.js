/* ---- page_share.js: files, paper, a frame in another page ---- */

const EXPORT_WIDTH = 1200, PRINT_WIDTH = 1000, PRINT_ROWS = 40;

/* ---- files ---- */

/* "flame-live-app.svg": the view and the subtitle's first word, in letters that any file system
 * allows. */
function exportName(app, ending) {
    const word = (s) => s.split(" ")[0].replace(/[^\w.+-]+/g, "_").replace(/^[._-]+/, "").slice(0, 60);
    return ["flame", word(app.column.name || ""), word(app.profile.subtitle || "")].filter(Boolean)
        .join("-") + "." + ending;
}

/* Browsers take a moment to begin the download: the address remains valid for a minute. */
function saveBlob(blob, name) {
    const link = element("a"), url = URL.createObjectURL(blob);
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
    note("Saved as " + name);
}

const saveText = (text, type, name) => saveBlob(new Blob([text], { type: type + ";charset=utf-8" }), name);

const EXPORTS = [
    ["SVG: this picture, to scale", (app) => saveText(viewSvg(app, EXPORT_WIDTH), "image/svg+xml",
        exportName(app, "svg"))],
    ["PNG: this picture, in dots", (app) => viewCanvas(app, EXPORT_WIDTH).toBlob((blob) => blob ?
        saveBlob(blob, exportName(app, "png")) : note("The browser has no room for this picture"))],
    ["CSV: the table", (app) => saveText(tableCsv(app), "text/csv", exportName(app, "csv"))],
    ["Folded: the stacks in sight", (app) => saveText(foldedText(app), "text/plain",
        exportName(app, "folded"))],
];

/* ---- paper ---- */

/* The first rows of the table as a table of its own: the one on the screen has only the visible
 * rows. */
function printedTable(app) {
    const { table } = app, head = element("tr"), body = element("tbody");
    app.showTable();
    const { shown } = fitColumns(table.columns(table.view), PRINT_WIDTH, table.view.sort);
    for (const title of [table.title(), ...shown.map((c) => c.title)])
        head.append(element("th", "", title));
    for (let at = 0; at < Math.min(PRINT_ROWS, table.rows.length); at++) {
        const row = table.row(at, shown);
        for (const e of row.querySelectorAll(".row-action"))
            e.remove();
        row.removeAttribute("data-at");
        row.removeAttribute("tabindex");
        body.append(row);
    }
    const rest = table.rows.length - PRINT_ROWS;
    return [element("table", "", element("thead", "", head), body),
        element("p", "", rest > 0 ? plural(rest, "more symbol", "more symbols") : "")];
}

/* Puts the graph first, as lines and text, as wide as the paper. */
function fillPrint(app) {
    const svg = new DOMParser().parseFromString(viewSvg(app, PRINT_WIDTH), "image/svg+xml").documentElement;
    svg.removeAttribute("height");
    svg.setAttribute("width", "100%");
    inLight(app, () => byId("print").replaceChildren(document.adoptNode(svg), byId("growth"),
        ...printedTable(app)));
}

/* Returns the chart of time from the paper to the screen. */
function clearPrint() {
    byId("graph").prepend(byId("growth"));
    byId("print").replaceChildren();
}

/* ---- a frame in another page ---- */

const EMBED_KEY = "embed";

/* Requested by "?embed", or by "#embed" where an address cannot have a "?". */
const isEmbedded = () => new URLSearchParams(location.search).has(EMBED_KEY) ||
    new URLSearchParams(location.hash.slice(1)).has(EMBED_KEY);

/* The page's address with the view, with or without "embed". */
function addressOf(app, embedded) {
    const url = location.href.split(/[?#]/)[0], { profile, state } = app, before = profile.embedded;
    const usual = defaultState(profile).view;
    profile.embedded = embedded;
    const view = state.view === usual ? defaultState(profile).view : state.view;
    const hash = writeState({ ...state, view }, profile, app.mainGraph);
    profile.embedded = before;
    return url + (hash ? "#" + hash : "");
}

/* The framed page can be used and opened in full, and has no other rights. */
function embedCode(app) {
    const frame = element("iframe");
    for (const [key, value] of [["width", "100%"], ["height", "480"], ["loading", "lazy"], ["title", "Flame graph"],
        ["sandbox", "allow-scripts allow-popups allow-popups-to-escape-sandbox"]])
        frame.setAttribute(key, value);
    frame.setAttribute("src", addressOf(app, true));
    return frame.outerHTML;
}

function connectEmbed(app) {
    const link = byId("open-full");
    if (!app.profile.embedded)
        return;
    document.documentElement.classList.add("embed");
    link.hidden = location.protocol === "about:" || location.protocol === "data:";
    for (const type of ["pointerenter", "focus", "click"])
        link.addEventListener(type, () => {
            link.href = addressOf(app, false);
        });
    link.href = addressOf(app, false);
}

/* ---- the menu ---- */

function connectShare(app) {
    byId("share").addEventListener("click", () => openShare(app));
    window.addEventListener("beforeprint", () => fillPrint(app));
    window.addEventListener("afterprint", clearPrint);
    connectNotes();
}

function openShare(app) {
    const { left, bottom } = byId("share").getBoundingClientRect();
    app.menu.show("Save what is shown", [
        ...EXPORTS.map(([title, save]) => [title, () => save(app)]),
        null,
        ["Print", () => window.print()],
        ["Copy link to this view", () => copyText(addressOf(app, false), "Link")],
        ["Copy code to embed it", () => copyText(embedCode(app), "Code")],
        app.state.notes.size > 0 && [`Take away ${plural(app.state.notes.size, "note", "notes")}`,
            () => app.change({ notes: new Map() })],
    ].filter((item) => item === null || item), left, bottom);
}
