#!/usr/bin/env python3
"""schema_check.py SCHEMA FILE: nothing if the JSON in FILE fits, else what does not."""

import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as f:
    schema = json.load(f)
with open(sys.argv[2], "rb") as f:
    report = json.loads(f.read().decode("utf-8", "strict"))
jsonschema.Draft7Validator.check_schema(schema)
for error in jsonschema.Draft7Validator(schema).iter_errors(report):
    print("%s: %s" % ("/".join(map(str, error.path)), error.message[:300]))
