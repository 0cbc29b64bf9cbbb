# langgraph-checkpoint-sqlite, Python 3.11: does the SQLite store embed the fields that its index names?
import sys
import pysqlite3
sys.modules["sqlite3"] = pysqlite3  # a build of SQLite that loads extensions
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

embedded = []
index = {"dims": 2, "embed": lambda texts: embedded.extend(texts) or [[1.0, 0.0]] * len(texts), "fields": ["text"]}
with SqliteStore.from_conn_string(":memory:", index=dict(index)) as store:
    store.setup()
    for each in (InMemoryStore(index=dict(index)), store):
        embedded.clear()
        each.put(("notes",), "1", {"text": "The tent is yellow.", "author": "Boris"})
        print(type(each).__name__, "embeds", *embedded)
