# chromadb 1.5.9, Python 3.11: is a document found by another process that had the collection open before?
import subprocess, sys, tempfile, time, chromadb
def collection(folder): return chromadb.PersistentClient(folder).get_or_create_collection("ccc", embedding_function=None)
def found(c): return len(c.query(query_embeddings=[[9.0, 9.0]], n_results=2)["ids"][0]), c.count(), len(c.get(ids=["1"])["ids"])
if len(sys.argv) > 1:
    c = collection(sys.argv[1])
    print(found(c), flush=True)
    for _ in sys.stdin:
        print(found(c), flush=True)
else:
    folder = tempfile.mkdtemp()
    c = collection(folder); c.add(ids=["0"], embeddings=[[0.0, 0.0]])
    other = subprocess.Popen([sys.executable, __file__, folder], stdin=-1, stdout=-1, text=True, bufsize=1)
    print("(query, count, get) other process opens:", other.stdout.readline().strip())
    c.add(ids=["1"], embeddings=[[9.0, 9.0]])
    for seconds in (0, 5, 60):
        time.sleep(seconds); other.stdin.write("?\n")
        print(f"after {seconds} s more: writer {found(c)}, other {other.stdout.readline().strip()}")
