/* ---- svg_keys.js: keyboard navigation of frames, and the start of the script ---- */

function select(i) {
    const before = current;
    current = i;
    if (before >= 0) {
        setLook(before, look[before] & ~CURRENT);
        for (const attribute of ["tabindex", "role", "aria-label"])
            frames[before].removeAttribute(attribute);
    }
    setLook(i, look[i]);
    frames[i].setAttribute("tabindex", "-1");
    frames[i].setAttribute("role", "button");
    frames[i].setAttribute("aria-label", fullText(i));
    frames[i].focus();
    showDetails(i);
}

/* The frame next to i: its caller, its widest callee, or a sibling; -1 if there is none. */
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
    const ways = { ArrowLeft: "previous", ArrowRight: "next",
        ArrowUp: inverted ? "out" : "in", ArrowDown: inverted ? "in" : "out" };
    if (event.ctrlKey || event.metaKey || event.altKey)
        return;
    if (ways[event.key]) {
        const to = current < 0 || look[current] & HIDE ? zoomed :
            neighbour(current, ways[event.key]);
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
        toggleModes(!matchCase, regex);
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
setLabel(regexButton, ".*", "Regular expression");
button(caseButton, () => toggleModes(!matchCase, regex));
button(regexButton, () => toggleModes(matchCase, !regex));
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
openAtRoot();
pin();
