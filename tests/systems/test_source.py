import dataclasses
import datetime
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memeval.records.errors import BadInput, NewerSchema
from memeval.records.run import SystemKind, View
from memeval.records.submission import AdapterKind, Submission
from memeval.systems.controls import CONTROLS
from memeval.systems.launching import DRIVERS, DRIVERS_FOLDER
from memeval.systems.manifest import examined_manifest
from memeval.systems.messages import AdapterInfo
from memeval.systems.process import SystemProcess
from memeval.systems.rules import TOOL_CALLS
from memeval.systems.source import SystemSource, examined_folder, find_system, folder_source, start_system
from tests.systems.helpers import PATIENT, adapter, write

MANIFEST = """
schema_version = 1
slug = "acme"
name = "Acme"
version = "1.0"
light = true
authors = ["A. Person"]

[parameters]
depth = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A submission that is all right."""
    made = tmp_path / "submissions" / "acme"
    made.mkdir(parents=True)
    write(made, adapter("return 'x'"))
    write(made, MANIFEST, "submission.toml")
    return made


def refusal(named: object, submissions: Path = Path("nowhere")) -> str:
    """Return the sentence with which a system is refused."""
    with pytest.raises(BadInput) as caught:
        find_system(str(named), submissions)
    return str(caught.value)


def test_a_submission_is_found_by_slug_and_by_folder(folder: Path) -> None:
    by_slug = find_system("acme", folder.parent)
    assert by_slug == find_system(str(folder))
    assert (by_slug.slug, by_slug.name, by_slug.version, by_slug.kind) == ("acme", "Acme", "1.0", SystemKind.SUBMISSION)
    assert by_slug.light and by_slug.declared_models == ()
    assert by_slug.parameters == by_slug.launch.parameters == {"depth": 3}


def test_a_file_is_a_system_with_the_class_after_a_colon(tmp_path: Path) -> None:
    file = write(tmp_path, adapter("return 'x'"), "My Memory_2.py")
    plain, named = find_system(str(file)), find_system(f"{file}:System")
    assert (plain.slug, plain.version, plain.kind) == ("my-memory-2", "0", SystemKind.FILE)
    assert (plain.launch.class_name, named.launch.class_name) == (None, "System")
    assert plain.submission_digest == named.submission_digest
    assert find_system(str(write(tmp_path, adapter("return 1"), "bm25.py"))).slug == "bm25-file"


def test_every_control_is_found_by_its_name() -> None:
    for slug, control in CONTROLS.items():
        source = find_system(slug)
        assert (source.slug, source.kind, source.control) == (slug, SystemKind.CONTROL, control)
        assert source.view is {"oracle": View.EVIDENCE, "expected-turns": View.TURNS}.get(slug, View.ALL)


def test_the_digest_is_of_every_file_but_what_tools_leave(folder: Path) -> None:
    before = folder_source(folder).submission_digest
    write(folder, "junk", ".DS_Store")
    (folder / "__pycache__").mkdir()
    write(folder / "__pycache__", "junk", "adapter.pyc")
    assert folder_source(folder).submission_digest == before
    (folder / "data").mkdir()
    write(folder / "data", "one", "a.txt")
    with_file = folder_source(folder).submission_digest
    assert with_file != before
    (folder / "data" / "a.txt").rename(folder / "data" / "b.txt")
    assert folder_source(folder).submission_digest not in (before, with_file)


@pytest.mark.parametrize("change", ["other", "gone"])
def test_what_was_changed_after_it_was_read_is_not_started(folder: Path, tmp_path: Path, change: str) -> None:
    write(folder, "x = 1", "part.py")
    alone = write(tmp_path, adapter("return 'x'"))
    for source, file in ((find_system(str(folder)), folder / "part.py"), (find_system(str(alone)), alone)):
        process = SystemProcess(dataclasses.replace(source.launch, parameters={}), PATIENT, print)
        process.start()
        process.close()
        file.write_text("x = 2") if change == "other" else file.unlink()
        with pytest.raises(BadInput, match=r"was changed after it had been read\. Do not edit a system"):
            process.start()
        process.close()


def test_a_data_file_that_the_system_wrote_is_named_with_where_to_write_instead(folder: Path) -> None:
    write(folder, "", "memory.db")
    process = SystemProcess(find_system(str(folder)).launch, PATIENT, print)
    (folder / "memory.db").write_text("a row")
    with pytest.raises(BadInput) as caught:
        process.start()
    assert caught.value.problem == ("memory.db was written after it had been read, probably by the system itself.")
    assert "{work} in 'command'" in (caught.value.remedy or "")


def test_a_link_in_a_submission_is_refused(folder: Path) -> None:
    (folder / "passwd").symlink_to("/etc/passwd")
    assert refusal(folder) == f"{folder}/passwd: is a symbolic link. A submission holds plain files only."


def test_a_missing_path_a_wrong_suffix_and_a_bare_folder_are_told_apart(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.py") == f"{tmp_path}/no.py: file or folder not found. Check the path."
    notes = write(tmp_path, "x", "notes.txt")
    assert refusal(notes) == f"{notes}: is not a Python file: its name does not end in .py."
    assert "is a folder without a submission.toml." in refusal(tmp_path)


def test_a_file_that_is_not_python_is_refused_with_its_line(tmp_path: Path) -> None:
    broken = write(tmp_path, "x = 1\ndef f(:\n")
    assert refusal(broken).startswith(f"{broken}:2: invalid Python: ")
    for data in (b"\xff\xfe\x00", b"x = '\x00'", b"\x80abc"):
        broken.write_bytes(data)
        assert "invalid Python: " in refusal(broken)


def test_an_unknown_name_is_refused_with_the_nearest(folder: Path) -> None:
    assert refusal("acmee", folder.parent) == "there is no system called 'acmee'. Did you mean 'acme'?"
    assert refusal("bm52") == "there is no system called 'bm52'. Did you mean 'bm25'?"
    assert "Known systems: no-memory, " in refusal("zzzzzzzzzz")
    assert refusal("a" * 300).endswith("aaa: cannot be read (File name too long). Check the name.")


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("light = true", "entery = 'a.py'", 6, "unknown key 'entery'. Did you mean 'entry'?"),
        ("light = true", "light = 'yes'", 6, "'light': "),
        ("light = true", "light = ", 6, "not valid TOML"),
        ('version = "1.0"', "version = 2026-01-01", 5, "'version' is a date. Put it in quotes."),
        ('slug = "acme"', 'slug = "Ac/me"', 3, "'slug' does not have the required form."),
        ('name = "Acme"', "", None, "'name' is missing."),
        ("light = true", "entry = '../adapter.py'", 6, "is not a path inside this folder"),
        ("light = true", "entry = 'other.py'", 6, "is not a file of this folder"),
        ("light = true", "entry = '/etc/passwd'", 6, "is not a path inside this folder"),
        ('slug = "acme"', 'slug = "bm25"', 3, "is the name of a shipped control"),
        ("depth = 3", "depth = [3]", 10, "'parameters.depth"),
    ],
)
def test_a_fault_in_the_manifest_is_named_by_line(
    folder: Path, old: str, new: str, line: int | None, sentence: str
) -> None:
    manifest = write(folder, MANIFEST.replace(old, new), "submission.toml")
    refused = refusal(folder)
    assert refused.startswith(f"{manifest}:{line}: " if line else f"{manifest}: ")
    assert sentence in refused


def test_a_newer_manifest_is_refused_as_such(folder: Path) -> None:
    write(folder, MANIFEST.replace("schema_version = 1", "schema_version = 2"), "submission.toml")
    with pytest.raises(NewerSchema, match="Update memeval"):
        find_system(str(folder))


def test_a_slug_must_be_its_folders_name(folder: Path) -> None:
    folder.rename(folder.parent / "other")
    assert "Use the same name for both." in refusal("other", folder.parent)


def _greeted(source: SystemSource) -> AdapterInfo:
    process = SystemProcess(source.launch, PATIENT, print)
    try:
        return start_system(source, process)
    finally:
        process.close()


def test_a_greeting_refuses_what_would_be_nothing_but_errors(tmp_path: Path) -> None:
    file = write(tmp_path, "class A: pass")
    with pytest.raises(BadInput, match=r"adapter\.py: A \(adapter\.py:1\) lacks reset, ingest_session"):
        _greeted(find_system(str(file)))
    with pytest.raises(BadInput, match=r"loading the adapter raised ZeroDivisionError: .* \(adapter\.py:1\)\.$"):
        _greeted(find_system(str(write(tmp_path, "1 / 0"))))


def test_several_classes_are_refused_unless_one_is_named(tmp_path: Path, folder: Path) -> None:
    source = adapter("return 'x'") + "\nclass Another(System):\n    pass\n"
    file = write(tmp_path, source)
    sentence = r"/adapter\.py: several adapter classes: Another, System\. "
    with pytest.raises(BadInput, match=sentence + r"Name one: adapter\.py:Another\."):
        _greeted(find_system(str(file)))
    assert _greeted(find_system(f"{file}:System")).class_name == "System"
    write(folder, source)
    write(folder, MANIFEST.partition("[parameters]")[0], "submission.toml")
    with pytest.raises(BadInput, match=sentence + r'Name one in submission\.toml: entry = "adapter\.py:Another"\.'):
        _greeted(find_system(str(folder)))


HOST = '[[hosts]]\nhost = "api.acme.example"\nvariable = "ACME_URL"\n'
KINDS = {
    "command": 'command = ["node", "x.mjs"]',
    "http": 'command = ["./serve", "{port}"]',
    "daemon": f'endpoint = "https://api.acme.example/v1/"\n{HOST}key = "ACME_API_KEY"',
    "mcp": 'command = ["acme-mcp"]\n[tools.retain]\nname = "add"\n[tools.search]\nname = "find"',
}


OTHER_TOKEN = f'command = ["./serve"]\n{HOST}key = "OTHER_TOKEN"'
TWO_LICENCES = f'[product]\nname = "A"\nlicence = "MIT"\nlicence_digest = "sha256:{"0" * 64}"'
NO_MODE = '[variants.a]\nsummary = "A."\nparameters = { k = 1 }\n[variants.a.configuration]\nmode = ""'


def of_kind(folder: Path, kind: str, rest: str) -> Path:
    """Write a manifest of a kind and return it."""
    write(folder, "#!/bin/sh\n", "serve")
    return write(folder, f'slug = "acme"\nname = "Acme"\nversion = "1"\nkind = "{kind}"\n{rest}\n', "submission.toml")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_submission_can_be_launched(folder: Path, kind: str) -> None:
    of_kind(folder, kind, KINDS[kind])
    launch = find_system(str(folder)).launch
    assert launch.folder == folder
    if kind == "command":
        assert launch.program == ("node", "x.mjs")
        return
    filename, class_name = DRIVERS[AdapterKind(kind)]
    assert f"class {class_name}" in launch.file.read_text("utf-8")
    assert (launch.file.name, launch.class_name, launch.own_interpreter) == (filename, class_name, True)
    assert launch.shown == (launch.file.parent,)
    keywords = launch.parameters
    assert ("tools" in keywords) is (kind == "mcp")
    given = (keywords["endpoint_variable"], keywords["endpoint_path"], keywords["key_variable"])
    assert given == (("ACME_URL", "/v1", "ACME_API_KEY") if kind == "daemon" else (None, "", None))


@pytest.mark.parametrize(
    ("kind", "rest", "line", "sentence"),
    [
        ("python", 'command = ["x"]', 5, "'command' does not go with kind 'python'"),
        ("pyton", "", 4, "'kind': "),
        ("command", "", 4, "needs a 'command'"),
        ("command", 'command = ["x"]\nentry = "a.py"', 6, "'entry' does not go with"),
        ("command", 'command = ["../x"]', 5, "is not a file of this folder"),
        ("command", 'command = ["/bin/sh"]', 5, "is not a file of this folder"),
        ("http", 'command = ["x"]\nendpoint = "https://a.example"', 6, "are given"),
        ("http", 'endpoint = "http://a.example"', 5, "not an https URL"),
        ("http", 'endpoint = "https://a.example"', 5, "is not declared"),
        ("http", 'endpoint = "https://[a"', 5, "'endpoint' is not a URL. Write for example https://"),
        ("mcp", 'command = ["x"]', 4, "needs a tool for 'retain' or 'ingest_session'"),
        ("mcp", 'command = ["x"]\n[tools.retain]\nname = "a"', 6, "one for 'search' or 'query'"),
        ("mcp", 'command = ["x"]\n[tools.remember]\nname = "x"', 6, "'remember' is not a call"),
        ("python", '[variables]\nLD_PRELOAD = "x"', 6, "memeval sets the variable LD_PRELOAD itself"),
        ("python", '[variables]\nACME_API_KEY = "hunter2"', 6, "the name of a secret"),
        ("python", '[[services]]\nname = "redis"\nvariable = "X"\n[variables]\nX = "1"', 7, "X is used twice"),
        ("python", '[[hosts]]\nhost = "https://a.example"\nvariable = "A"', 6, "Write the bare host"),
        ("python", '[[hosts]]\nhost = "api.openai.com"\nvariable = "A"', 6, "declared_models"),
        ("python", '[[hosts]]\nhost = "10.0.0.1"\nvariable = "A"', 6, "is an IP address"),
        ("command", OTHER_TOKEN, 9, "the variable OTHER_TOKEN does not name api.acme.example"),
        ("python", 'licence = "Apache 2"', 5, "SPDX"),
        ("python", 'self_reported = ["speed"]', 5, "'speed' cannot be self-reported"),
        ("python", "[parameters]\nclass = 1", 6, "is not a valid name of a parameter"),
        ("python", "[parameters]\nday = 2026-01-01", 6, "is a date"),
        ("python", "[resources]\nmemory_md = 1", 6, "Did you mean 'memory_mb'?"),
        ("python", '[vendor]\nname = "V"\nnotified = "2026-02-30"', 7, "is not a date"),
        ("python", '[product]\nname = "\u0410cme"', 6, "has other characters"),
        ("python", 'homepage = "javascript:alert(1)"', 5, "not a web address"),
        ("python", "mock = true", 5, "a mock does not state what it replaces"),
        ("python", 'mock = true\n[configuration]\nmodel = "scripted"', 5, "a mock does not state what it replaces"),
        ("python", "[configuration]", 5, "[configuration] is empty"),
        ("python", '[configuration]\nembeder = "x"', 6, "Did you mean 'embedder'?"),
        ("python", '[configuration]\nmodel = " "', 6, "'configuration' is blank"),
        ("python", '[configuration]\ncaveats = "slow"', 6, "Write a list of phrases"),
        ("python", '[configuration]\nreplaced = ["a\\u202eb"]', 6, "is not printable"),
        ("python", '[product]\npackage = "acme"', 5, "'product.name' is missing"),
        ("python", '[product]\nname = "A"\nhomepage = "acme"', 7, "not a web address"),
        ("python", '[product]\nname = "A"\nlicence_digest = "abc"', 7, "Write sha256:"),
        ("python", TWO_LICENCES, 8, "both 'licence' and 'licence_digest' are given"),
        ("python", NO_MODE, 9, "'variants.a.configuration.mode'"),
        ("python", 'summary = "a\\u202eb"', 5, "is not printable"),
    ],
)
def test_what_fields_demand_of_one_another_is_told_by_line(
    folder: Path, kind: str, rest: str, line: int, sentence: str
) -> None:
    manifest = of_kind(folder, kind, rest)
    told = [str(fault) for fault in examined_folder(folder)[1]]
    assert any(each.startswith(f"{manifest}:{line}: ") and sentence in each for each in told), told


def test_a_tool_can_stand_for_each_call_that_the_driver_makes(folder: Path) -> None:
    driver = DRIVERS_FOLDER / "mcp_server.py"
    assert f"\nCALLS = {json.dumps(TOOL_CALLS)}\n".replace("[", "(").replace("]", ")") in driver.read_text("utf-8")
    tools = "\n".join(f'[tools.{call}]\nname = "x"' for call in TOOL_CALLS if call != "retain")
    of_kind(folder, "mcp", f'command = ["acme-mcp"]\n{tools}')
    assert examined_folder(folder)[1] == []


FIELDS = sorted(set(Submission.model_fields) - {"schema_version"})


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_of_the_wrong_type_is_refused_by_line(folder: Path, field: str) -> None:
    manifest = write(folder, f"{field} = {'3' if field != 'parameters' else '[]'}\n", "submission.toml")
    told = [str(fault) for fault in examined_folder(folder)[1]]
    assert any(each.startswith(f"{manifest}:1: '{field}") for each in told), told


@pytest.mark.parametrize("field", FIELDS)
def test_every_misspelt_field_is_refused_with_the_one_that_was_meant(folder: Path, field: str) -> None:
    write(folder, f"{field}x = 3\n", "submission.toml")
    told = [str(fault) for fault in examined_folder(folder)[1]]
    assert any(f"unknown key '{field}x'. Did you mean '{field}'?" in each for each in told), told
    assert not any(f"'{field}' is missing" in each for each in told)


def test_tricks_with_files_are_all_told_at_once(folder: Path) -> None:
    for name in ("nul.txt", ".hidden", "a:b", "Adapter.py", "bad\nname"):
        write(folder, "x = 1\n", name)
    (folder / "node_modules").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "latin.py").write_bytes(b"# \xe9\n")
    write(folder, "x" * 2_000_000, "big.txt")
    told = " ".join(str(fault) for fault in examined_folder(folder)[1])
    for sentence in (
        *("that Windows reserves", "is hidden", "a:b: has a name", "only by upper and lower case", "bad\\nname: has"),
        *("made by an installer", "neither a file nor a folder", "latin.py:1: is not UTF-8", "without lock files"),
    ):
        assert sentence in told, sentence


def test_too_many_files_are_refused_without_reading_them(folder: Path) -> None:
    for number in range(300):
        (folder / f"{number}.txt").touch()
    assert "holds more than 200 files" in refusal(folder)


def test_two_submissions_of_one_name_are_refused(folder: Path) -> None:
    other = folder.parent / "ACME"
    other.mkdir()
    write(other, MANIFEST, "submission.toml")
    assert "'acme' is also the name of the submission in ACME." in refusal(folder)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def as_toml(value: object) -> str:
    """Return a value as TOML; what it has no form for is left as it is, and so no TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {as_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return str(value) if isinstance(value, float | datetime.date) else json.dumps(value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(FIELDS), values, max_size=6))
def test_any_manifest_is_a_submission_or_refused_in_sentences(tmp_path: Path, data: dict[str, object]) -> None:
    manifest = write(tmp_path, "".join(f"{key} = {as_toml(value)}\n" for key, value in data.items()), "submission.toml")
    submission, faults = examined_manifest(manifest)
    assert submission is not None or faults
    assert all(str(fault).startswith(str(manifest)) and str(fault).isprintable() for fault in faults)


def test_the_page_for_submitters_has_every_field() -> None:
    page = (Path(__file__).parents[2] / "site" / "submit.md").read_text("utf-8")
    table = page.partition("## Every field of submission.toml")[2].partition("\n## ")[0]
    assert [field for field in Submission.model_fields if f"`{field}`" not in table] == []


@pytest.mark.parametrize("version", [0, -1])
def test_a_schema_version_that_never_was_is_refused(folder: Path, version: int) -> None:
    rest = f'schema_version = {version}\nslug = "acme"\nname = "Acme"\nversion = "1"\n'
    manifest = write(folder, rest, "submission.toml")
    with pytest.raises(BadInput, match=rf"{manifest}:1: there is no schema version {version}\. Write 1\."):
        folder_source(folder)


def test_a_server_that_does_not_start_is_put_down_to_the_submission(folder: Path) -> None:
    manifest = of_kind(folder, "http", 'command = ["./serve", "{port}"]\n[resources]\nstart_seconds = 5')
    (folder / "serve").chmod(0o755)
    with pytest.raises(BadInput) as refused:
        _greeted(folder_source(folder))
    assert refused.value.where == str(manifest)


def test_who_maintains_a_product_is_read_and_a_blank_answer_is_refused(folder: Path) -> None:
    head = 'schema_version = 1\nslug = "acme"\nname = "Acme"\nversion = "1"\n[interests]\n'
    manifest = write(folder, f'{head}product = "Acme Ltd"\nrelation = "none"\n', "submission.toml")
    submission, faults = examined_manifest(manifest)
    assert not faults
    assert submission is not None and submission.interests is not None
    assert (submission.interests.product, submission.interests.relation) == ("Acme Ltd", "none")
    for rest, problem in (
        ('product = "Acme Ltd"\n', "relation"),
        ('product = " "\nrelation = "none"\n', "is blank"),
        ('product = "Acme Ltd"\nrelation = "\\u202e"\n', "not printable"),
    ):
        _submission, found = examined_manifest(write(folder, head + rest, "submission.toml"))
        assert any(problem in str(fault) for fault in found), rest
