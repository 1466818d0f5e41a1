/* ---- svg_findings.js: the sentences above the frames, wrapped to the window ---- */

const findings = Array.from(document.querySelectorAll("#findings a"));

/* fit() measures in the frames' font, which is wider than the sentences'. */
function placeFindings() {
    for (const link of findings)
        link.lastElementChild.textContent =
            fit(link.firstElementChild.textContent, width - 2 * PAD);
}
