"""Build dist/: the source distribution, and of it a wheel for each version of Python.

The C++ runtime is linked into wheels, so that they need no newer one than what is installed; `auditwheel` finds which
systems they run on, and names them accordingly.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from interpreters import interpreters

# Only what is used of the runtime: other parts of it would ask for a newer C library.
LINKING = "-static-libstdc++ -Wl,--exclude-libs,ALL -Wl,--gc-sections"
DIST = Path("dist")


def run(*command: str) -> None:
    """Run a command, which must succeed; tools of this environment are found."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(command, check=True, env={**os.environ, "PATH": path})


def main() -> None:
    """Build all of it anew."""
    found = interpreters()
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", str(DIST))
    (source,) = DIST.glob("*.tar.gz")
    for version, python in found.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"Python {version}", flush=True)
            settings = f"--config-settings=cmake.define.CMAKE_MODULE_LINKER_FLAGS={LINKING}"
            run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, settings, str(source))
            (wheel,) = Path(folder).glob("*.whl")
            run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(DIST), str(wheel))
    for path in sorted(DIST.iterdir()):
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


main()
