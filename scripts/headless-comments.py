#!/usr/bin/env python3
"""headless-comments.py FILE...: lists comments that cannot be read alone, a line each:
FILE:LINE: COMMENT. Exits with 1 if there are any.

A comment says what a thing is: it begins with the noun. "What is mapped where" makes the reader
guess it, "Of those that are open" needs the sentence before, and "The same of one that is open"
needs another comment, which may be in another file by now. CONTRIBUTING.md has the rule.

A C comment that ends in a comma or a semicolon continues in the next comment, so it is listed too.
Tests and examples may have those.

Exempt: short fragments behind a field that begin with a small letter, such as "of the largest
process". The field's name is the noun that they continue.
"""
import ast
import re
import sys

HEADLESS = re.compile(r"(What|Whatever|Who|Whoever|Whose|Whom|Of|The same)\b")
# The end of a comment that the next one continues; not of an example, indented by four or more.
UNFINISHED = re.compile(r"(?:^|\n)(?!\s*\*\s{4})[^\n]*[,;]\s*\Z")
MAY_BE_UNFINISHED = re.compile(r"(^|/)(tests|examples)/")
# Strings and characters, so that text in them is not taken for a comment.
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)


def of_c(text):
    """Line number and text of each comment of C, C++, CSS and JavaScript."""
    for token in C_TOKEN.finditer(text):
        if token[0].startswith("/*"):
            yield text.count("\n", 0, token.start()) + 1, token[0][2:-2].lstrip("* \n")
        elif token[0].startswith("//"):
            yield text.count("\n", 0, token.start()) + 1, token[0][2:].strip()


def unfinished(text):
    """Line number and text of each C comment that the next one continues."""
    for token in C_TOKEN.finditer(text):
        if token[0].startswith("/*") and UNFINISHED.search(token[0][2:-2]):
            yield text.count("\n", 0, token.start()) + 1, token[0][2:-2].strip("* \n")


def one_line(comment):
    return re.sub(r"\s*\n\s*\*?\s*", " ", comment)[:90]


def of_lines(text):
    """Line number and first line of each comment that begins with #, in adjacent lines or one."""
    before = False
    for number, line in enumerate(text.split("\n"), 1):
        comment = re.match(r"\s*#(?!!)\s?(.*)", line)
        if comment and not before:
            yield number, comment[1]
        before = bool(comment) and comment[1] != ""


def docstrings(text):
    """Line number and text of each docstring of Python."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = ast.get_docstring(node)
            if doc:
                yield node.body[0].lineno, doc


def main(files):
    found = 0
    for name in files:
        with open(name, encoding="utf-8", errors="replace") as f:
            text = f.read()
        is_c = re.search(r"\.(c|h|cc|hpp|js|mjs|css)$", name)
        comments = list(of_c(text) if is_c else of_lines(text))
        if name.endswith(".py"):
            comments += docstrings(text)
        for number, comment in comments:
            # "name.h: what it is": the noun follows the file's name, and a script's arguments.
            comment = re.sub(r"^[\w.-]+\.(?:h|hpp|c|js|py [^:\n]*|py): +(\w)",
                             lambda m: m[1].upper(), comment, count=1)
            if HEADLESS.match(comment):
                print(f"{name}:{number}: {one_line(comment)}")
                found += 1
        if re.search(r"\.(c|h|cc|hpp)$", name) and not MAY_BE_UNFINISHED.search(name):
            for number, comment in unfinished(text):
                print(f"{name}:{number}: continues in the next comment: {one_line(comment)}")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
