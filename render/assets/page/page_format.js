/* ---- page_format.js: counts, shares and names as people read them ---- */

const TIME_UNITS = [["nanoseconds", "ns", "nsec"], ["microseconds", "us", "usec"],
    ["milliseconds", "ms", "msec"], ["seconds", "s", "sec"]];
const groups = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });
const compact = new Intl.NumberFormat("en-US",
    { notation: "compact", maximumSignificantDigits: 4 });

const timeUnit = (unit) => TIME_UNITS.findIndex((names) => names.includes(unit));

/* At least three significant digits. */
const scaled = (v, unit) => v.toFixed(v < 100 ? 2 : v < 1000 ? 1 : 0) + " " + unit;

/* "1.50 MiB", "2.31 s"; for other units all digits, or "1.234M" when they are many. */
function formatShort(value, unit) {
    const sign = value < 0 ? "\u2212" : "";
    let v = Math.abs(value);
    if (unit === "bytes") {
        const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if (v < 1024)
            return sign + groups.format(v) + " B";
        let i = 0;
        for (v /= 1024; v >= 1023.95 && i + 1 < units.length; i++)
            v /= 1024;
        return sign + scaled(v, units[i]);
    }
    let i = timeUnit(unit);
    if (i >= 0) {
        const first = i;
        for (; i < 3 && v >= 999.95; i++)
            v /= 1000;
        const name = ["ns", "\u00b5s", "ms", "s"][i];
        return sign + (i === first ? groups.format(v) + " " + name : scaled(v, name));
    }
    return sign + (v >= 1e6 ? compact.format(v) : groups.format(Number(v.toFixed(2))));
}

/* "1,572,864 bytes", "1 sample"; "us" is written as in all texts. */
function formatExact(value, unit) {
    const v = Math.abs(value), one = v === 1 && ["bytes", "samples", "calls", "faults"].includes(unit);
    const shown = one ? unit.slice(0, -1) : unit === "us" ? "\u00b5s" : unit;
    return (value < 0 ? "\u2212" : "") + groups.format(v) + (shown ? " " + shown : "");
}

function formatPercent(part, whole) {
    return whole > 0 ? (100 * part / whole).toFixed(2) + "%" : "\u2013";
}

/* A change relative to the count before, always with its sign, as colour alone must not show
 * growth. There is no relative change if the count before was 0. */
function formatChange(change, before) {
    if (!(before > 0) && change > 0)
        return "new";
    const v = before > 0 ? 100 * change / before : 0;
    return (v > 0 ? "+" : v < 0 ? "\u2212" : "\u00b1") + Math.abs(v).toFixed(2) + "%";
}

/* Ratio of the second count to the first. */
const formatRatio = (now, was) => was > 0 ? Number((now / was).toPrecision(4)).toString() :
    "no ratio";

const plural = (n, one, many) => groups.format(n) + " " + (n === 1 ? one : many);

/* Cuts the middle out of a name that is too long for a menu or a path. */
function shorten(s, chars) {
    if (s.length <= chars)
        return s;
    const head = Math.ceil((chars - 1) * 0.6);
    return s.slice(0, head) + "\u2026" + s.slice(s.length - (chars - 1 - head));
}

/* ---- small helpers for the document ---- */

const byId = (id) => document.getElementById(id);

/* An unchanged text is not written again, because the browser would lay the page out again. */
function setText(e, text) {
    if (e.textContent !== text)
        e.textContent = text;
}

/* An element with classes and children; strings become text, never markup. */
function element(tag, className, ...children) {
    const e = document.createElement(tag);
    if (className)
        e.className = className;
    e.append(...children);
    return e;
}
