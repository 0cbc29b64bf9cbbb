"""The wheel alone, in an empty environment: creates a board, runs its first submission and publishes."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from memeval.systems.environments.tools import uv_settings

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_installed_memeval_creates_a_board_runs_its_first_submission_and_publishes(tmp_path: Path) -> None:
    def call(*command: str, cwd: Path = tmp_path) -> str:
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        environment |= uv_settings()
        done = subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    call(sys.executable, "-m", "build", "--wheel", "--installer", "uv", "--outdir", str(tmp_path / "dist"), str(ROOT))
    (wheel,) = (tmp_path / "dist").glob("memeval_leaderboard-*.whl")
    venv.create(tmp_path / "empty")
    python = tmp_path / "empty" / "bin" / "python"
    lock = ROOT / "requirements.lock"
    uv = str(Path(sys.executable).with_name("uv"))
    call(uv, "pip", "install", "--quiet", "--python", str(python), "-c", str(lock), str(wheel))
    memeval = str(tmp_path / "empty" / "bin" / "memeval")
    board = tmp_path / "board"
    call(memeval, "init", str(board), "--title", "Ours")
    call(memeval, "run", "first-memory", "--benchmark", "beliefs@2", "--parameter", "size=2", cwd=board)
    assert "scores       ok: 1 run\n" in call(memeval, "verify", cwd=board)
    assert "equal" in call(memeval, "reproduce", "results", cwd=board)
    call(memeval, "publish", cwd=board)
    front = (board / "public" / "latest" / "index.html").read_text(encoding="utf-8")
    assert "first-memory" in front and "<h1>Ours</h1>" in front
    assert "ok" in call(memeval, "publish", "--check", cwd=board)
    assert str(ROOT) not in call(str(python), "-c", "import memeval; print(memeval.__file__)")
