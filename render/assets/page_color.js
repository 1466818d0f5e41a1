/*
 * ---- page_color.js: what colour a frame has ----
 *
 * By default frames of one package (module, namespace, directory) share a hue and
 * each name has its own shade of it. Labels are dark on every colour, in both
 * themes.
 */

function hashText(s) {
    let h = 0x811c9dc5;
    for (let i = 0; i < s.length; i++)
        h = Math.imul(h ^ s.charCodeAt(i), 0x01000193);
    h = Math.imul(h ^ h >>> 16, 0x7feb352d);
    h = Math.imul(h ^ h >>> 15, 0x846ca68b);
    return (h ^ h >>> 16) >>> 0;
}

/*
 * Where a function comes from, as far as its name tells: "lib`f", "f (lib.so)",
 * "[lib.so]", Java and Go paths, Rust and C++ namespaces, Python files; for plain
 * C the prefix before the first underscore, as in sqlite3_step.
 */
function packageOf(name) {
    let m;
    if ((m = /^(.+?)`/.exec(name)))
        return m[1];
    if ((m = /\(([^()]*\/)?([^()\/]+\.(?:so[.\d]*|py|js|mjs|rb|dylib|exe|dll))(?::\d+)?\)$/
        .exec(name)))
        return m[2];
    if ((m = /^\[(.+)\]$/.exec(name)))
        return m[1];
    if ((m = /^L?([\w$-]+(?:\/[\w$-]+)+)[.;\/:]/.exec(name)) ||
        (m = /^([\w-]+\.[\w-]+(?:\/[\w.-]+)+)\.\S/.exec(name)))
        return m[1];
    const bare = name.replace(/^(?:<|&|\*|\(|dyn |void |bool |int |unsigned |const |operator )+/, "");
    if ((m = /^([\w$~]+(?:\{[^}]*\})?)(?:<[^>]*>)?::/.exec(bare)))
        return m[1];
    if ((m = /^((?:[a-z_$][\w$]*\.)+)[\w$<]/.exec(bare)))
        return m[1].slice(0, -1);
    if ((m = /^_*([A-Za-z][A-Za-z0-9]*)_/.exec(bare)))
        return m[1];
    return bare;
}

const HUES = [12, 28, 44, 58, 78, 104, 138, 160, 178, 196, 212, 230, 252, 276, 304, 332];

function hueShade(key, name, dark) {
    const h = hashText(key), g = hashText(name);
    const hue = HUES[h % HUES.length] + (h >>> 8) % 7 - 3;
    /* Blue and violet are darker to the eye than other hues of the same lightness. */
    const lift = hue > 220 && hue < 300 ? 5 : 0;
    const light = (dark ? 60 : 70) + lift + g % 9 - 4, strong = (dark ? 46 : 64) + (g >>> 8) % 11;
    return `hsl(${hue},${strong}%,${light}%)`;
}

const KIND_HUES = { user: 36, kernel: 268, jit: 128, inlined: 52, waker: 184 };

/* Pale yellow to deep orange-red by share. */
function heat(share, dark) {
    const t = Math.sqrt(Math.min(1, Math.max(0, share)));
    return `hsl(${Math.round(50 - 42 * t)},${Math.round(62 + 30 * t)}%,` +
        `${Math.round((dark ? 70 : 86) - (dark ? 14 : 26) * t)}%)`;
}

/* Growth is vermilion and decline blue, which colour-blind people tell apart too. */
function changeColor(change, largest, dark) {
    const t = largest > 0 ? Math.sqrt(Math.min(1, Math.abs(change) / largest)) : 0;
    if (change === 0)
        return dark ? "#8b9099" : "#d9dce1";
    const light = Math.round((dark ? 74 : 90) - (dark ? 16 : 32) * t);
    return change > 0 ? `hsl(20,${Math.round(50 + 45 * t)}%,${light}%)` :
        `hsl(208,${Math.round(45 + 45 * t)}%,${light}%)`;
}

/* A function from a graph's node to its CSS colour. */
function colorist(profile, graph, mode, dark) {
    const cache = profile.colors || (profile.colors = new Map());
    const key = mode + (dark ? "-dark" : "");
    const separator = dark ? "#5d636e" : "#b4b9c2";
    if (mode === "change" && graph.change) {
        let largest = 0;
        for (let i = 1; i < graph.n; i++)
            largest = Math.max(largest, Math.abs(graph.change[i]));
        return (i) => changeColor(graph.change[i], largest, dark);
    }
    if (mode === "own" || mode === "total") {
        let most = 0;
        const v = mode === "own" ? graph.own : graph.total;
        for (let i = 1; i < graph.n; i++)
            most = Math.max(most, v[i]);
        const steps = Array.from({ length: 65 }, (_, k) => heat(k / 64, dark));
        return (i) => steps[most > 0 ? Math.round(64 * Math.min(1, v[i] / most)) : 0];
    }
    if (!cache.has(key))
        cache.set(key, new Array(profile.names.length));
    const known = cache.get(key);
    const make = (n) => {
        const name = profile.names[n], kind = profile.kinds[n];
        if (kind === "separator")
            return separator;
        if (mode === "kind") {
            const g = hashText(name);
            return `hsl(${KIND_HUES[kind]},${dark ? 48 : 64}%,${(dark ? 60 : 70) + g % 9 - 4}%)`;
        }
        if (kind === "waker")
            return hueShade("waker", name, dark);
        return hueShade(mode === "name" ? name : packageOf(name), name, dark);
    };
    return (i) => {
        if (i === 0)
            return dark ? "#9aa1ad" : "#cdd2da";
        const n = graph.name[i];
        return known[n] || (known[n] = make(n));
    };
}
