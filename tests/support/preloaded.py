"""What commands of ``memeval`` import once they are at it, and the vocabulary that they count tokens with.

The process that :mod:`tests.support.commands` forks others from imports this.
"""

import aiolimiter  # noqa: F401
import genai_prices.data_snapshot
import openai
import tenacity  # noqa: F401

import memeval.api
import memeval.cli.main
import memeval.gateway.serving.model_server  # noqa: F401
from memeval.tokens import count_tokens

count_tokens("one")
genai_prices.data_snapshot.get_snapshot()
openai.DefaultAioHttpClient(verify=False)
