"""mem0's open-source library: what the user id * reaches, and what a deletion leaves."""

import os
import tempfile

os.environ |= {"MEM0_DIR": tempfile.mkdtemp(), "MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}

from langchain_core.embeddings import DeterministicFakeEmbedding
from mem0 import Memory

STORE = {"path": tempfile.mkdtemp(), "embedding_model_dims": 8}
EMBEDDER = {"provider": "langchain", "config": {"model": DeterministicFakeEmbedding(size=8)}}
memory = Memory.from_config({"embedder": EMBEDDER, "vector_store": {"provider": "qdrant", "config": STORE}})
for user in ("ana", "ben", "*"):
    memory.add([{"role": "user", "content": f"The code of {user} is secret."}], user_id=user, infer=False)
of_ana = memory.get_all(filters={"user_id": "ana"})["results"][0]["id"]
print("user * reads:", sorted(each["memory"] for each in memory.get_all(filters={"user_id": "*"})["results"]))
memory.delete_all(user_id="*")
print("after user * deleted its memories, ana has:", memory.get_all(filters={"user_id": "ana"})["results"])
print("the history still has:", [each["old_memory"] for each in memory.history(of_ana) if each["event"] == "DELETE"])
