"""Stages as processes of three hosts, which are namespaces of this one with a switch between them: this process is on the
first host, and an ssh daemon on each of the others. Needs root, ip, tc, sshd and mpirun; where Slurm is, its srun as well.

usage: hosts_test.py LAB BITS WRONG_WORKERS [CASE]"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

LAB, BITS, WRONG_WORKERS = sys.argv[1:4]
SSHD = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
ADDRESSES = {"first": "10.77.0.1", "second": "10.77.0.2", "third": "10.77.0.3"}
OWN_NAMESPACES = ["unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def run(*command: str) -> None:
    subprocess.run(command, check=True)


class Hosts:
    """The hosts "second" and "third", as processes of init in their own namespaces."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        run("mount", "--make-rprivate", "/")
        for place in ("/run", "/dev/shm"):
            run("mount", "-t", "tmpfs", "none", place)
        folder.mkdir()
        os.mkdir("/run/sshd")
        os.mkdir("/run/own")  # of each host, as its /tmp would be
        for key in ("host", "user"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key))
        (folder / "sshd").write_text(f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nStrictModes no\n"
                                     "PermitRootLogin yes\nUsePAM no\nPidFile none\nSetEnv TMPDIR=/run/own\n")
        (folder / "names").write_text("".join(f"{address} {name}\n" for name, address in ADDRESSES.items()))
        run("mount", "--bind", str(folder / "names"), "/etc/hosts")
        run("hostname", "first")
        for command in ("link set lo up", "link add switch type bridge", "link set switch up", f"addr add {ADDRESSES['first']}/24 dev switch"):
            run("ip", *command.split())
        self.init = {name: self.start(name) for name in ("second", "third")}
        (folder / "hosts").write_text("".join(f"{name} slots=1\n" for name in ADDRESSES))
        self.allocate: list[str] = []
        self.launcher = f"mpirun --hostfile {folder}/hosts"
        agent = f"ssh -i {folder}/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
        os.environ.update(OMPI_MCA_plm_rsh_agent=agent, TMPDIR=str(folder), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def start(self, name: str) -> int:
        """The process whose end is the host's; its link here has the host's name."""
        lines = [f"hostname {name}", "mount -t tmpfs none /run/own", "mount -t tmpfs none /dev/shm",
                 "until ip link show eth; do sleep 0.02; done", "ip link set lo up",
                 f"ip addr add {ADDRESSES[name]}/24 dev eth", "ip link set eth up", f"exec {SSHD} -D -e -f {self.folder}/sshd"]
        with open(self.folder / f"{name}.log", "w") as log:
            outside = subprocess.Popen([*OWN_NAMESPACES, "sh", "-c", "\n".join(lines)], stdout=log, stderr=log).pid
        init = wait_for(lambda: pathlib.Path(f"/proc/{outside}/task/{outside}/children").read_text().split())[0]
        run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth", "netns", init)
        run("ip", "link", "set", name, "master", "switch", "up")
        wait_for(lambda: "Server listening" in (self.folder / f"{name}.log").read_text())
        return int(init)

    def use_slurm(self) -> None:
        """Its daemons on all hosts, without munge; srun within an allocation instead of mpirun."""
        (self.folder / "state").mkdir()
        (self.folder / "mpi.conf").write_text("PMIxCliTmpDirBase=/run/own\n")
        nodes = "".join(f"NodeName={name} CPUs=2\n" for name in ADDRESSES)
        daemons = "".join(f"{daemon}PidFile={self.folder}/{daemon}.%n.pid\n{daemon}LogFile={self.folder}/{daemon}.%n.log\n"
                          for daemon in ("Slurmctld", "Slurmd"))
        (self.folder / "slurm.conf").write_text(
            "ClusterName=lab\nSlurmctldHost=first\nAuthType=auth/none\nCredType=cred/none\nSlurmUser=root\nReturnToService=2\n"
            f"ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n{daemons}{nodes}"
            f"StateSaveLocation={self.folder}/state\nSlurmdSpoolDir={self.folder}/spool.%n\n"
            "PartitionName=all Nodes=ALL Default=YES State=UP\n")
        os.environ["SLURM_CONF"] = str(self.folder / "slurm.conf")
        run("slurmctld")
        run("slurmd", "-N", "first")
        for name, init in self.init.items():
            run("nsenter", "--pid", "--mount", "--net", "--uts", "--target", str(init), "slurmd", "-N", name)
        self.allocate = ["salloc", "--quiet", "--nodes", "3", "--ntasks-per-node", "1"]
        self.launcher = "srun --mpi=pmix"

    def lab(self, *arguments: str, wrong: bool = False) -> subprocess.Popen:
        """Starts a call of the program with a process on each host."""
        environment = {**os.environ, "LAB_WORKERS": WRONG_WORKERS} if wrong else os.environ
        command = [*self.allocate, LAB, *arguments, "--device", "emulator", "--processes", "3", "--mpirun", self.launcher]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def has_rank(self, name: str) -> bool:
        """Whether Open MPI has got that far there; a host that stands still before it is Open MPI's to bear."""
        return self.on(name, "pgrep", "-f", "serve-at") == 0

    def signal(self, name: str, signal: str) -> None:
        """To all that mpirun has started on a host."""
        self.on(name, "pkill", f"-{signal}", "-f", "orted|serve-at")

    def on(self, name: str, *command: str) -> int:
        """Its exit code, of a command there."""
        command = ("nsenter", "--pid", "--mount", "--target", str(self.init[name]), *command)
        return subprocess.run(command, stdout=subprocess.DEVNULL).returncode


def wait_for(found, seconds: float = 60):
    end = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return value


def processes_left() -> list[str]:
    """Of all hosts."""
    lines = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(entry.read_text().replace("\0", " "))
        except OSError:  # it has ended
            pass
    return [line for line in lines if "orted" in line or "--serve-at" in line or line.startswith("mpirun")]


def right(hosts: Hosts) -> None:
    """Same bits as one process with three devices."""
    alone = subprocess.run([BITS, "3"], check=True, capture_output=True, text=True).stdout
    assert alone.count("\n") == 3, alone
    together = subprocess.run([*hosts.allocate, *hosts.launcher.split(), "-n", "3", BITS], capture_output=True, text=True)
    assert together.stdout == alone, (alone, together)


def slurm(hosts: Hosts) -> None:
    hosts.use_slurm()
    right(hosts)
    said = hosts.lab("verify", "*_gpus/0[35]*", "--quick").communicate()[0]
    assert "3 ok, 0 failed" in said, said
    message = ended(hosts, lambda: None, "--timeout", "2")
    assert "no answer within" in message, message


def slow(hosts: Hosts) -> None:
    """A host behind a slow link that stands still for a while, and then goes on: the stage is right."""
    run(*"tc qdisc add dev second root tbf rate 4mbit burst 3kb latency 400ms".split())
    called = hosts.lab("run", "moving_average_gpus/03*", "--n", "20001")
    wait_for(lambda: hosts.has_rank("second"))
    time.sleep(0.5)
    hosts.signal("second", "STOP")
    time.sleep(3)
    hosts.signal("second", "CONT")
    said = called.communicate()[0]
    assert called.returncode == 0 and "1 ok, 0 failed" in said, said


def ended(hosts: Hosts, deed, *limit: str) -> str:
    """What the row says of a host that something happens to while the others wait for its rank."""
    record = hosts.folder / "results.json"
    called = hosts.lab("verify", "reduction_gpus/hangs", "--quick", *limit, "--json", str(record), wrong=True)
    said = ""
    while "waiting: rank 0 of 3 on first, to which rank 1 on second has sent nothing" not in said:
        line = called.stdout.readline()
        assert line, said
        said += line
    deed()
    said += called.communicate()[0]
    assert called.returncode == 1, (called.returncode, said)
    row = json.loads(record.read_text())["groups"][0]["rows"][0]
    assert row["status"] == "failed" and row["verification"] is None or not row["verification"]["passed"], row
    assert "rank 1 on second" in row["message"], said
    return row["message"]


def dies(hosts: Hosts) -> None:
    message = ended(hosts, lambda: os.kill(hosts.init["second"], 9))
    assert "the launcher ended with exit code" in message or "lost communication" in message, message


def cut(hosts: Hosts) -> None:
    """Both sides of the cut end what they have started."""
    os.environ.update(OMPI_MCA_oob_tcp_keepalive_time="1", OMPI_MCA_oob_tcp_keepalive_intvl="1", OMPI_MCA_oob_tcp_keepalive_probes="2")
    message = ended(hosts, lambda: run("ip", "link", "set", "second", "down"))
    assert "the launcher ended with exit code" in message or ("lost communication" in message and "node second" in message), message


def stands_still(hosts: Hosts) -> None:
    message = ended(hosts, lambda: hosts.signal("second", "STOP"), "--timeout", "2")
    assert "no answer within" in message, message
    hosts.signal("second", "CONT")


def unreachable(hosts: Hosts) -> None:
    """Before anything of a stage's runs."""
    os.kill(hosts.init["third"], 9)
    called = hosts.lab("verify", "reduction_gpus/03*", "--quick")
    said = called.communicate()[0]
    # Open MPI may have a warning of its own before ssh's words.
    assert called.returncode == 2 and "before rank 0 was there, and said" in said and "ssh: connect to host third" in said, said


CASES = {case.__name__: case for case in (right, slow, dies, cut, stands_still, unreachable)}
if all(map(shutil.which, ("slurmctld", "slurmd", "salloc", "srun"))):
    CASES["slurm"] = slurm


def main() -> None:
    missing = [tool for tool in ("ip", "tc", "unshare", "nsenter", "pkill", "ssh", "ssh-keygen", "mpirun") if not shutil.which(tool)]
    if missing or not SSHD:
        print("not here:", ", ".join(missing or ["sshd"]))
        sys.exit(77)  # CTest: skipped
    tried = subprocess.run([*OWN_NAMESPACES, "ip", "link", "add", "switch", "type", "bridge"], capture_output=True, text=True)
    if tried.returncode != 0:
        print("no namespaces with a network of their own:", tried.stderr)
        sys.exit(77)
    # At once: most of their time is waiting.
    running = {name: subprocess.Popen([*OWN_NAMESPACES, sys.executable, "-B", *sys.argv, name]) for name in CASES}
    failed = [name for name, process in running.items() if process.wait() != 0]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if len(sys.argv) == 5:
    CASES[sys.argv[4]](Hosts(pathlib.Path("/run/hosts")))
    wait_for(lambda: not processes_left())
else:
    main()
