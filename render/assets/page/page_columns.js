/*
 * ---- page_columns.js: columns of the table ----
 *
 * A column is {key, title, hint, width, rank, wanted, of, cell}: its name in the address, its head,
 * its explanation, the width of its cells by level (below), its rank in the order in which columns
 * are dropped where there is little room (the lowest is dropped last), whether a profile has it
 * when rows are functions or places and this column of counts is shown (none: any), the value by
 * which rows are sorted (the largest first), and its cell. Add one by pushing it. With `all` it
 * covers the whole recording, and is hidden where a part is shown, except with `ofTime` for a part
 * of the time of the lanes.
 */

/* How wide a column is: with room for shares, close together, and without shares. */
const LEVELS = ["wide", "close", "bare"];

const TABLE_COLUMNS = [];

function countCell(key) {
    return (row, { graph }) => {
        const all = graph.total[0] || 1, value = row[key];
        const cell = element("td", "col-" + key, element("span", "value", formatShort(value, graph.unit)),
            element("span", "share", formatPercent(value, all)));
        cell.style.setProperty("--share", Math.min(1, value / all) * 100 + "%");
        cell.title = `${formatExact(value, graph.unit)}, ${formatPercent(value, all)}`;
        return cell;
    };
}

function changeCell(key) {
    return (row, { graph }) => {
        const before = graph.was[0], value = row[key];
        const cell = element("td", `col-${key} col-delta ` + (value > 0 ? "more" : value < 0 ? "less" : ""),
            element("span", "value", (value > 0 ? "+" : "") + formatShort(value, graph.unit)),
            element("span", "share", formatChange(value, before)));
        cell.title = `${formatExact(value, graph.unit)}, ${formatChange(value, before)} of all before`;
        return cell;
    };
}

TABLE_COLUMNS.push(
    { key: "own", title: "Self", hint: "What its own frames took", width: [138, 122, 70], rank: 0,
        wanted: () => true, of: (row) => row.own, cell: countCell("own") },
    { key: "total", title: "Total", hint: "What its frames and all they called took", width: [138, 122, 70], rank: 1,
        wanted: () => true, of: (row) => row.total, cell: countCell("total") },
    { key: "ownChange", title: "Self \u0394", hint: "By how much its own frames' count changed", width: [146, 128, 80], rank: 2,
        wanted: (profile) => profile.delta, of: (row) => Math.abs(row.ownChange), cell: changeCell("ownChange") },
    { key: "change", title: "Change", hint: "By how much its total changed", width: [146, 128, 80], rank: 3,
        wanted: (profile) => profile.delta, of: (row) => Math.abs(row.change), cell: changeCell("change") });

/* Classes belong to functions (page_classes.js). Sizes are dropped first. */
for (const [key, title, hint, value, text] of CLASS_COLUMNS) {
    const none = { size: null, lived: null, young: null };
    const of = (profile, row) => classesByName(profile).get(row.name) || none;
    TABLE_COLUMNS.push({ key, title, hint, all: true, width: [76, 70, 62], rank: key === "size" ? 12 : 11,
        wanted: (profile, by, column) => by === "function" && classesByName(profile) &&
            !(column && timeUnit(column.unit) >= 0) &&
            [...classesByName(profile).values()].some((c) => value(c) >= 0),
        of: (row, profile) => value(of(profile, row)),
        cell: (row, { profile }) => {
            const cell = element("td", `col-${key} col-class`, text(of(profile, row)));
            cell.title = hint;
            return cell;
        } });
}

/*
 * The columns and the level for a table of `width` pixels, half of which are for names. The sorted
 * column and the one of rank 0 are never dropped.
 */
function fitColumns(columns, width, sort) {
    const sum = (list, level) => list.reduce((a, c) => a + c.width[level], 0);
    let shown = columns, level = 0;
    while (level < LEVELS.length - 1 && sum(shown, level) > width / 2)
        level++;
    for (const gone of [...columns].sort((a, b) => b.rank - a.rank))
        if (gone.rank > 0 && gone.key !== sort && sum(shown, level) > width / 2)
            shown = shown.filter((c) => c !== gone);
    return { shown, level };
}
