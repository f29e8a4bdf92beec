"""Write the golden files: run it with the version that others are to be compared with.

python -m tests.golden.make
"""

import json
from pathlib import Path

from .cases import fitted_cases, kept, out_of_fold

FOLDER = Path(__file__).parent


def main():
    golden = {}
    for name, model, X in fitted_cases():
        golden[name] = kept(model, X)
        print(name)
    golden["out of fold"] = out_of_fold()
    (FOLDER / "golden.json").write_text(json.dumps(golden, indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
