/*
 * The picture's script: hover, zoom, search, and the page's address.
 *
 * Frames are in the document in pre-order, so the subtree of frame i is the range i..end[i] and its
 * ancestors are the frames before it whose range holds it. A zoom is one pass over numbers stored
 * here; the document is only written to, and only where something changed, so large pictures remain
 * fast. Text is fitted by the widths of characters, each measured once.
 *
 * This and the other svg_*.js are one function; each uses definitions of the files before it.
 *
 * Names come from outside: they are only ever text, never markup.
 */
const PAD = 10, LABEL_PAD = 3, MIN_CHARS = 3, BOLD = 1.15, LONG = 6000;
const byId = (id) => document.getElementById(id);
const group = byId("frames"), svg = group.ownerSVGElement;
const standalone = document.documentElement === svg;
const fontsize = Number(svg.dataset.fontsize);
const inverted = svg.dataset.inverted === "1";
const fluid = standalone && svg.dataset.fluid === "1";
const height = Number(svg.getAttribute("height"));
const title = byId("title"), subtitle = byId("subtitle");
const titleText = title.textContent, subtitleText = subtitle ? subtitle.textContent : "";
const details = byId("details"), matched = byId("matched");
const unzoomButton = byId("unzoom"), searchButton = byId("search");
const caseButton = byId("ignorecase"), regexButton = byId("regex");
let width = Number(svg.getAttribute("width"));

/* ---- the frames, read once ---- */

const frames = Array.from(group.getElementsByTagName("g")), n = frames.length;
const start = new Float64Array(n), size = new Float64Array(n);
const depth = new Int32Array(n), end = new Int32Array(n);
const rects = new Array(n), texts = new Array(n), names = new Array(n);
const label = new Array(n), look = new Uint8Array(n), sign = new Array(n);
/* Signs of a frame in a comparison, in addition to its colour; "a" is a thread's band. */
const SIGNS = { "+": "+ ", "n": "+ ", "-": "\u2212 ", "g": "\u2212 " };
const isMatch = new Uint8Array(n);
const HIDE = 1, PARENT = 2, MATCH = 4, CURRENT = 8;
const index = new Map();

function readFrames() {
    const open = [];
    for (let i = 0; i < n; i++) {
        const g = frames[i];
        rects[i] = g.firstElementChild.nextElementSibling;
        texts[i] = rects[i].nextElementSibling;
        start[i] = Number(g.getAttribute("data-x"));
        size[i] = Number(g.getAttribute("data-w"));
        depth[i] = Number(g.getAttribute("data-d"));
        label[i] = null;
        sign[i] = g.getAttribute("data-c");
        while (open.length && depth[open[open.length - 1]] >= depth[i])
            end[open.pop()] = i;
        open.push(i);
        index.set(g, i);
    }
    for (const i of open)
        end[i] = n;
}

const fullText = (i) => frames[i].firstElementChild.textContent;

/* The name ends where the last " (" begins the numbers. */
function name(i) {
    if (names[i] === undefined) {
        const s = fullText(i);
        names[i] = s.slice(0, s.lastIndexOf(" ("));
    }
    return names[i];
}

/* Frames from the root's callee to frame i. */
function ancestors(i) {
    const path = [];
    for (let at = i, d = depth[i]; at > 0; at--)
        if (depth[at] === d) {
            path.push(at);
            d--;
        }
    return path.reverse();
}

/* ---- text that fits ---- */

const charWidths = new Map();
let pen = null;

function charWidth(c) {
    let w = charWidths.get(c);
    if (w === undefined) {
        if (!pen) {
            pen = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas")
                .getContext("2d");
            pen.font = fontsize + "px " + getComputedStyle(group).fontFamily;
        }
        w = pen.measureText(c).width;
        charWidths.set(c, w);
    }
    return w;
}

function fit(s, room) {
    const dots = 2 * charWidth(".");
    let used = 0, at = 0, fits = 0, chars = 0;
    if (room < dots)
        return "";
    for (const c of s) {
        used += charWidth(c);
        if (used > room)
            return chars >= MIN_CHARS ? s.slice(0, fits) + ".." : "";
        at += c.length;
        if (used + dots <= room) {
            fits = at;
            chars++;
        }
    }
    return s;
}

/* ---- drawing ---- */

let zoomed = 0, current = -1;

function setLook(i, value) {
    value |= (isMatch[i] ? MATCH : 0) | (i === current ? CURRENT : 0);
    if (look[i] === value)
        return;
    look[i] = value;
    const words = [];
    if (value & HIDE) words.push("hide");
    if (value & PARENT) words.push("parent");
    if (value & MATCH) words.push("match");
    if (value & CURRENT) words.push("current");
    frames[i].setAttribute("class", words.join(" "));
}

/* Position of the label of a frame that had no room for one so far. */
function baseline(rect) {
    return Number(rect.getAttribute("y")) + Number(rect.getAttribute("height")) / 2 +
        0.36 * fontsize;
}

function labelOf(i, room) {
    const prefix = SIGNS[sign[i]] || "";
    let used = 0;
    for (const c of prefix)
        used += charWidth(c);
    const text = fit(name(i), sign[i] === "a" ? room / BOLD : room - used);
    return text && prefix + text;
}

function place(i, x, w) {
    rects[i].setAttribute("x", x.toFixed(2));
    rects[i].setAttribute("width", w.toFixed(2));
    const text = w > 2 * LABEL_PAD + fontsize / 2 ? labelOf(i, w - 2 * LABEL_PAD) : "";
    if (text) {
        texts[i].setAttribute("x", (x + LABEL_PAD).toFixed(2));
        if (!texts[i].hasAttribute("y"))
            texts[i].setAttribute("y", baseline(rects[i]).toFixed(2));
    }
    if (text !== label[i]) {
        label[i] = text;
        if (text || texts[i].firstChild)
            texts[i].textContent = text;
    }
}

function hide(from, to) {
    for (let i = from; i < to; i++)
        setLook(i, HIDE);
}

function draw() {
    const inner = Math.max(width - 2 * PAD, 1), z = zoomed;
    const scale = inner / size[z];
    for (let i = 0; i < z;) {
        if (end[i] > z) {
            setLook(i, PARENT);
            place(i++, PAD, inner);
        } else {
            hide(i, end[i]);
            i = end[i];
        }
    }
    for (let i = z; i < end[z];) {
        const w = size[i] * scale;
        if (w < 0.05 && i !== z) {
            hide(i, end[i]);
            i = end[i];
        } else {
            setLook(i, 0);
            place(i, PAD + (start[i] - start[z]) * scale, w);
            i++;
        }
    }
    hide(end[z], n);
    unzoomButton.classList.toggle("off", z === 0);
}

/* Places the title in the middle, or as near as its neighbours allow; a tooltip has the full
 * text. */
function placeTitle(line, whole, left, right) {
    const room = width - left - right;
    line.textContent = whole;
    let long = line.getComputedTextLength();
    const cut = long > room;
    if (cut) {
        /* fit() measures in the frames' font. */
        let plain = 0;
        for (const c of whole)
            plain += charWidth(c);
        line.textContent = fit(whole, 0.95 * room * plain / long);
        long = line.getComputedTextLength();
    }
    line.setAttribute("x", Math.max(left + long / 2, Math.min(width / 2, width - right - long / 2)));
    if (!cut)
        return;
    const tip = document.createElementNS(svg.namespaceURI, "title");
    tip.textContent = whole;
    line.append(tip);
}

function placeLabels() {
    placeTitle(title, titleText, PAD + 6.5 * fontsize, PAD + 8 * fontsize);
    if (subtitle)
        placeTitle(subtitle, subtitleText, PAD, PAD);
    searchButton.setAttribute("x", width - PAD - 4 * fontsize);
    regexButton.setAttribute("x", width - PAD - 2 * fontsize);
    caseButton.setAttribute("x", width - PAD);
    placeMatched();
    placeBox();
    placeFindings();
    placeLegend();
}

/* Toolbar and status line stay in sight when the picture is higher than the window. */
function pin() {
    if (!standalone)
        return;
    const above = Math.max(0, window.scrollY);
    const below = Math.min(0, window.scrollY + window.innerHeight - height);
    for (const [bar, by] of [[byId("toolbar"), above], [byId("status"), below]]) {
        bar.setAttribute("transform", "translate(0," + by + ")");
        bar.classList.toggle("pinned", by !== 0);
    }
}

function resize() {
    if (fluid) {
        const now = svg.getBoundingClientRect().width;
        if (now > 0 && now !== width) {
            width = now;
            placeLabels();
            draw();
        }
    }
    pin();
}
