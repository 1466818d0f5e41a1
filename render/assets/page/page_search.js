/*
 * ---- page_search.js: names that match, their share, and filters ----
 *
 * A search is a query (regex.js) and a set of names picked in the table; a frame matches when its
 * name matches the query or is in the set. The result is one byte for each name.
 */

function makeSearch(profile, { query, matchCase, regex, picks, places }) {
    /* The root's name comes from the page, not from the program. */
    const { match, error, asText } = findNames(query, { matchCase, regex }, profile.names.length,
        (i) => i ? profile.names[i] : "");
    for (const i of picks)
        match[i] = 1;
    /* A function that is in two modules: frames of both match. */
    for (const key of places || [])
        for (const i of namesInPlace(profile, key))
            match[i] = 1;
    return { match, error, asText, active: query !== "" || picks.size > 0 || (places && places.size > 0),
        count: match.reduce((sum, m) => sum + m, 0) };
}

const frameMatches = (graph, match, i) => graph.chain ?
    graph.chain[i].some((name) => match[name]) : match[graph.name[i]] === 1;

/* Like matchedTotal, cached for a graph and a search. */
function matchedShare(graph, search) {
    if (!graph.matched || graph.matched.search !== search)
        graph.matched = { search, total: matchedTotal(graph, search.match) };
    return graph.matched.total;
}

/* The sum of all stacks with a match in them, each counted once. */
function matchedTotal(graph, match) {
    let sum = 0;
    for (let i = graph.n > 1 ? 1 : 0; i < graph.n;)
        if (frameMatches(graph, match, i)) {
            sum += graph.total[i];
            i = graph.end[i];
        } else {
            i++;
        }
    return sum;
}

/*
 * Filters, by their effect on stacks that contain a match. Each works on the stacks that passed the
 * ones before it. A filter is {op, query, matchCase, regex, picks}.
 */
const FILTERS = {
    keep: { menu: "Show only stacks with a match", chip: "Only with" },
    drop: { menu: "Leave out stacks with a match", chip: "Without" },
    from: { menu: "Show stacks from their match on", chip: "From" },
    fold: { menu: "Merge matches into their callers", chip: "Merged away" },
};

/*
 * By node of the profile: {shown, left}. shown[i] is 1 if the node is still a frame, left[i] if its
 * own count passed. null without filters.
 */
function applyFilters(profile, filters) {
    const { n, name, parent } = profile.shape;
    if (!filters.length)
        return null;
    const shown = new Uint8Array(n).fill(1), left = new Uint8Array(n).fill(1);
    const found = new Uint8Array(n);
    for (const filter of filters) {
        const { match } = makeSearch(profile, filter), { op } = filter;
        found[0] = 0;
        for (let i = 1; i < n; i++) {
            const here = shown[i] && match[name[i]];
            found[i] = here || found[parent[i]] ? 1 : 0;
            if (op === "fold" && here)
                shown[i] = 0;
            else if (op === "from" && !found[i])
                shown[i] = 0;
            if (op !== "fold" && found[i] === (op === "drop" ? 1 : 0))
                left[i] = 0;
        }
        if (op === "keep" || op === "from")
            left[0] = 0;
    }
    /* A frame of which no stack remains is removed. */
    const alive = left.map((l, i) => l && profile.stacks[i]);
    for (let i = n - 1; i > 0; i--)
        if (alive[i])
            alive[parent[i]] = 1;
    for (let i = 1; i < n; i++)
        if (!alive[i])
            shown[i] = left[i] = 0;
    return { shown, left };
}
