# lancedb 0.40.0, Python 3.11: is a row found by another process that had the table open before?
import subprocess, sys, tempfile, time, lancedb
def table(folder): return lancedb.connect(folder).open_table("t")
if len(sys.argv) > 1:
    t = table(sys.argv[1])
    print(t.count_rows(), flush=True)
    for _ in sys.stdin:
        print(len(t.search([9.0, 9.0]).limit(5).to_list()), flush=True)
else:
    folder = tempfile.mkdtemp()
    t = lancedb.connect(folder).create_table("t", [{"id": 0, "vector": [0.0, 0.0]}])
    other = subprocess.Popen([sys.executable, __file__, folder], stdin=-1, stdout=-1, text=True, bufsize=1)
    print("other process opens: rows", other.stdout.readline().strip())
    t.add([{"id": 1, "vector": [9.0, 9.0]}])
    for seconds in (0, 5, 60):
        time.sleep(seconds); other.stdin.write("?\n")
        print(f"after {seconds} s more: writer finds {len(t.search([9.0, 9.0]).limit(5).to_list())}, other finds {other.stdout.readline().strip()}")
