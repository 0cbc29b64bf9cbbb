"""What a system gets of every form of reply and error: the reply unchanged, or an error in its API's form."""

from typing import Any

import pytest

from memeval.gateway.replies import is_usable
from tests.gateway.forms import FORMS
from tests.gateway.serving.helpers import Open


@pytest.mark.parametrize("form", FORMS)
def test_a_system_gets_the_reply_unchanged_or_an_error(rig: Open, form: dict[str, Any]) -> None:
    one = rig(refusal=(form.get("status", 200), form["body"]))
    got = one.post("/v1/chat/completions", {"model": "small", "messages": [{"role": "user", "content": "Where?"}]})
    if "text" in form or form.get("system") == "passed":
        assert (got.status, got.json) == (200, form["body"])
    elif "stops" in form:
        assert got.status == 503 and "memeval stopped this run" in got.text
    else:
        assert got.status == 502 and form["failed"] in got.json["error"]["message"]
        (call,) = one.calls
        assert call.error is not None and not is_usable(call)
