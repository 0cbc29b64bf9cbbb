"""Classes, methods and values as the worker sees them; every test runs a real process."""

import ast
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from memeval.systems.child import WORKER, WORKER_ERRORS, WORKER_TOGETHER
from memeval.systems.errors import (
    AdapterMisbehaved,
    AdapterRaised,
    NoAdapter,
    SystemDied,
    SystemFailure,
    SystemTimedOut,
)
from memeval.systems.messages import FoundItem, SystemReply
from memeval.systems.process import SystemProcess
from memeval.systems.questions import (
    EndedInFlight,
    Flight,
    PreparedCall,
    ask_call,
    recall_call,
    retain_call,
    search_call,
)
from tests.systems.helpers import PATIENT, Start, session, sessions

DEEPMEMEVAL_STYLE = """
from abc import ABC, abstractmethod

class MemorySystemAdapter(ABC):
    @abstractmethod
    def ingest_session(self, session: dict, timestamp: str) -> None: ...
    @abstractmethod
    def query(self, question: str, timestamp: str = "now") -> str: ...
    @abstractmethod
    def get_context_tokens(self) -> int: ...
    @abstractmethod
    def reset(self) -> None: ...

class KeywordMemory(MemorySystemAdapter):
    def __init__(self):
        self.facts = []
        self.tokens = 0
    def ingest_session(self, session, timestamp):
        for turn in session["turns"]:
            if turn["role"] == "user":
                self.facts.append((timestamp, turn["content"]))
    def query(self, question, timestamp="now"):
        known = [text for date, text in self.facts if timestamp == "now" or date <= timestamp]
        context = " ".join(known)
        self.tokens = len(context.split()) * 1.3
        return known[-1] if known else ""
    def get_context_tokens(self):
        return self.tokens
    def reset(self):
        self.facts = []
"""


def test_a_deepmemeval_adapter_runs_unchanged(system: Start) -> None:
    process = system(source=DEEPMEMEVAL_STYLE)
    assert process.adapter.class_name == "KeywordMemory"
    process.ingest([(session(1, "Uses Svelte."), "2025-01-02"), (session(2, "Uses React."), "2025-03-04")])
    reply = process.ask("Which framework?")
    assert reply.answer == "Uses React." and reply.reported_tokens == pytest.approx(5.2)
    assert process.ask("Which framework?", "2025-02-01").answer == "Uses Svelte."


def test_without_a_timestamp_the_adapters_own_default_stands(system: Start) -> None:
    process = system("return repr(timestamp)")
    assert process.ask("q").answer == "'now'"
    assert process.ask("q", "2025-01-02").answer == "'2025-01-02'"


def test_a_timestamp_of_another_name_is_passed_by_place(system: Start) -> None:
    source = """
        class A:
            def reset(self): pass
            def ingest_session(self, session, when): self.when = when
            def query(self, question, as_of=None): return f"{self.when} {as_of}"
            def search(self, text, top, *, timestamp=None): return [f"{top} {timestamp}"]
    """
    process = system(source=source)
    process.ingest(sessions(1))
    assert process.ask("q", "2025-05-06").answer == "2025-01-02 2025-05-06"
    assert process.search("q", 3, "2025-05-06").items == (FoundItem("3 2025-05-06"),)


def test_the_adapter_sees_the_session_as_it_was_given(system: Start) -> None:
    process = system("return repr(self.taken)")
    process.ingest(sessions(1, "ünï\u2028 🙂"))
    assert process.ask("q").answer == repr([(session(1, "ünï\u2028 🙂"), "2025-01-02")])


def test_methods_may_be_async_and_share_one_event_loop(system: Start) -> None:
    source = """
        import asyncio
        class A:
            async def reset(self): self.loop = asyncio.get_running_loop()
            async def ingest_session(self, session, timestamp): await asyncio.sleep(0)
            async def query(self, question, timestamp="now"):
                await asyncio.sleep(0)
                return str(self.loop is asyncio.get_running_loop())
            async def get_context_tokens(self): return 7
            async def search(self, query, k, timestamp="now"): return ["x"]
    """
    process = system(source=source)
    process.ingest(sessions(2))
    reply = process.ask("q")
    assert (reply.answer, reply.reported_tokens) == ("True", 7.0)
    assert process.search("q", 1).items == (FoundItem("x"),)


def test_a_class_with_retain_only_is_given_dated_lines(system: Start) -> None:
    source = """
        class A:
            def reset(self): self.kept = []
            async def retain(self, content, *, occurred_at=None): self.kept.append((content, occurred_at))
            def search(self, query, k, timestamp="now"): return [repr(self.kept)]
    """
    process = system(source=source)
    process.ingest(sessions(1))
    items = process.search("q", 1).items
    assert items == (FoundItem("[('[2025-01-02] user: Uses Drone CI.', '2025-01-02')]"),)


BANKS = """
class A:
    def __init__(self): self.seen = []
    def reset(self): pass
    def ingest_session(self, session, timestamp): pass
    def query(self, question, timestamp="now"): return repr(self.seen.pop())
"""


def test_parts_of_a_request_go_by_the_names_a_method_has_for_them(system: Start) -> None:
    more = """
    async def retain(self, content, bank_id, *, metadata=None, tags=None, occurred_at=None):
        self.seen.append((content, bank_id, metadata, tags, occurred_at))
    async def recall(self, query, bank_id=None, *, max_results=10, tags=None, time_range=None):
        return [repr((query, bank_id, max_results, tags))]
    def reflect(self, query, bank_id=None):
        return {"answer": repr((query, bank_id)), "tokens": 7}
    def forget(self, bank_id, *, memory_ids=None): return 2
    async def export_memories(self): return ["one", {"text": "two", "source_ids": ["r1"]}]
"""
    process = system(source=BANKS + more)
    process.retain("c", bank="b", timestamp="2025-01-02", tags=["t"], source_id="r1")
    assert process.ask("q").answer == repr(("c", "b", None, ["t"], "2025-01-02"))
    found = process.recall("q", 3, bank="b", tags=["t"], since="2025-01-01", timestamp="2025-05-06").items
    assert found == (FoundItem(repr(("q", "b", 3, ["t"]))),)
    assert process.recall("q", 3).items == (FoundItem(repr(("q", None, 3, None))),)
    reflected = process.reflect("q", bank="b", timestamp="2025-05-06")
    assert (reflected.answer, reflected.reported_tokens) == (repr(("q", "b")), 7.0)
    assert process.forget(bank="b", ids=["r1"]) == 2
    assert process.export() == (FoundItem("one"), FoundItem("two", ("r1",)))


def test_a_bank_that_a_method_cannot_do_without_is_always_given(system: Start) -> None:
    more = """
    def retain(self, content, *, bank): self.seen.append(bank)
    def recall(self, query, bank, limit): return [bank]
    def forget(self, bank="mine", query=None): self.seen.append((bank, query))
"""
    process = system(source=BANKS + more)
    process.retain("c")
    assert process.ask("q").answer == "'memeval'"
    assert process.recall("q", 1).items == (FoundItem("memeval"),)
    assert (process.forget(query="tea"), process.ask("q").answer) == (None, "('mine', 'tea')")


def test_a_method_under_a_decorator_is_looked_at_itself(system: Start) -> None:
    more = """
    def again(method):
        @functools.wraps(method)
        def twice(*args, **keywords):
            return method(*args, **keywords)
        return twice
    @again
    def retain(self, content, bank_id): self.seen.append((content, bank_id))
    def recall(self, query, **keywords): return [repr(sorted(keywords))]
"""
    process = system(source="import functools" + BANKS + more)
    process.retain("c", bank="b", tags=["t"])
    assert process.ask("q").answer == "('c', 'b')"
    assert process.recall("q", 1, tags=["t"]).items == (FoundItem("['k', 'tags']"),)


def test_a_name_that_a_method_has_goes_before_one_that_it_would_let_pass(system: Start) -> None:
    more = """
    def retain(self, content, bank_id="default", **rest): self.seen.append((content, bank_id, sorted(rest)))
    def recall(self, query, limit=5, *, bank_id="default", **rest): return [repr((bank_id, limit, sorted(rest)))]
"""
    process = system(source=BANKS + more)
    process.retain("c", bank="b", tags=["t"])
    assert process.ask("q").answer == "('c', 'b', ['tags'])"
    assert process.recall("q", 1, bank="b", tags=["t"]).items == (FoundItem("('b', 1, ['tags'])"),)


@pytest.mark.parametrize(
    ("body", "call", "sentence"),
    [
        (
            "def forget(self): return 'all'",
            "forget",
            "forget returned str ('all'), not a number (adapter.py:7). Return None, or how many",
        ),
        ("def forget(self): return -1", "forget", "forget returned a negative number (adapter.py:7)."),
        ("def forget(self): return 1.5", "forget", "forget returned a number that is not whole (adapter.py:7)."),
        (
            "def export_memories(self): return None",
            "export",
            "export_memories returned None, not a list (adapter.py:7). Return a list of items",
        ),
        ("def export_memories(self): return {}", "export", "export_memories returned a dict with neither"),
    ],
)
def test_a_wrong_return_of_the_other_calls_is_refused(system: Start, body: str, call: str, sentence: str) -> None:
    process = system(source=f"{BANKS}    {body}\n")
    with pytest.raises(AdapterMisbehaved) as caught:
        getattr(process, call)()
    assert caught.value.sentence.startswith(sentence)
    assert process.alive


def test_what_an_adapter_speaks_to_is_among_its_packages(system: Start) -> None:
    hello = system(source=BANKS + "    def versions(self): return {'server': '0.2.0'}\n").adapter
    assert hello.packages == {"server": "0.2.0"}
    assert "versions" not in hello.capabilities


def test_a_worker_that_lies_among_sources_deletes_nothing_when_it_is_left_alone(tmp_path: Path) -> None:
    worker = shutil.copy(WORKER, tmp_path / "worker.py")
    for home, left in ((Path("/"), True), (tmp_path, False)):
        environment = {"HOME": str(home)}
        subprocess.run([sys.executable, worker], env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
        assert tmp_path.exists() is left


TWO = """
class Zeta:
    def reset(self): pass
    def ingest_session(self, session, timestamp): pass
    def query(self, question, timestamp="now"): return "zeta"
class Alpha(Zeta):
    def query(self, question, timestamp="now"): return "alpha"
Another = Zeta
class NoQuery:
    def reset(self): pass
    def ingest_session(self, session, timestamp): pass
"""


def test_of_two_classes_none_is_taken_and_all_are_named(system: Start) -> None:
    with pytest.raises(NoAdapter) as refused:
        system(source=TWO)
    assert refused.value.problem == "several adapter classes: Alpha, Zeta."
    assert refused.value.remedy == "Name one: adapter.py:Alpha."


def test_classes_of_the_file_go_before_imported_ones(system: Start, tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(textwrap.dedent(TWO), "utf-8")
    process = system(source="from base import Alpha, Zeta\nclass Own(Zeta): pass\n")
    assert process.adapter.class_name == "Own"
    with pytest.raises(NoAdapter, match="several adapter classes: Alpha, Zeta"):
        system(source="from base import Alpha, Zeta\n")
    assert system(source="from base import Alpha\n").ask("q").answer == "alpha"


def test_a_class_called_as_deepmemevals_base_is_taken_where_there_is_no_other(system: Start) -> None:
    alone = TWO.partition("class Alpha")[0].replace("Zeta", "MemorySystemAdapter")
    assert system(source=alone).ask("q").answer == "zeta"
    derived = system(source=alone + "class Own(MemorySystemAdapter): pass\n")
    assert derived.adapter.class_name == "Own"


UPSTREAM = """
from src.adapter import MemorySystemAdapter

class Mine(MemorySystemAdapter):
    def __init__(self): self.facts = []
    def ingest_session(self, session, timestamp): self.facts.append(timestamp)
    def query(self, question, timestamp="now"): return f"{len(self.facts)} {MemorySystemAdapter.__module__}"
    def get_context_tokens(self): return 7
    def reset(self): self.facts = []
"""


def test_the_base_class_of_deepmemeval_is_provided_where_the_folder_has_none(system: Start, tmp_path: Path) -> None:
    process = system(source=UPSTREAM)
    assert process.adapter.class_name == "Mine"
    process.ingest(sessions(2))
    assert process.ask("q").answer == "2 src.adapter"
    (tmp_path / "src").mkdir()
    assert system(source=UPSTREAM).ask("q").answer == "0 src.adapter"
    (tmp_path / "src" / "adapter.py").write_text("class MemorySystemAdapter: __module__ = 'its own'\n")
    assert system(source=UPSTREAM).ask("q").answer == "0 its own"


def test_an_abstract_method_that_is_left_is_named(system: Start) -> None:
    with pytest.raises(NoAdapter, match=r"Mine \(adapter\.py:4\) lacks get_context_tokens; it has ingest_session, "):
        system(source=UPSTREAM.replace("    def get_context_tokens(self): return 7\n", ""))


@pytest.mark.parametrize(
    ("source", "named", "sentence"),
    [
        ("x = 1", None, r"no class in adapter\.py\. Write a class with reset, ingest_session and query\."),
        ("class A: pass", None, r"A \(adapter\.py:1\) lacks reset, .*; it has no methods\. Add the missing methods\."),
        (
            "class A:\n    def clear(self): pass\n    def ingest_sesion(self): pass\n    def answer(self): pass",
            None,
            "it has answer, clear, ingest_sesion. "
            "Rename clear to reset, ingest_sesion to ingest_session, answer to query.",
        ),
        (TWO, "Aplha", r"^there is no class Aplha; its adapter classes: Alpha, Zeta\. Name one: adapter\.py:Alpha\."),
        (
            TWO,
            "NoQuery",
            r"NoQuery \(adapter\.py:9\) lacks query \(or search, recall or reflect\); it has ingest_session",
        ),
    ],
)
def test_a_file_without_the_class_is_refused(system: Start, source: str, named: str | None, sentence: str) -> None:
    with pytest.raises(NoAdapter, match=sentence):
        system(source=source, class_name=named)


METHODS = """
    def reset(self): pass
    def ingest_session(self, session, timestamp): pass
    def query(self, question, timestamp="now"): return ""
"""


def test_an_adapter_that_cannot_be_imported_says_why(system: Start) -> None:
    with pytest.raises(AdapterRaised, match=r"^missing module 'nowhere' \(adapter\.py:1\)\. Pass --python"):
        system(source="import nowhere")
    with pytest.raises(AdapterRaised, match=r"^not valid Python: .* \(adapter\.py:2\)\.$"):
        system(source="x = 1\ndef broken(:")
    with pytest.raises(AdapterRaised, match=r"^loading the adapter called sys\.exit\(3\) \(adapter\.py:1\)\. Raise"):
        system(source="raise SystemExit(3)")
    with pytest.raises(AdapterRaised, match=r"^__init__ raised KeyError: 'x' \(adapter\.py:3 in __init__\)\.$"):
        system(source=f"class A:\n    def __init__(self):\n        {{}}['x']\n{METHODS}")
    said = r"declared as __init__\(self, path\) \(adapter\.py:2\)\. Let __init__ need no"
    with pytest.raises(AdapterRaised, match=said):
        system(source=f"class A:\n    def __init__(self, path): pass\n{METHODS}")


def test_parameters_reach_the_constructor_and_siblings_import(system: Start, tmp_path: Path) -> None:
    (tmp_path / "sibling.py").write_text("GREETING = 'hello'")
    source = """
        import sibling
        class A:
            def __init__(self, name, times=1): self.said = f"{sibling.GREETING} {name}" * times
            def reset(self): pass
            def ingest_session(self, session, timestamp): pass
            def query(self, question, timestamp="now"): return self.said
    """
    assert system(source=source, parameters={"name": "you", "times": 2}).ask("q").answer == "hello youhello you"


def test_capabilities_and_environment_are_reported(system: Start, tmp_path: Path) -> None:
    more = "usage = None\ndef settle(self, timeout): pass\ndef close(self): pass"
    hello = system(more=more).adapter
    assert hello.capabilities == ("close", "ingest_session", "query", "settle")
    assert hello.implementation == sys.implementation.name
    assert (hello.python, hello.packages) == (".".join(map(str, sys.version_info[:3])), {})
    info = tmp_path / "Some_Memory-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Some_Memory\nVersion: 1.2\n")
    other = system(more=more).adapter
    assert other.packages == {"some-memory": "1.2"}
    assert other.environment_digest != hello.environment_digest


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        ("None", "query returned None, not text"),
        ("b'bytes'", "query returned bytes (b'bytes'), not text"),
        ("5", "query returned int (5), not text"),
        ("'\\ud800'", "query returned text that UTF-8 cannot encode (lone surrogate at character 0)"),
        ("'x' * 50_000_000", "query returned more than the limit of 1 MB"),
        ("'\\u00e9' * 600_000", "query returned more than the limit of 1 MB"),
        ("{'text': 'x'}", "query returned a dict without 'answer': dict ({'text': 'x'})"),
        ("{'answer': None}", "query returned a dict whose 'answer' is None, not text"),
        ("{'answer': '', 'context': b''}", "query returned a dict whose 'context' is bytes (b''), not text"),
        ("{'answer': '', 'items': 'abc'}", "query returned str ('abc'), not a list"),
        ("{'answer': '', 'items': [3]}", "query returned an item that is int (3), not a dict or text"),
        ("{'answer': '', 'items': [{}]}", "query returned an item without 'text': dict ({})"),
        ("{'answer': '', 'items': iter(str, 1)}", "query returned more than 100000 items"),
        (
            "{'answer': '', 'items': [{'text': '', 'score': float('nan')}]}",
            "query returned an item whose 'score' is a number that is not finite",
        ),
        (
            "{'answer': '', 'items': [{'text': '', 'source_ids': 's001'}]}",
            "query returned an item whose 'source_ids' is str ('s001'), not a list",
        ),
    ],
)
def test_what_no_record_can_hold_is_refused_with_a_sentence(system: Start, returned: str, sentence: str) -> None:
    process = system(f"return {returned} if question == 'bad' else 'fine'")
    with pytest.raises(AdapterMisbehaved) as caught:
        process.ask("bad")
    assert caught.value.problem == f"{sentence} (adapter.py:9)."
    assert caught.value.remedy
    assert process.ask("good").answer == "fine"


@pytest.mark.parametrize("returned", ["None", "True", "'5'", "float('inf')", "-1", "10 ** 400", "1e308"])
def test_a_token_count_that_is_none_is_refused(system: Start, returned: str) -> None:
    with pytest.raises(AdapterMisbehaved, match="get_context_tokens returned"):
        system(more=f"def get_context_tokens(self): return {returned}").ask("q")


def test_text_of_many_bytes_in_few_characters_fits_up_to_the_limit(system: Start) -> None:
    assert len(system("return '\\U0001f642' * 249_000").ask("q").answer) == 249_000


def test_a_dict_answer_carries_context_and_items(system: Start) -> None:
    body = "return {'answer': 'a', 'context': 'c', 'items': ({'text': 't', 'source_ids': ('s001',), 'score': 2}, 'u')}"
    reply = system(body).ask("q")
    assert (reply.answer, reply.context) == ("a", "c")
    assert reply.items == (FoundItem("t", ("s001",), 2.0), FoundItem("u"))


def test_a_search_may_hand_over_a_context(system: Start) -> None:
    more = """
    def search(self, query, k, timestamp="now"):
        return {"both": {"context": "c", "items": ["i"]}, "one": {"context": "c"}, "none": {}}.get(query, 7)
    """
    process = system(more=more)
    assert (process.search("both", 1).context, process.search("both", 1).items) == ("c", (FoundItem("i"),))
    assert process.search("one", 1).items is None
    with pytest.raises(AdapterMisbehaved, match="neither 'context' nor 'items'"):
        process.search("none", 1)
    with pytest.raises(AdapterMisbehaved, match=r"search returned int \(7\), not a list"):
        process.search("other", 1)


def test_the_worker_needs_nothing_but_the_standard_library_of_python_3_9() -> None:
    files = (WORKER, WORKER_ERRORS, WORKER_TOGETHER)
    source = "".join(file.read_text("utf-8").replace("from __future__", "from abc") for file in files)
    tree = ast.parse(source, feature_version=(3, 9))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= set(sys.stdlib_module_names) | {"__future__"}


ASYNC_RECALL = """
import asyncio, json

class Waits:
    def reset(self): self.now = self.most = 0
    def retain(self, content): pass
    def query(self, question): return "x"
    async def recall(self, query, k=10):
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01 if query == "quick" else 0.05)
        self.now -= 1
        if query == "wrong":
            return 5
        return [query, str(self.most)]
"""


def together(process: SystemProcess, asked: list[PreparedCall], most: int) -> list[SystemReply | SystemFailure]:
    """Ask several questions at the same time, and return what came back in their order."""
    came = dict(process.replies_to(asked, Flight(most)))
    return [came[place] for place in range(len(asked))]


def test_asynchronous_recalls_that_come_together_overlap(system: Start) -> None:
    process = system(source=ASYNC_RECALL)
    process.reset()
    queries = ("slow", "quick", "wrong", "slow", "quick", "slow", "slow", "quick")
    came = together(process, [recall_call(query, 10) for query in queries], 4)
    told = [reply.items[0].text if isinstance(reply, SystemReply) and reply.items else str(reply) for reply in came]
    assert told[2].startswith("recall returned int (5), not a list (adapter.py:")
    assert told == [*queries[:2], told[2], *queries[3:]]
    most = max(int(reply.items[1].text) for reply in came if isinstance(reply, SystemReply) and reply.items)
    assert 2 <= most <= 4


def test_a_recall_does_not_wait_for_one_that_came_with_it(system: Start) -> None:
    process = system(more="def recall(self, query, k=10):\n    time.sleep(float(query))\n    return []")
    replies = process.replies_to([recall_call(query, 10) for query in ("0", "1")], Flight(2, in_order=True))
    quick, slow = (reply.seconds for _, reply in replies if isinstance(reply, SystemReply))
    assert quick < 0.9 < slow


MANY_AT_ONCE = """
import asyncio, os, threading, time

class Many:
    questions_at_once = 8
    def __init__(self):
        self.lock, self.now, self.most, self.local = threading.Lock(), 0, 0, threading.local()
    def reset(self): pass
    def ingest_session(self, session, timestamp): pass
    def enter(self):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
    def leave(self):
        with self.lock:
            self.now -= 1
    def query(self, question, timestamp="now"):
        if question == "most":
            return str(self.most)
        if question == "wrong":
            return 5
        if question.startswith("late"):
            time.sleep(60)
        if question == "dies":
            time.sleep(0.1)
            os._exit(3)
        self.enter()
        time.sleep(float(question) / 100)
        self.leave()
        self.local.tokens = int(question)
        return question
    def get_context_tokens(self):
        return getattr(self.local, "tokens", 0)
    async def search(self, query, k, timestamp="now"):
        self.enter()
        await asyncio.sleep(0.05)
        self.leave()
        return [f"{query} {threading.current_thread() is threading.main_thread()} {self.most}"]
"""


def test_an_adapter_that_declares_it_answers_several_questions_at_the_same_time(system: Start) -> None:
    process = system(source=MANY_AT_ONCE)
    assert process.adapter.questions_at_once == 8
    questions = [str(9 - place) for place in range(8)] + ["wrong"]
    came = together(process, [ask_call(question) for question in questions], 8)
    told = [(one.answer, one.reported_tokens) for one in came[:-1] if isinstance(one, SystemReply)]
    assert told == [(question, float(question)) for question in questions[:-1]]
    assert str(came[-1]).startswith("query returned int (5), not text (adapter.py:")
    assert 4 <= int(process.ask("most").answer) <= 8
    arrived = [place for place, _ in process.replies_to([ask_call("30"), ask_call("1")], Flight(2))]
    assert arrived == [1, 0], "replies come when they are ready"


def test_coroutines_of_several_questions_share_the_main_thread(system: Start) -> None:
    came = together(system(source=MANY_AT_ONCE), [search_call(f"q{number}", 5) for number in range(6)], 6)
    texts = [reply.items[0].text.split() for reply in came if isinstance(reply, SystemReply) and reply.items]
    assert [text[:2] for text in texts] == [[f"q{number}", "True"] for number in range(6)]
    assert max(int(text[2]) for text in texts) >= 3


def test_a_question_over_its_limit_leaves_the_others_their_time_and_ends_the_process(system: Start) -> None:
    process = system(source=MANY_AT_ONCE, limits=PATIENT.model_copy(update={"ask_seconds": 0.4}))
    replies = process.replies_to([ask_call(question) for question in ("late", "1", "2", "late 2", "9", "3")], Flight(3))
    came = {}
    with pytest.raises(EndedInFlight, match=r"query took longer than 0\.4 s") as ended:
        for place, reply in replies:
            came[place] = reply
    assert not process.alive
    assert 0 in ended.value.places and not set(ended.value.places) & came.keys()
    assert {reply.answer for reply in came.values() if isinstance(reply, SystemReply)} >= {"1", "2"}


def test_a_crash_names_all_questions_in_flight(system: Start) -> None:
    process = system(source=MANY_AT_ONCE)
    with pytest.raises(EndedInFlight, match="ended with exit code 3") as ended:
        list(process.replies_to([ask_call(question) for question in ("dies", "50", "50", "1")], Flight(3)))
    assert {0, 1, 2} >= set(ended.value.places) >= {0}
    process.start()
    assert process.ask("1").answer == "1"


@pytest.mark.parametrize("declared", ["0", "True", "1.5", "'8'", "2000"])
def test_a_wrong_number_of_questions_at_once_is_refused(system: Start, declared: str) -> None:
    with pytest.raises(SystemFailure, match=r"questions_at_once is .* not a whole number from 1 to 1024"):
        system(source=MANY_AT_ONCE.replace("= 8", f"= {declared}"))


KEEPS_TEXTS = """
import asyncio, os, threading, time

class Keeps:
    texts_together = TOGETHER
    def reset(self):
        self.kept, self.now, self.most = {}, 0, 0
    def query(self, question):
        return str(self.most)
    def recall(self, query, k=10, bank=""):
        return sorted(self.kept.get(bank, []))
    KIND def retain(self, content, bank=""):
        self.now += 1
        self.most = max(self.most, self.now)
        WAIT
        self.now -= 1
        if content == "refused":
            raise ValueError("full")
        if content == "dies":
            os._exit(3)
        self.kept.setdefault(bank, []).append(content)
"""


def keeps(together: str, kind: str, wait: str) -> str:
    return KEEPS_TEXTS.replace("TOGETHER", together).replace("KIND ", kind).replace("WAIT", wait)


WRITES = [
    (keeps("True", "", "time.sleep(0.05)"), True),
    (keeps("False", "async ", "await asyncio.sleep(0.05)"), True),
    (keeps("False", "", "time.sleep(0.01)"), False),
]


@pytest.mark.parametrize(("source", "overlap"), WRITES, ids=["declared", "asynchronous", "neither"])
def test_texts_that_come_together_overlap_where_the_adapter_allows_it(
    system: Start, source: str, overlap: bool
) -> None:
    process = system(source=source)
    assert process.adapter.can("texts_together") is overlap
    process.reset()
    texts = [retain_call(f"text {number}", bank=f"b{number % 2}") for number in range(6)]
    seconds = process.retain_together(texts, 4)
    assert len(seconds) == 6 and min(seconds) > 0
    found = [item.text for bank in ("b0", "b1") for item in process.recall("text", 10, bank=bank).items or ()]
    assert sorted(found) == [f"text {number}" for number in range(6)]
    assert (2 <= int(process.ask("most").answer) <= 4) if overlap else process.ask("most").answer == "1"


def test_a_refused_text_is_told_after_the_others_are_stored(system: Start) -> None:
    process = system(source=WRITES[0][0])
    process.reset()
    with pytest.raises(AdapterRaised, match="retain raised ValueError: full"):
        process.retain_together([retain_call(text) for text in ("refused", "a", "b")], 3)
    assert [item.text for item in process.recall("text", 10).items or ()] == ["a", "b"]


def test_a_crash_while_texts_are_stored_is_told_as_a_crash(system: Start) -> None:
    process = system(source=WRITES[0][0])
    process.reset()
    with pytest.raises(SystemDied, match="ended with exit code 3"):
        process.retain_together([retain_call(text) for text in ("a", "dies", "b")], 3)


def test_a_text_over_its_limit_is_told_with_the_limit_of_texts(system: Start) -> None:
    limits = PATIENT.model_copy(update={"take_in_seconds": 0.3, "ask_seconds": 50.0})
    process = system(source=keeps("True", "", "time.sleep(60)"), limits=limits)
    process.reset()
    with pytest.raises(SystemTimedOut, match=r"retain took longer than 0\.3 s"):
        process.retain_together([retain_call(text) for text in ("a", "b")], 2)


@pytest.mark.parametrize("declared", ["1", "'yes'", "None"])
def test_a_wrong_declaration_of_texts_at_the_same_time_is_refused(system: Start, declared: str) -> None:
    with pytest.raises(SystemFailure, match=r"texts_together is .*, not True or False"):
        system(source=keeps(declared, "", "pass"))


@pytest.mark.parametrize(("signature", "can"), [("self, query, dispositions=None", True), ("self, query", False)])
def test_traits_are_passed_to_a_reflect_that_takes_them_and_to_no_other(
    system: Start, signature: str, can: bool
) -> None:
    process = system(
        source=f"""
        class Thinks:
            def reset(self): pass
            def retain(self, content): pass
            def query(self, question): return ""
            def reflect({signature}): return repr(locals().get("dispositions"))
        """
    )
    assert process.adapter.can("dispositions") is can
    assert process.reflect("why", dispositions={"empathy": 1}).answer == (repr({"empathy": 1}) if can else "None")
