"""The line that holds the cause, in what programs print before they end."""

import pytest

from memeval.systems.drivers.printed import PrintedLines, cause_in, line_of_message

NODE_MISSING = """\
node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/k one/main.mjs'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
"""

NODE_SYNTAX = """\
file:///srv/k%20one/adapter.mjs:3
const x y;
        ^

SyntaxError: Unexpected identifier 'y'
    at ModuleLoader.moduleStrategy (node:internal/modules/esm/translators:168:18)

Node.js v20.20.2
"""

NODE_THROWN = """\
TypeError: Cannot read properties of undefined (reading 'x')
    at find (file:///srv/k%20one/node_modules/lib/index.mjs:7:2)
    at Object.ask (file:///srv/k%20one/adapter.mjs:34:15)
    at file:///srv/k%20one/adapter.mjs:49:39
"""

PYTHON_CHAINED = """\
Traceback (most recent call last):
  File "/srv/k one/server.py", line 3, in <module>
    1 / 0
ZeroDivisionError: division by zero

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/k one/server.py", line 9, in <module>
    start()
  File "/srv/k one/store/base.py", line 12, in start
    raise Unready("no index")
  File "/srv/k one/.venv/lib/python3.11/site-packages/x.py", line 1, in y
store.base.Unready: no index
closing the pool
"""


@pytest.mark.parametrize(
    ("printed", "cause"),
    [
        (NODE_MISSING, "Error: Cannot find module '/srv/k one/main.mjs'"),
        (NODE_SYNTAX, "SyntaxError: Unexpected identifier 'y' (adapter.mjs:3)"),
        (NODE_THROWN, "TypeError: Cannot read properties of undefined (reading 'x') (adapter.mjs:34)"),
        (PYTHON_CHAINED, "store.base.Unready: no index (store/base.py:12)"),
        ("sh: 1: nodee: not found\nstopping", "sh: 1: nodee: not found"),
        ("./run.sh: line 4: uvicorn: command not found\nbye", "./run.sh: line 4: uvicorn: command not found"),
        ("thread 'main' panicked at src/main.rs:2:5:\nno index\nnote: run with `RUST_BACKTRACE=1`", None),
        ("panic: no index\n\ngoroutine 1 [running]:\nmain.main()\nexit status 2", "panic: no index"),
        ('Exception in thread "main" java.lang.RuntimeException: no\n\\tat A.b(A.java:3)', None),
        ("0 errors: all is well\nlistening\n    at home", ""),
        ("", ""),
    ],
)
def test_the_line_with_the_cause_is_found(printed: str, cause: str | None) -> None:
    lines = [line for line in printed.splitlines() if line.strip()]
    assert cause_in(lines, ("/srv/k one",)) == (lines[0] if cause is None else cause)


def test_a_message_finds_its_own_stack_and_no_other() -> None:
    lines = (NODE_THROWN + PYTHON_CHAINED).splitlines()
    for message, place in (
        ("Cannot read properties of undefined (reading 'x').", "adapter.mjs:34"),
        ("division by zero", "server.py:3"),
        *((message, "") for message in ("index", "")),
    ):
        assert line_of_message(lines, message, ("/srv/k one",)) == place


def test_only_what_was_printed_since_counts() -> None:
    printed = PrintedLines("/srv/k one")
    for line in PYTHON_CHAINED.encode().splitlines(keepends=True):
        printed.add(line)
    before = printed.count
    assert (printed.since(before), printed.error_since(before)) == ([], "")
    printed.add(b"KeyError: 'index'\n")
    assert printed.error_since(before) == "KeyError: 'index'"
