# llama-index-core 0.14.25, Python 3.11: is a persisted store there after its process was killed during a later persist?
import random, subprocess, sys, tempfile, time
from llama_index.core.schema import TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
if len(sys.argv) > 1:
    store = SimpleDocumentStore()
    for n in range(10_000):
        store.add_documents([TextNode(id_=str(n), text=f"text {n}")]); store.persist(sys.argv[1])
        print(n + 1, flush=True)
random.seed(7); results = []
for _ in range(20):
    file = f"{tempfile.mkdtemp()}/docstore.json"
    child = subprocess.Popen([sys.executable, __file__, file], stdout=-1, text=True)
    while int(child.stdout.readline()) < 50: pass
    time.sleep(random.uniform(0, 0.05)); child.kill()
    persisted = int(["50", *child.stdout.read().split()][-1])
    try: results.append(persisted <= len(SimpleDocumentStore.from_persist_path(file).docs))
    except ValueError as error: results.append(error)
print(f"killed 20 times; at least the persisted nodes: {results.count(True)}; unreadable: {sum(isinstance(each, ValueError) for each in results)}, such as {next(each for each in results if each is not True)}")
