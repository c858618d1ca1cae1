"""Imported before all else: no variable of the shell in which tests are started changes what they test.

Of the environment only the machine's variables stay, so that a test that passes here passes elsewhere.
"""

import os
import tempfile

KEPT = {
    *("PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "TMPDIR", "TEMP", "TMP"),
    *("COMSPEC", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT", "WINDIR"),  # without which Windows starts nothing
    *("TF_ENABLE_ONEDNN_OPTS", "CT2_FORCE_CPU_ISA"),  # of make test-portable
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),  # pip installs in tests of installations
    "PYTEST_CURRENT_TEST",
}
FOR_PIP = "FOR_PIP_"
"""Before the names of variables that reach pip, in tests of installations, and nothing else."""
KEPT_BEGINNINGS = ("PIP_", FOR_PIP, "PYTEST_XDIST_")
GIVEN = {"HOME", "LANG"}


def is_kept(name: str) -> bool:
    return name.upper() in KEPT or name.startswith(KEPT_BEGINNINGS)


def is_for_pip(name: str) -> bool:
    return name.upper() == "CURL_CA_BUNDLE" or name.upper().endswith("_PROXY")


def for_pip() -> dict[str, str]:
    """The shell's proxies and certificates."""
    return {
        name.removeprefix(FOR_PIP): value for name, value in os.environ.items() if name.startswith(FOR_PIP)
    }


for variable in [name for name in os.environ if name not in GIVEN and not is_kept(name)]:
    value = os.environ.pop(variable)
    if is_for_pip(variable):
        os.environ[FOR_PIP + variable] = value
if "PYTEST_XDIST_WORKER" not in os.environ:  # a worker has the folder of the process that started it
    home = tempfile.TemporaryDirectory(prefix="ptenmt-tests-")
    os.environ |= {"HOME": home.name, "LANG": "C.UTF-8"}
