"""A real cluster on one machine: Debian's Slurm with two nodes, one of which dies in the middle.

python -m tests.cluster.run [TARGET ...]    as root (make cluster-test)

A node is a slurmd with a host name and processes of its own (namespaces of Linux): it can die as a
machine does, all at once. What comes out must be what a local run gives, byte by byte. Targets are
those of `icl run`; `all` is the whole smoke workflow of the tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.golden import GOLDEN, digests
from tests.workflow.conftest import Checkout, check_out, cut_down, environment
from workflow.program.jobs import Wanted

TARGETS = ["gridworld-a", "gridworld-a-slip-10", "figure-16", "figure-01", "table-07", "table-13"]
PACKAGES = ["slurmctld", "slurmd", "slurm-client", "munge"]
# All else that they need stands in requirements.lock.
PLUGINS = [
    "snakemake-executor-plugin-slurm==2.8.0",
    "snakemake-executor-plugin-slurm-jobstep==0.6.1",
]
CONFIGURATION = Path("/etc/slurm/slurm.conf")  # jobs look there and nowhere else
PORTS = {"n1": 16821, "n2": 16822}
NODE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--uts", "sh", "-c"]
EARLY = 5  # jobs that are done before a node dies
PROFILE = ["--profile", "profiles/slurm", "--slurm-init-seconds-before-status-checks", "5"]
NO_DATABASE = ["--slurm-status-command", "squeue", "--slurm-no-account"]
SLURM = """\
ClusterName=icl-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SlurmdTimeout=10
MinJobAge=3600
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/slurmd-%n.pid
NodeName=DEFAULT CPUs=2 RealMemory=8000
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def main(targets: list[str]) -> None:
    """Run locally, run on the cluster, compare."""
    refuse_wrong_machines()
    folder = Path(tempfile.mkdtemp(prefix="icl-cluster-"))
    folder.chmod(0o711)  # munged wants everybody to reach its socket
    install(folder / "plugins")
    say(f"all that is said: {folder}")
    local, remote = (checkout(folder / name) for name in ("local", "remote"))
    with contextlib.chdir(local.path):
        command = Wanted("smoke", targets).for_snakemake()
    files = command[command.index("--") + 1 :]
    with contextlib.ExitStack() as stack:
        cluster = Cluster(folder, stack)
        timed("the local run", local.run, *files)
        timed("the run on the cluster", cluster.run, remote, files)
        say(cluster.counts())
    say(compare(local.path / "results/smoke", remote.path / "results/smoke"))
    shutil.rmtree(folder)


def refuse_wrong_machines() -> None:
    """Skip where there can be no cluster."""
    if os.geteuid() or not shutil.which("apt-get"):
        skip("it needs root, and apt-get")
    if CONFIGURATION.exists():
        skip(f"this machine has a Slurm of its own: {CONFIGURATION}")
    if not works([*NODE, "hostname n1"]):
        skip("the kernel does not let us make namespaces")


def install(plugins: Path) -> None:
    """Slurm from Debian, and Snakemake's plugin into a folder of its own."""
    apt = ["apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES]
    there = all(map(shutil.which, ("slurmctld", "slurmd", "sbatch", "munged")))
    if not (there or works(apt) or (works(["apt-get", "update"]) and works(apt))):
        skip(f"apt-get cannot install {', '.join(PACKAGES)}")
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(plugins)]
    if not works([*pip, *PLUGINS]):
        skip(f"pip cannot install {', '.join(PLUGINS)}")


def skip(reason: str) -> None:
    say(f"skipped: {reason}")
    sys.exit(0)


def say(text: str) -> None:
    print(text, flush=True)


def timed(what: str, function, *arguments) -> None:
    began = time.monotonic()
    function(*arguments)
    say(f"{what} has ended well after {time.monotonic() - began:.0f} s")


def works(command: list[str]) -> bool:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(command, env=quiet, capture_output=True).returncode == 0


def lines(*command: str) -> list[str]:
    """What a command of Slurm prints."""
    return subprocess.run(command, capture_output=True, text=True).stdout.split("\n")[:-1]


def checkout(folder: Path) -> Checkout:
    fresh = check_out(folder)
    fresh.configure(cut_down)
    return fresh


def until(true, seconds: float, what: str) -> None:
    """Wait for something that must come."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"expected within {seconds} s: {what}"
        time.sleep(0.2)


class Cluster:
    """Slurm on this machine, until the stack ends."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack):
        self.folder, self.stack = folder, stack
        socket_, key = folder / "munge.socket", folder / "munge.key"
        (folder / "state").mkdir()
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        self._write_configuration()
        places = [f"--{one}-file={folder}/munge.{one}" for one in ("key", "pid", "log", "seed")]
        self.start("munged", "munged", "--foreground", f"--socket={socket_}", *places)
        until(socket_.exists, 30, "munged")
        self.start("slurmctld", "slurmctld", "-D")
        self.nodes = {
            name: self.start(name, *NODE, f"hostname {name}; slurmd -D -N {name}") for name in PORTS
        }
        until(lambda: lines("sinfo", "-hNo%T") == ["idle"] * len(PORTS), 60, "idle nodes")

    def _write_configuration(self) -> None:
        host = socket.gethostname().partition(".")[0]
        nodes = "\n".join(
            f"NodeName={name} NodeAddr=127.0.0.1 Port={port}" for name, port in PORTS.items()
        )
        CONFIGURATION.parent.mkdir(exist_ok=True)
        CONFIGURATION.write_text(SLURM.format(host=host, folder=self.folder, nodes=nodes))
        self.stack.callback(CONFIGURATION.unlink)

    def start(self, name: str, *command: str, **how) -> subprocess.Popen:
        """A process that ends with the cluster."""
        log = self.stack.enter_context((self.folder / f"{name}.log").open("w"))
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, **how)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process

    def run(self, there: Checkout, files: list[str]) -> None:
        """Run Snakemake to its good end, and let a node die on the way."""
        base = [sys.executable, "-m", "snakemake", "--config", "scale=smoke"]
        env = {**environment(), "PYTHONPATH": str(self.folder / "plugins")}
        command = [*base, *PROFILE, *NO_DATABASE, "--", *files]
        process = self.start("snakemake", *command, cwd=there.path, env=env)
        records = there.path / "results/smoke/benchmarks"
        before: set[str] = set()
        killed: set[str] = set()
        while process.poll() is None:
            running = set(lines("squeue", "-hw", "n1", "-tR", "-o%i"))
            if not killed and running & before and len(list(records.rglob("*.tsv"))) >= EARLY:
                killed = running
                self.nodes["n1"].kill()
                say(f"node n1 is killed, and with it the jobs {', '.join(sorted(killed))}")
            before = running
            time.sleep(2)
        said = (self.folder / "snakemake.log").read_text()
        assert process.returncode == 0, said[-3000:]
        assert killed, "the run ended before a node was killed"
        (state,) = lines("sinfo", "-hnn1", "-o%t")
        assert state.startswith("down"), state
        failed = lines("squeue", "-h", "-tNODE_FAIL", "-o%i")
        assert killed & set(failed), f"of {killed} none has failed, but {failed}"

    def counts(self) -> str:
        """How many jobs each node was given."""
        said = (self.folder / "slurmctld.log").read_text()
        found = Counter(re.findall(r"Allocate JobId=\d+ NodeList=(\w+)", said))
        assert set(found) == set(PORTS), said[-3000:]
        return ", ".join(f"{count} jobs on {name}" for name, count in sorted(found.items()))


def compare(local: Path, remote: Path) -> str:
    """All files but logs and times are the same bytes, and the numbers are the golden ones."""
    ours, theirs = (
        {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and path.relative_to(folder).parts[0] not in ("logs", "benchmarks")
        }
        for folder in (local, remote)
    )
    differ = sorted(name for name in ours.keys() | theirs if ours.get(name) != theirs.get(name))
    # Table 12 and the page show how long jobs took.
    differ = [name for name in differ if not re.search("table-12|report", name)]
    assert not differ, f"differ from a local run: {', '.join(differ)}"
    found, golden = digests(remote), json.loads(GOLDEN.read_text())
    wrong = [name for name, digest in found.items() if golden.get(name) != digest]
    assert found and not wrong, f"differ from {GOLDEN}: {', '.join(wrong)}"
    return f"{len(ours)} files are those of a local run, {len(found)} of them in {GOLDEN.name}"


if __name__ == "__main__":
    main(sys.argv[1:] or TARGETS)
