/*
 * The picture's script: hover, zoom, search, and the page's address.
 *
 * Frames stand in the document in pre-order, so the subtree of frame i is the
 * range i..end[i] and its ancestors are the frames before it whose range holds
 * it. A zoom is one pass over numbers kept here; the document is only written
 * to, and only where something changed, so large pictures stay quick. Text is
 * fitted by widths asked of the font once for each character.
 *
 * Names come from outside: they are only ever text, never markup.
 */
"use strict";
(function () {
    const PAD = 10, LABEL_PAD = 3, MIN_CHARS = 3;
    const byId = (id) => document.getElementById(id);
    const group = byId("frames"), svg = group.ownerSVGElement;
    const standalone = document.documentElement === svg;
    const fontsize = Number(svg.dataset.fontsize);
    const fluid = standalone && svg.dataset.fluid === "1";
    const height = Number(svg.getAttribute("height"));
    const title = byId("title"), subtitle = byId("subtitle");
    const details = byId("details"), matched = byId("matched");
    const unzoomButton = byId("unzoom"), searchButton = byId("search");
    const caseButton = byId("ignorecase");
    let width = Number(svg.getAttribute("width"));

    /* ---- the frames, read once ---- */

    const frames = Array.from(group.getElementsByTagName("g")), n = frames.length;
    const start = new Float64Array(n), size = new Float64Array(n);
    const depth = new Int32Array(n), end = new Int32Array(n);
    const rects = new Array(n), texts = new Array(n), names = new Array(n);
    const label = new Array(n), look = new Uint8Array(n);
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

    /* Where the label of a frame goes that had no room for one so far. */
    function baseline(rect) {
        return Number(rect.getAttribute("y")) + Number(rect.getAttribute("height")) / 2 +
            0.36 * fontsize;
    }

    function place(i, x, w) {
        rects[i].setAttribute("x", x.toFixed(2));
        rects[i].setAttribute("width", w.toFixed(2));
        const text = w > 2 * LABEL_PAD + fontsize / 2 ? fit(name(i), w - 2 * LABEL_PAD) : "";
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

    function placeLabels() {
        title.setAttribute("x", width / 2);
        if (subtitle)
            subtitle.setAttribute("x", width / 2);
        searchButton.setAttribute("x", width - PAD - 2 * fontsize);
        caseButton.setAttribute("x", width - PAD);
        placeMatched();
        placeBox();
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

    /* ---- details ---- */

    function frameOf(event) {
        const g = event.target.closest ? event.target.closest("#frames g") : null;
        return g ? index.get(g) : undefined;
    }

    function showDetails(i) {
        if (i === undefined) {
            details.textContent = "";
            return;
        }
        const s = fullText(i), numbers = s.slice(name(i).length);
        let room = width - 2 * PAD - (matched.textContent ? 16 * fontsize : 0);
        for (const c of svg.dataset.nametype + " " + numbers)
            room -= charWidth(c);
        details.textContent = svg.dataset.nametype + " " + fit(name(i), room) + numbers;
    }

    /* ---- the address: #x=START&y=DEPTH of the zoomed frame, s=SEARCH, i=1 ---- */

    function saveState(push) {
        const p = new URLSearchParams();
        if (zoomed) {
            p.set("x", frames[zoomed].getAttribute("data-x"));
            p.set("y", depth[zoomed]);
        }
        if (term)
            p.set("s", term);
        if (ignoreCase)
            p.set("i", "1");
        const hash = "#" + p.toString();
        if (hash === (location.hash || "#"))
            return;
        try {
            history[push ? "pushState" : "replaceState"](null, "", hash);
        } catch (e) {
            /* A page without an address of its own: nothing to keep it in. */
        }
    }

    function restoreState() {
        const p = new URLSearchParams(location.hash.slice(1) || location.search.slice(1));
        const x = p.get("x"), y = Number(p.get("y"));
        zoomed = 0;
        for (let i = 1; x !== null && i < n; i++)
            if (depth[i] === y && frames[i].getAttribute("data-x") === x) {
                zoomed = i;
                break;
            }
        setIgnoreCase(p.get("i") === "1");
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

    /* ---- search ---- */

    let term = "", ignoreCase = false, box = null, input = null, timer = 0;

    function setIgnoreCase(on) {
        ignoreCase = on;
        caseButton.classList.toggle("on", on);
        caseButton.setAttribute("aria-pressed", String(on));
    }

    function say(text, wrong) {
        matched.textContent = text;
        matched.classList.toggle("wrong", wrong);
        if (input)
            input.classList.toggle("wrong", wrong);
    }

    /* Marks what matches; a stack with several matches counts once. */
    function search(wanted) {
        let re = null, sum = 0, covered = 0;
        term = wanted;
        setLabel(searchButton, term ? "Reset Search" : "Search", "Ctrl-F or F3");
        searchButton.classList.toggle("on", term !== "");
        say("", false);
        if (term) {
            try {
                re = new RegExp(term, ignoreCase ? "i" : "");
            } catch (e) {
                say("Invalid expression: " + term, true);
            }
        }
        for (let i = 0; i < n; i++) {
            isMatch[i] = re && re.test(name(i)) ? 1 : 0;
            if (isMatch[i] && i >= covered) {
                sum += size[i];
                covered = end[i];
            }
            setLook(i, look[i] & ~(MATCH | CURRENT));
        }
        for (const step of steps)
            step.classList.toggle("off", sum === 0);
        placeMatched();
        if (re)
            say("Matched: " + (100 * sum / size[0]).toFixed(2) + "%", false);
    }

    /* The share, and what leads to the next and previous match, right of it. */
    const steps = [];

    function placeMatched() {
        const room = steps.length && !steps[0].classList.contains("off") ? 3.5 * fontsize : 0;
        matched.setAttribute("x", width - PAD - room);
        steps.forEach((step, i) => step.setAttribute("x", width - PAD - (1 - i) * 1.6 * fontsize));
    }

    function addSteps() {
        for (const [id, sign, tip, by] of [["previous", "\u2191", "Previous match: Shift-N", -1],
            ["next", "\u2193", "Next match: N", 1]]) {
            const step = document.createElementNS("http://www.w3.org/2000/svg", "text");
            step.id = id;
            step.setAttribute("text-anchor", "end");
            step.setAttribute("y", matched.getAttribute("y"));
            step.setAttribute("font-size", fontsize + 2);
            step.setAttribute("aria-label", tip);
            setLabel(step, sign, tip);
            button(step, () => nextMatch(by));
            step.classList.add("off");
            byId("status").appendChild(step);
            steps.push(step);
        }
    }

    function nextMatch(by) {
        let i = current < 0 ? (by > 0 ? zoomed - 1 : zoomed) : current;
        for (let k = 0; k < n; k++) {
            i = (i + by + n) % n;
            if (!isMatch[i])
                continue;
            /* Out of sight, or too thin to be seen there. */
            if (look[i] & HIDE || Number(rects[i].getAttribute("width")) < 1)
                zoom(i);
            select(i);
            return;
        }
    }

    function searchNow(wanted) {
        clearTimeout(timer);
        search(wanted);
        saveState(false);
    }

    function placeBox() {
        if (box)
            box.setAttribute("x", Math.max(PAD, width - PAD - 2 * fontsize - 260));
    }

    function openBox() {
        if (!box) {
            box = document.createElementNS("http://www.w3.org/2000/svg", "foreignObject");
            box.id = "searchbox";
            box.setAttribute("y", Math.max(2, fontsize * 2 - 17));
            box.setAttribute("width", 252);
            box.setAttribute("height", 24);
            input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
            input.setAttribute("type", "text");
            input.setAttribute("spellcheck", "false");
            input.setAttribute("aria-label", "Search by regular expression");
            input.setAttribute("placeholder", "regular expression");
            input.addEventListener("input", () => {
                clearTimeout(timer);
                timer = setTimeout(() => searchNow(input.value), 120);
            });
            input.addEventListener("keydown", boxKey);
            box.appendChild(input);
            placeBox();
            byId("toolbar").appendChild(box);
        }
        input.value = term;
        searchButton.classList.add("off");
        input.focus();
        input.select();
    }

    function closeBox() {
        if (!box)
            return;
        box.remove();
        box = input = null;
        searchButton.classList.remove("off");
    }

    function boxKey(event) {
        if (event.key === "Enter") {
            searchNow(input.value);
            if (!matched.classList.contains("wrong"))
                closeBox();
        } else if (event.key === "Escape") {
            searchNow("");
            closeBox();
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }

    function toggleCase() {
        setIgnoreCase(!ignoreCase);
        searchNow(input ? input.value : term);
    }

    function toggleSearch() {
        if (term)
            searchNow("");
        else
            openBox();
    }

    /* ---- walking frames by the keyboard ---- */

    const inverted = svg.dataset.inverted === "1";

    function select(i) {
        const before = current;
        current = i;
        if (before >= 0) {
            setLook(before, look[before] & ~CURRENT);
            for (const name of ["tabindex", "role", "aria-label"])
                frames[before].removeAttribute(name);
        }
        setLook(i, look[i]);
        frames[i].setAttribute("tabindex", "-1");
        frames[i].setAttribute("role", "button");
        frames[i].setAttribute("aria-label", fullText(i));
        frames[i].focus();
        showDetails(i);
    }

    /* The frame next to i: its caller, its widest callee, or a sibling; -1 for none. */
    function neighbour(i, step) {
        let j = i - 1, best = -1;
        if (step === "out") {
            while (j >= 0 && depth[j] >= depth[i])
                j--;
            return j;
        }
        if (step === "in") {
            for (j = i + 1; j < end[i]; j = end[j])
                if (best < 0 || size[j] > size[best])
                    best = j;
            return best;
        }
        if (step === "next")
            return end[i] < n && depth[end[i]] === depth[i] ? end[i] : -1;
        while (j >= 0 && depth[j] > depth[i])
            j--;
        return j >= 0 && depth[j] === depth[i] ? j : -1;
    }

    function walk(event) {
        const steps = { ArrowLeft: "previous", ArrowRight: "next",
            ArrowUp: inverted ? "out" : "in", ArrowDown: inverted ? "in" : "out" };
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (steps[event.key]) {
            const to = current < 0 || look[current] & HIDE ? zoomed :
                neighbour(current, steps[event.key]);
            if (to >= 0 && !(look[to] & HIDE))
                select(to);
        } else if (event.key === "Enter" && current >= 0) {
            zoom(current);
        } else {
            return;
        }
        event.preventDefault();
    }

    /* ---- wiring ---- */

    function key(event) {
        const ctrl = event.ctrlKey || event.metaKey;
        if (event.key === "F3" || (ctrl && event.key === "f")) {
            /* A second Ctrl-F is for the browser's own search. */
            if (input && document.activeElement === input)
                return;
            openBox();
        } else if (ctrl && event.key === "i") {
            toggleCase();
        } else if (!ctrl && event.key.toLowerCase() === "n" && term && event.target !== input) {
            nextMatch(event.shiftKey ? -1 : 1);
        } else if (event.key === "Escape") {
            if (box || term) {
                closeBox();
                searchNow("");
            } else {
                zoom(0);
            }
        } else {
            return;
        }
        event.preventDefault();
    }

    function setLabel(element, text, tip) {
        const note = document.createElementNS("http://www.w3.org/2000/svg", "title");
        note.textContent = tip;
        element.textContent = text;
        element.appendChild(note);
    }

    function button(element, action) {
        element.setAttribute("tabindex", "0");
        element.setAttribute("role", "button");
        element.addEventListener("click", action);
        element.addEventListener("keydown", (event) => {
            if (event.key === "Enter" || event.key === " ") {
                event.preventDefault();
                action();
            }
        });
    }

    readFrames();
    setLabel(unzoomButton, "Reset Zoom", "Escape");
    setLabel(caseButton, "ic", "Ignore case: Ctrl-I");
    button(unzoomButton, () => zoom(0));
    button(searchButton, toggleSearch);
    button(caseButton, toggleCase);
    addSteps();
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "application");
    group.setAttribute("aria-label", "Flame graph. Arrow keys walk the frames, Enter zooms.");
    details.setAttribute("aria-live", "polite");
    matched.setAttribute("aria-live", "polite");
    group.addEventListener("keydown", walk);
    group.addEventListener("click", (event) => {
        const i = frameOf(event);
        if (i !== undefined)
            zoom(i);
    });
    group.addEventListener("mouseover", (event) => showDetails(frameOf(event)));
    group.addEventListener("mouseleave", () => showDetails(undefined));
    window.addEventListener("keydown", key);
    window.addEventListener("resize", resize);
    window.addEventListener("scroll", pin, { passive: true });
    window.addEventListener("popstate", restoreState);
    svg.classList.add("live");
    if (fluid) {
        svg.setAttribute("width", "100%");
        svg.removeAttribute("viewBox");
        width = svg.getBoundingClientRect().width || width;
    }
    placeLabels();
    restoreState();
    pin();
})();
