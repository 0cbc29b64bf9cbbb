# lancedb 0.40.0, Python 3.11, as root on Linux: does a table open after a power cut? ext4 in a file, default mount.
import os, subprocess, sys, tempfile, lancedb
run = lambda *command: subprocess.run(command, check=True, capture_output=True)
if len(sys.argv) > 1:
    t = lancedb.connect(sys.argv[1]).create_table("t", [{"id": 0, "vector": [0.0, 0.0]}])
    for n in range(1, 50):
        t.add([{"id": n, "vector": [float(n), 0.0]}])
    print(t.count_rows(), flush=True); os.kill(os.getpid(), 9)
folder = tempfile.mkdtemp(); image, copy, disk = (f"{folder}/{name}" for name in ("image", "copy", "disk"))
os.mkdir(disk); run("truncate", "-s", "256M", image); run("mkfs.ext4", "-q", image); run("mount", "-o", "loop", image, disk)
os.mkdir(f"{disk}/store"); os.sync()
rows = subprocess.run([sys.executable, __file__, f"{disk}/store"], capture_output=True, text=True).stdout.strip()
run("cp", "--sparse=always", image, copy); run("umount", disk); run("mount", "-o", "loop", copy, disk)  # unsynced
try:
    print(f"rows before: {rows}, after: {lancedb.connect(f'{disk}/store').open_table('t').count_rows()}")
except Exception as error:
    print(f"rows before: {rows}, after: {type(error).__name__}: {str(error).strip()[:150]}")
run("umount", disk)
