/*
 * ---- page_notes.js: the reader's notes on frames ----
 *
 * A note belongs to a frame of the profile, by its path, and is part of the link. It is shown as a
 * mark on the frame, in its tooltip, and below the graph on paper and in pictures. Notes come with
 * links from others: they are only text, and their number and length are bounded.
 */

const NOTES_MOST = 50, NOTE_CHARS = 400, NOTES_CHARS = 6000;

/* As the address has it: '["0;main;parse","why so much?"]'. */
const noteText = (profile, node, text) =>
    JSON.stringify([nodeText(profile.shape, profile.names, node), text]);

const cleanNote = (s) => s.replace(/[\u0000-\u001f\u007f]+/g, " ").trim().slice(0, NOTE_CHARS);

/* Text by node of the profile. Invalid notes, and notes on frames that do not exist, are
 * skipped. */
function readNotes(texts, profile) {
    const notes = new Map();
    let chars = 0;
    for (const s of texts.slice(0, NOTES_MOST)) {
        let parts = null;
        try {
            parts = JSON.parse(s);
        } catch {
            continue;
        }
        if (!Array.isArray(parts) || parts.length !== 2 || !parts.every((p) => typeof p === "string"))
            continue;
        const text = cleanNote(parts[1]);
        const node = findNode(profile.shape, profile.names, parts[0], false);
        chars += text.length;
        if (text && node > 0 && chars <= NOTES_CHARS)
            notes.set(node, text);
    }
    return notes;
}

/* Notes by node of a graph whose frames are subtrees of the profile. */
function notesOn(app, chart) {
    const { graph } = chart, { notes } = app.state;
    if (!notes.size || !app.hasNodes())
        return new Map();
    if (graph.notesOf !== notes) {
        graph.notesOf = notes;
        graph.notes = new Map();
        for (const [node, text] of notes) {
            const at = graph.owner ? graph.owner[node] : node;
            if (at > 0)
                graph.notes.set(at, graph.notes.has(at) ? graph.notes.get(at) + " / " + text : text);
        }
    }
    return graph.notes;
}

/* A corner of the frame, black on white, as colours have another meaning. */
function paintNote(ctx, app, chart, view, i, y) {
    const { boxes } = view, node = boxes.node[i];
    if (boxes.run[i] || boxes.w[i] < 4 || !notesOn(app, chart).has(node))
        return;
    const [x, w] = clip(boxes.x[i], boxes.w[i], view.width), size = Math.min(9, w - 2);
    ctx.fillStyle = "#ffffff";
    ctx.fillRect(x + w - 2 - size, y + 1, size, size);
    ctx.fillStyle = "#14181d";
    ctx.fillRect(x + w - 1 - size, y + 2, size - 2, size - 2);
}

/* Paints the marks of all visible frames. */
function paintNotes(app, chart) {
    const { boxes, graph, view, ctx } = chart;
    for (const node of notesOn(app, chart).keys()) {
        const i = boxes.ofNode(node, graph.depth[node]);
        if (i >= 0)
            paintNote(ctx, app, chart, { ...view, boxes, width: chart.width }, i,
                chart.boxTop(boxes.depth[i]) - chart.scroller.scrollTop);
    }
}

/* Lines below the graph: "Note on main › parse: why so much?" */
const noteLines = (app) => [...app.state.notes].map(([node, text]) =>
    `Note on ${shorten(pathOf(app.profile.shape, node).slice(1)
        .map((i) => app.profile.names[app.profile.shape.name[i]]).join(" \u203a "), 120)}: ${text}`);

/* Opens a dialog to edit the note on a frame; an empty text removes it. */
function editNote(app, chart, node) {
    const [first] = app.hasNodes() ? app.nodesOf(chart.graph, node) : [];
    if (!(first > 0))
        return;
    const dialog = byId("note-dialog"), area = byId("note-text");
    byId("note-frame").textContent = shorten(app.profile.names[chart.graph.name[node]], 80);
    area.value = notesOn(app, chart).get(node) || "";
    dialog.onclose = () => {
        if (dialog.returnValue !== "save")
            return;
        const notes = new Map(app.state.notes), text = cleanNote(area.value);
        for (const one of app.nodesOf(chart.graph, node))
            notes.delete(one);
        if (text)
            notes.set(first, text);
        if (notes.size > NOTES_MOST || [...notes.values()].join("").length > NOTES_CHARS)
            note("There is no room for more notes in a link");
        else
            app.change({ notes });
        app.tooltip.renew(); /* the pointer may be on the frame before the dialog says that it is closed */
    };
    dialog.returnValue = "";
    dialog.showModal();
    area.focus();
}

function connectNotes() {
    byId("note-text").maxLength = NOTE_CHARS;
    byId("note-text").addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
            byId("note-dialog").close("save");
    });
}
