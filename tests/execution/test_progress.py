"""Progress: how far, how fast, how dear."""

import pytest

from memeval.execution.progress import Bar, spent_so_far


@pytest.mark.parametrize(
    ("usd", "made", "cached", "words"),
    [
        (0.04213, 37, 12, ", $0.0421, 37 calls, 12 reused"),
        (0.0, 0, 12, ", $0.0000, 0 calls, 12 reused"),
        (0.5, 1, 0, ", $0.5000, 1 calls"),
        (None, 3, 0, ", price unknown, 3 calls"),
        (0.0, 0, 0, ""),
    ],
)
def test_the_cost_is_shown_if_models_were_called(usd: float | None, made: int, cached: int, words: str) -> None:
    assert spent_so_far(usd, made, cached) == words


def test_a_line_shows_rate_cost_and_time_left_and_a_new_stage_resets_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Bar, "LINE_SECONDS", 0.0)
    with Bar() as bar:
        bar.start("system on tiny@1", 10, 2)
        bar.spend(0.25, 4, 1)
        bar.advance(4, 1)
        bar.start("judging system on tiny@1", 5, 0)
        bar.advance(5, 0)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("system on tiny@1: 6/10 ")
    assert " items/s, 1 errors, $0.2500, 4 calls, 1 reused, " in first
    assert first.endswith(" s left")
    assert second.startswith("judging system on tiny@1: 5/5 ")
    assert "$" not in second


def test_slow_items_are_shown_by_their_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Bar, "LINE_SECONDS", 0.0)
    clock = iter([0.0, *[80.0] * 10])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    bar = Bar()
    bar.start("system on tiny@1", 10, 0)
    bar.advance(2, 0)
    assert capsys.readouterr().err == "system on tiny@1: 2/10 40 s/item, 320 s left\n"


def test_a_note_beside_a_bar_sends_no_control_sequence_of_a_system_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Bar() as bar:
        bar.start("system on tiny@1", 10, 0)
        bar.note("acme said \x1b]0;owned\x07\nand went on")
    shown = capsys.readouterr().err
    assert "acme said \\x1b]0;owned\\x07" in shown and "and went on" in shown
    assert "\x1b]0" not in shown and "\x07" not in shown
