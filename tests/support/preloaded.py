"""What commands of ``memeval`` import once they are at it, and the vocabulary that they count tokens with.

The process that :mod:`tests.support.commands` forks others from imports this. Pages are left out: few commands build
them.
"""

import gc
from importlib import import_module
from pkgutil import walk_packages

import aiolimiter  # noqa: F401
import genai_prices.data_snapshot
import openai
import tenacity  # noqa: F401

import memeval.api
import memeval.gateway.serving.model_server  # noqa: F401
from memeval.benchmarks import all_benchmarks
from memeval.cli.main import app
from memeval.cli.plain_help import command_of, names_of
from memeval.tokens import count_tokens

for name in ("archive", "benchmarks", "cli", "evaluation", "leaderboard", "systems.environments"):
    package = import_module(f"memeval.{name}")
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)

all_benchmarks()
for word in (None, *names_of(app)):
    command_of(app, word)
count_tokens("one")
genai_prices.data_snapshot.get_snapshot()
openai.DefaultAioHttpClient(verify=False)
gc.freeze()
