"""Run the numeric tests as processors with fewer instructions would: AVX2 without AVX-512, and neither.

Other instructions round, add up and choose kernels differently, in numpy, OpenBLAS, torch and our own code.
"""

import os
import platform
import subprocess
import sys

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

PARTS = [
    "engines", "functions", "training", "sets", "tokens", "golden",
    "models/test_order.py", "models/test_contributions.py",
]  # fmt: skip

# Only what this numpy was built for and this processor has: other names would be refused.
dispatched = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
combinations = {
    "baseline": {
        "CLEARSET_ISA": "baseline",
        "NPY_DISABLE_CPU_FEATURES": " ".join(dispatched),
        "ATEN_CPU_CAPABILITY": "default",
    }
}
if platform.machine().lower() in ("x86_64", "amd64"):
    combinations["baseline"]["OPENBLAS_CORETYPE"] = "Nehalem"
    if __cpu_features__["AVX2"]:
        combinations["avx2"] = {
            "CLEARSET_ISA": "avx2",
            "NPY_DISABLE_CPU_FEATURES": " ".join(
                name for name in dispatched if name.startswith("AVX512") or name == "X86_V4"
            ),
            "ATEN_CPU_CAPABILITY": "avx2",
            "OPENBLAS_CORETYPE": "Haswell",
        }

for name, settings in combinations.items():
    print(f"Numeric tests, {name}: {settings}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", *(f"tests/{part}" for part in PARTS)]
    finished = subprocess.run(command, env={**os.environ, **settings}, check=False)
    if finished.returncode:
        sys.exit(finished.returncode)
