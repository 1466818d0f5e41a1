#!/usr/bin/env python3
"""yaml_json.py FILE: the one document in it, as JSON. YAML 1.1 reads a key `on` as true; it is "on" again."""

import json
import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as f:
    document = yaml.safe_load(f)
if isinstance(document, dict) and True in document:
    document["on"] = document.pop(True)
print(json.dumps(document))
