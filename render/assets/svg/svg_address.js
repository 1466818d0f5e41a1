/* ---- svg_address.js: the line of details, zoom, and the page's address ---- */

/* ---- details ---- */

function frameOf(event) {
    const g = event.target.closest ? event.target.closest("#frames g") : null;
    return g ? index.get(g) : undefined;
}

/* The count of each link that leads to a waker in a chain, with its thread. */
function linksTo(i) {
    const links = [];
    for (const at of ancestors(i))
        if (name(at) === "--")
            links.push(["", at]);
        else if (links.length && sign[at] === "a")
            links[links.length - 1][0] = " " + name(at);
    return links.slice(-4).map(([thread, at], k) => ` \u00b7 link ${
        Math.max(0, links.length - 4) + k + 1}${thread}: ${
        (100 * size[at] / size[0]).toFixed(2)}%`).join("");
}

function showDetails(i) {
    if (i === undefined) {
        details.textContent = "";
        return;
    }
    const s = fullText(i), numbers = s.slice(name(i).length) + linksTo(i);
    let room = width - 2 * PAD - (matched.textContent ? 16 * fontsize : 0);
    for (const c of svg.dataset.nametype + " " + numbers)
        room -= charWidth(c);
    details.textContent = svg.dataset.nametype + " " + fit(name(i), room) + numbers;
}

/*
 * ---- the address: #p=PATH of the zoomed frame, s=SEARCH, c=1, r=1 ----
 *
 * A path is the names from the root's callee on, with ';' between them, so a link also finds the
 * frame in a picture of another run. If a path occurs several times (a flame chart), k is the
 * number of the one meant. Paths too long for an address are x=START and y=DEPTH, which are also
 * read. c makes the search case-sensitive, r makes it an expression.
 */

const pathTo = (i) => ancestors(i).map(name);

/* All frames of that path, in order. */
function framesOf(path) {
    const found = [];
    for (let i = 1; i < n;) {
        if (depth[i] > path.length || name(i) !== path[depth[i] - 1]) {
            i = end[i];
            continue;
        }
        if (depth[i] === path.length)
            found.push(i);
        i++;
    }
    return found;
}

function saveState(push) {
    const p = new URLSearchParams();
    if (zoomed) {
        const path = pathTo(zoomed), text = path.join(";");
        if (text.length > LONG || text.split(";").length !== path.length) {
            p.set("x", frames[zoomed].getAttribute("data-x"));
            p.set("y", depth[zoomed]);
        } else {
            const at = framesOf(path).indexOf(zoomed);
            p.set("p", text);
            if (at > 0)
                p.set("k", at);
        }
    }
    if (term)
        p.set("s", term);
    if (matchCase)
        p.set("c", "1");
    if (regex)
        p.set("r", "1");
    const hash = "#" + p.toString();
    if (hash === (location.hash || "#"))
        return;
    try {
        history[push ? "pushState" : "replaceState"](null, "", hash);
    } catch {
        /* A page without an address of its own has no place to save it. */
    }
}

function restoreState() {
    const p = new URLSearchParams(location.hash.slice(1) || location.search.slice(1));
    const x = p.get("x"), y = Number(p.get("y"));
    zoomed = 0;
    if (p.has("p")) {
        const path = p.get("p").split(";"), wanted = Number(p.get("k")) || 0;
        /* If the frame does not exist, its nearest caller. */
        for (let found = []; path.length && !zoomed; path.pop()) {
            found = framesOf(path);
            zoomed = found[wanted] || found[0] || 0;
        }
    }
    for (let i = 1; !zoomed && x !== null && i < n; i++)
        if (depth[i] === y && frames[i].getAttribute("data-x") === x)
            zoomed = i;
    setModes(p.get("c") === "1", p.get("r") === "1");
    draw();
    search(p.get("s") || "");
}

/* ---- zoom ---- */

function zoom(i) {
    if (i === zoomed)
        return;
    zoomed = i;
    draw();
    saveState(true);
}
