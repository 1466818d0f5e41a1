/*
 * ---- page_export.js: the view as text for a file: SVG, CSV, folded stacks ----
 *
 * Every export is of the view on the screen, with filters, zoom, order, colours and search. Names
 * are hostile: in SVG they are escaped, in a cell of CSV they are quoted and never begin like a
 * formula, in a folded line they can end neither a frame nor the line.
 */

/* Characters that XML cannot hold become the replacement character. */
const xmlText = (s) => s.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/* ---- a sheet: heading, graphs one above the other, notes; as SVG or on a canvas ---- */

const SHEET_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const SHEET_EDGE = 10, SHOWN_CHARS = 2000;

const round2 = (v) => Number(v.toFixed(2));

/* Has the canvas methods that page_draw.js calls, and writes elements. */
class SvgSheet {
    constructor(pen) {
        this.pen = pen;
        this.out = [];
        this.globalAlpha = this.pale = 1;
        this.font = FONT;
    }

    line(s, x, y, size, fill, weight) {
        this.out.push(`<text x="${x}" y="${y}" font-size="${size}" fill="${fill}"` +
            `${weight ? ` font-weight="${weight}"` : ""}>${xmlText(s)}</text>\n`);
    }

    moveTo(x, y) {
        this.out.push(`<g transform="translate(${x} ${y})">\n`);
    }

    moveBack() {
        this.out.push("</g>\n");
    }

    begin(pale, title) {
        this.pale = pale;
        this.out.push(`<g><title>${xmlText(title.slice(0, SHOWN_CHARS))}</title>`);
    }

    end() {
        this.out.push("</g>\n");
    }

    rect(x, y, w, h, fill) {
        this.out.push(`<rect x="${round2(x)}" y="${round2(y)}" width="${round2(w)}" ` +
            `height="${round2(h)}" ${fill}${this.pale < 1 ? ` opacity="${this.pale}"` : ""}/>`);
    }

    fillRect(x, y, w, h) {
        this.rect(x, y, w, h, `fill="${this.fillStyle}"`);
    }

    strokeRect(x, y, w, h) {
        this.rect(x, y, w, h, `fill="none" stroke="${this.strokeStyle}"`);
    }

    fillText(s, x, y) {
        this.out.push(`<text x="${round2(x)}" y="${round2(y + 4)}" fill="${this.fillStyle}"` +
            `${this.font.startsWith("600") ? ' font-weight="600"' : ""}` +
            `${this.globalAlpha < 1 ? ` opacity="${round2(this.globalAlpha)}"` : ""}>` +
            `${xmlText(s.slice(0, SHOWN_CHARS))}</text>`);
    }

    measureText(s) {
        return { width: 1.08 * this.pen.text(s) }; /* of bold letters: nothing else is measured */
    }
}

/* A sheet on a canvas, with `scale` dots in a pixel; it has the methods of SvgSheet. */
class CanvasSheet {
    constructor(ctx, scale) {
        ctx.scale(scale, scale);
        ctx.line = (s, x, y, size, fill, weight) => {
            ctx.font = `${weight || 400} ${size}px ${SHEET_FONT}`;
            ctx.textBaseline = "alphabetic";
            ctx.fillStyle = fill;
            ctx.fillText(s, x, y);
        };
        ctx.moveTo = (x, y) => {
            ctx.save();
            ctx.translate(x, y);
            ctx.font = FONT;
            ctx.textBaseline = "middle";
        };
        ctx.moveBack = () => ctx.restore();
        ctx.begin = (pale) => {
            ctx.globalAlpha = pale;
        };
        ctx.end = () => {
            ctx.globalAlpha = 1;
        };
        return ctx;
    }
}

/* Exported pictures are light, in any theme. */
function inLight(app, make) {
    const before = app.printing;
    app.printing = true;
    app.applyTheme();
    try {
        return make();
    } finally {
        app.printing = before;
        app.applyTheme();
    }
}

/* Draws one flame graph with all its rows; returns the height. */
function layChart(app, chart, sheet, width, top) {
    const { graph } = chart, colors = app.colorsOf(chart, graph), boxes = new Boxes();
    const [x0, x1] = chart.target(), { flame } = chart.view;
    layoutBoxes(boxes, graph, x0, x1, width);
    const space = boxes.height * ROW, zoomDepth = graph.depth[chart.anchor()];
    const view = { ...chart.view, graph, boxes, profile: app.profile, pen: app.pen,
        theme: app.theme, color: colors.of, share: colors.share, mode: colors.mode,
        per: colors.per, width, zoomDepth, search: app.search,
        matchesBefore: matchesOf(graph, app.search) };
    sheet.moveTo(SHEET_EDGE, top);
    for (let d = 0; d < boxes.height; d++)
        for (const i of boxes.rows[d] || []) {
            const y = flame ? space - (d + 1) * ROW : d * ROW, node = boxes.node[i];
            sheet.begin(d < zoomDepth ? 0.6 : 1, boxes.run[i] ?
                plural(boxes.last[i] - node, "frame", "frames") + " too thin to draw" :
                app.sentence(chart, node));
            paintBox(sheet, view, i, y);
            if (boxes.w[i] > 2 * PAD + 12)
                paintLabel(sheet, view, i, y);
            paintNote(sheet, app, chart, view, i, y);
            sheet.end();
        }
    sheet.moveBack();
    return space;
}

/* A description of the view: filters, zoom, search and colours, one a line. */
function viewInWords(app) {
    const { state, profile } = app, lines = [];
    const chips = [...byId("filters").children].map((e) => e.textContent.replace(/ \u2715$/, ""));
    const chart = app.mainChart(), node = chart.anchor();
    const layouts = { callers: "From each function to who calls it",
        compare: "Before, after and the change", elided: "What is gone is at the right" };
    if (layouts[app.built])
        lines.push(layouts[app.built]);
    if (chips.length)
        lines.push(chips.join(" \u00b7 "));
    if (node > 0)
        lines.push("Zoom: " + pathOf(chart.graph, node).slice(1)
            .map((i) => profile.names[chart.graph.name[i]]).join(" \u203a "));
    if (state.places.size)
        lines.push("Search: " + [...state.places].join(", "));
    if (state.range)
        lines.push(formatPercent(state.range[1] - state.range[0], chart.graph.total[0]) + " in sight");
    if (state.query || state.picks.size)
        lines.push("Search: " + [state.query, ...[...state.picks].map((n) => profile.names[n])]
            .filter(Boolean).join(", ") + ` (${byId("matched").textContent})`);
    lines.push("Colour " + byId("color").selectedOptions[0].textContent);
    return lines.map((s) => shorten(s, 300));
}

/* Draws all shown parts; returns the height. */
function layView(app, sheet, width) {
    const { theme } = app, room = width - 2 * SHEET_EDGE;
    let y = 30;
    const line = (text, size, fill, weight) => {
        const wide = size / 12 * (weight ? 1.08 : 1);
        const fits = app.pen.text(text) * wide <= room;
        sheet.line(fits ? text : app.pen.cut(text, room / wide, false), SHEET_EDGE, y, size, fill, weight);
        y += Math.round(size * 1.5);
    };
    line(byId("title").textContent, 17, theme.text, 600);
    line(byId("subtitle").textContent, 12, theme.muted);
    for (const text of viewInWords(app))
        line(text, 12, theme.muted);
    for (const chart of app.charts) {
        if (chart.title)
            line(chart.title, 13, theme.text, 600);
        y += layChart(app, chart, sheet, room, y) + 22;
    }
    for (const text of noteLines(app))
        line(text, 12, theme.text);
    return y;
}

/* The file's text. */
function viewSvg(app, width) {
    return inLight(app, () => {
        const sheet = new SvgSheet(app.pen), height = layView(app, sheet, width);
        return `<svg xmlns="${document.querySelector(".logo").namespaceURI}" viewBox="0 0 ${width} ${height}" ` +
            `width="${width}" height="${height}" font-family="${xmlText(SHEET_FONT)}" font-size="12">\n` +
            `<title>${xmlText(byId("title").textContent)}</title>\n` +
            `<rect width="100%" height="100%" fill="#ffffff"/>\n${sheet.out.join("")}</svg>\n`;
    });
}

const CANVAS_MOST = 16384; /* dots on a side, in today's browsers */

/* A canvas with two dots a pixel, or as many as browsers take. */
function viewCanvas(app, width) {
    return inLight(app, () => {
        const height = layView(app, new SvgSheet(app.pen), width);
        const scale = Math.min(2, CANVAS_MOST / width, CANVAS_MOST / height);
        const canvas = element("canvas");
        canvas.width = Math.floor(width * scale);
        canvas.height = Math.floor(height * scale);
        const ctx = canvas.getContext("2d", { alpha: false });
        ctx.fillStyle = "#ffffff";
        ctx.fillRect(0, 0, canvas.width, canvas.height);
        layView(app, new CanvasSheet(ctx, scale), width);
        return canvas;
    });
}

/* ---- the table as comma-separated values (RFC 4180) ---- */

/* Spreadsheets treat a cell that begins so as a formula, and would run it. */
function csvCell(s) {
    const text = /^[=+\-@\t\r]/.test(s) ? "'" + s : s;
    return `"${text.replace(/[\u0000-\u001f\u007f]/g, " ").replaceAll('"', '""')}"`;
}

/* Counts are exact, in the column's unit; other cells have the table's text. */
function tableCsv(app) {
    const { table } = app, { unit } = app.topGraph, all = app.topGraph.total[0] || 1;
    const counts = ["own", "total", "ownChange", "change"];
    app.showTable();
    const columns = [{ key: "name", title: table.title() }, ...table.columns(table.view)];
    const cell = (row, column) => column.key === "name" ? [csvCell(table.textOf(row))] :
        counts.includes(column.key) ? [plainNumber(row[column.key]), (100 * row[column.key] / all).toFixed(4)] :
            [csvCell(column.cell(row, { graph: app.topGraph, profile: app.profile }).textContent)];
    const lines = [columns.flatMap(({ key, title }) => counts.includes(key) ?
        [csvCell(`${title} (${unit})`), csvCell(title + " (%)")] : [csvCell(title)]).join()];
    for (const row of table.rows)
        lines.push(columns.flatMap((column) => cell(row, column)).join());
    return lines.join("\r\n") + "\r\n";
}

/* All digits, without an exponent: "0.5", "12", "1e21" as its digits. */
function plainNumber(v) {
    return Number.isInteger(v) ? BigInt(v).toString() : v.toFixed(6).replace(/\.?0+$/, "");
}

/* ---- folded stacks ---- */

const KIND_MARKS = Object.fromEntries(Object.entries(MARKS).map(([mark, kind]) => [kind, mark]));

/* A frame may hold neither a separator of frames nor the end of a line. */
const foldedName = (profile, n) => profile.names[n].replace(/;/g, ":").replace(/[\u0000-\u001f\u007f]/g, " ") +
    (KIND_MARKS[profile.kinds[n]] || "");

/* A last frame that ends like a line, such as "f 3", would be read as a count. */
const foldedLast = (s) => s.replace(/[ \t]+(?=[-+]?[\d.]+[ \t]*$)/, "_");

/*
 * Visible stacks of the main graph, always outermost frame first, so that they can be read like the
 * recording: returns the lines and their sum.
 */
function foldedLines(app) {
    const { profile } = app, chart = app.mainChart(), { graph } = chart, lines = [];
    const anchor = chart.anchor(), [x0, x1] = chart.target(), narrow = app.state.range !== null;
    const edges = [0]; /* by depth: left edge of the next frame there */
    const path = [], sides = profile.delta && graph.was ? [ownOf(graph, 1), ownOf(graph, 0)] : null;
    let sum = 0;
    for (let i = 0; i < graph.n; i++) {
        path.length = graph.depth[i];
        path.push(i);
        const inside = i >= anchor && i < graph.end[anchor];
        const depth = graph.depth[i], start = edges[depth];
        edges[depth] = start + graph.total[i];
        edges[depth + 1] = start;
        const right = edges[depth], left = right - graph.own[i];
        const counts = sides ? sides.map((own) => own[i]) : [graph.own[i]];
        if (!inside || !counts.some((v) => v > 0) || (narrow && !(left < x1 && right > x0)))
            continue;
        const names = path.filter((k) => k > 0 || graph.name[0] !== 0)
            .flatMap((k) => graph.chain ? graph.chain[k] : [graph.name[k]])
            .map((n) => foldedName(profile, n));
        if (chart.reversed)
            names.reverse();
        if (names.length)
            names.push(foldedLast(names.pop()));
        lines.push(`${names.join(";") || ";"} ${counts.map(plainNumber).join(" ")}`);
        sum += counts[counts.length - 1];
    }
    return { lines, sum };
}

/* Own counts of a graph of a comparison, after (0) or before (1). */
function ownOf(graph, side) {
    const total = side ? graph.was : graph.now, own = total.slice(), parent = parentsOf(graph);
    for (let i = 1; i < graph.n; i++)
        own[parent[i]] -= total[i];
    return own;
}

/* The moment of the counts, or their range, as in flame fold --at and --from (flame-folded(5));
 * empty for the whole run. */
function momentWords(app) {
    const { profile, state, column } = app, { timeline } = profile;
    let range = null;
    if (column.history && state.span)
        range = momentsOf(timeline, state.span).map((i) => timeline.times[i]);
    else if (column.moments && state.moments)
        range = column.shown.map((i) => column.moments[i].time);
    if (!range)
        return "";
    const [first, last] = range.map((t) => String(Number(t.toFixed(9))));
    return first === last ? ` time=${last}` : ` from=${first} to=${last}`;
}

function foldedText(app) {
    const { column } = app, word = (s) => s.replace(/[^!-~]/g, "_");
    const heading = "# flame:" + (column.name && !app.profile.delta ? " view=" + word(column.name) : "") +
        " unit=" + word(column.unit || "samples") + momentWords(app);
    return [heading, ...foldedLines(app).lines].join("\n") + "\n";
}
