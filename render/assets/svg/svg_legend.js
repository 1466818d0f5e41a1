/* ---- svg_legend.js: total and meaning of colours, on as many lines as there is room for ---- */

const legend = byId("legend");

/* One key's parts side by side, from x on; returns the end. */
function placeKey(entry, x, y) {
    const gap = 0.5 * fontsize;
    let at = x, before = "";
    for (const part of entry.children) {
        const isText = part.tagName === "text";
        if (before && (isText || before === "text"))
            at += gap;
        part.setAttribute("x", at.toFixed(2));
        part.setAttribute("y", (isText ? y : y - 0.85 * fontsize).toFixed(2));
        at += isText ? part.getComputedTextLength() : Number(part.getAttribute("width"));
        before = part.tagName;
    }
    return at;
}

/* The last keys are hidden if the window is too narrow; a tooltip has them all. */
function placeLegend() {
    if (!legend || !fluid)
        return;
    const line = Number(legend.dataset.line), lines = Number(legend.dataset.lines);
    const keys = [...legend.getElementsByTagName("g")];
    const first = Number(legend.dataset.y), right = width - PAD;
    let x = PAD, y = first, hidden = false;
    for (const entry of keys) {
        entry.removeAttribute("class");
        let after = hidden ? 0 : placeKey(entry, x, y);
        if (after > right && x > PAD) {
            x = PAD;
            y += line;
            after = placeKey(entry, x, y);
        }
        hidden = hidden || y > first + (lines - 0.5) * line;
        if (hidden)
            entry.setAttribute("class", "hide");
        x = after + 2 * fontsize;
    }
    let tip = legend.querySelector("title");
    if (!tip) {
        tip = document.createElementNS(svg.namespaceURI, "title");
        legend.prepend(tip);
    }
    tip.textContent = keys.map((entry) => [...entry.getElementsByTagName("text")]
        .map((part) => part.textContent).join(" \u2026 ")).join("\n");
}

/*
 * A picture higher than the window opens where its root is, unless the browser restores an earlier
 * scroll position. In an <img> no script runs and nothing scrolls.
 */
function openAtRoot() {
    const [entry] = performance.getEntriesByType("navigation");
    const back = entry && entry.type !== "navigate";
    if (standalone && !inverted && !back && height > window.innerHeight)
        window.scrollTo(0, height);
}
