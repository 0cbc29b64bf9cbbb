# pgserver 0.1.4, Python 3.11, as root on Linux: does a database start after a power cut? ext4 in a file, default mount.
import os, subprocess, sys, tempfile, pgserver
run = lambda *command: subprocess.run(command, check=True, capture_output=True, text=True).stdout
if len(sys.argv) > 2:
    print(pgserver.get_server(sys.argv[1], cleanup_mode=None).psql(sys.argv[2]).split()[-3], flush=True); os._exit(0)
apart = "unshare", "--user", "--map-user=1000", "--pid", "--fork", "--mount-proc"  # not as root; all processes end with it
psql = lambda sql: run(*apart, sys.executable, __file__, f"{disk}/data", sql).strip()
folder = tempfile.mkdtemp(); image, copy, disk = (f"{folder}/{name}" for name in ("image", "copy", "disk"))
os.mkdir(disk); run("truncate", "-s", "512M", image); run("mkfs.ext4", "-q", image); run("mount", "-o", "loop", image, disk)
os.mkdir(f"{disk}/data"); os.sync()
rows = psql("create table t as select generate_series(1, 50); select pg_sleep(8); select count(*) from t")
run("cp", "--sparse=always", image, copy); run("umount", disk); run("mount", "-o", "loop", copy, disk)  # unsynced
try:
    print(f"rows before: {rows}, after: {psql('select count(*) from t')}")
except subprocess.CalledProcessError as error:
    for name in (".handle_pids.json", "postmaster.pid"):  # of pgserver and of the server that was killed
        os.remove(f"{disk}/data/{name}")
    print(f"rows before: {rows}, after: {error.stderr.splitlines()[-1]}, without that file: {psql('select count(*) from t')}")
run("umount", disk)
