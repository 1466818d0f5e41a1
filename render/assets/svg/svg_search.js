/* ---- svg_search.js ---- */

let term = "", matchCase = false, regex = false, box = null, input = null, timer = 0;

function setModes(cased, expression) {
    matchCase = cased;
    regex = expression;
    for (const [modeButton, on] of [[caseButton, !cased], [regexButton, expression]]) {
        modeButton.classList.toggle("on", on);
        modeButton.setAttribute("aria-pressed", String(on));
    }
}

function say(text, wrong) {
    matched.textContent = text;
    matched.classList.toggle("wrong", wrong);
    if (input)
        input.classList.toggle("wrong", wrong);
}

/* Marks matching frames; a stack with several matches counts once. */
function search(wanted) {
    let sum = 0, covered = 0;
    term = wanted;
    setLabel(searchButton, term ? "Reset Search" : "Search", "Ctrl-F or F3");
    searchButton.classList.toggle("on", term !== "");
    const { match, error, asText } = findNames(term, { matchCase, regex }, n,
        (i) => i ? name(i) : "");
    const found = new Set();
    for (let i = 0; i < n; i++) {
        isMatch[i] = match[i];
        if (isMatch[i] && i >= covered) {
            sum += size[i];
            covered = end[i];
        }
        if (isMatch[i])
            found.add(name(i));
        setLook(i, look[i] & ~(MATCH | CURRENT));
    }
    for (const step of steps)
        step.classList.toggle("off", !found.size);
    placeMatched();
    say(term && (error ? error + "; " : "") + (asText ? "as text: " : "Matched: ") +
        (100 * sum / size[0]).toFixed(2) + "%, " + found.size + (found.size === 1 ? " name" :
            " names"), error !== "");
}

/* The share, and to its right the buttons for the next and previous match. */
const steps = [];

function placeMatched() {
    const room = steps.length && !steps[0].classList.contains("off") ? 3.5 * fontsize : 0;
    matched.setAttribute("x", width - PAD - room);
    steps.forEach((step, i) => step.setAttribute("x", width - PAD - (1 - i) * 1.6 * fontsize));
}

function addSteps() {
    for (const [id, arrow, tip, by] of [["previous", "\u2191", "Previous match: Shift-N", -1],
        ["next", "\u2193", "Next match: N", 1]]) {
        const step = document.createElementNS("http://www.w3.org/2000/svg", "text");
        step.id = id;
        step.setAttribute("text-anchor", "end");
        step.setAttribute("y", matched.getAttribute("y"));
        step.setAttribute("font-size", fontsize + 2);
        step.setAttribute("aria-label", tip);
        setLabel(step, arrow, tip);
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
        /* Hidden, or too thin to be visible. */
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
        box.setAttribute("x", Math.max(PAD, width - PAD - 4 * fontsize - 260));
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
        input.setAttribute("aria-label", "Search names");
        input.setAttribute("placeholder", "text, or /expression/");
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

function toggleModes(cased, expression) {
    setModes(cased, expression);
    searchNow(input ? input.value : term);
}

function toggleSearch() {
    if (term)
        searchNow("");
    else
        openBox();
}
