"""Objects made, written as JSON, read back, grouped and sorted: objects.py COUNT."""

import json
import sys

count = int(sys.argv[1])
items = [
    {"id": i, "name": "n%d" % (i * 7919 % 1000003), "tags": [str(i % 7), str(i % 5)], "v": i * 1.5}
    for i in range(count)
]
text = json.dumps(items)
again = json.loads(text)
groups = {}
for item in again:
    groups.setdefault(item["name"][-2:], []).append(item)
words = " ".join(item["name"] for item in again).split()
total = sum(sum(x["v"] for x in g) for g in groups.values())
again.sort(key=lambda item: item["name"])
print(len(text), len(groups), len(set(words)), total, again[count // 2]["id"])
