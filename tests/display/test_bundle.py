"""Modules as one script: the same as the modules themselves, and nothing else may run on the page."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import clearset as cs
from clearset.display._bundle import bundle, names, read_module, read_modules
from clearset.display._report_page import TEMPLATES

from .conftest import EXPLORER

# Private names that clash, names in braces over several lines, a whole module, and one module imported twice.
SOURCES = {
    "a.js": """
import * as Deep from "./deep/b.js";
import {
  shared,
  twice,
} from "./c.js";

const own = "a";
export const start = () => {
  globalThis.seen = [own, Deep.own(), shared.join(""), twice(4), typeof Deep.hidden, this === undefined];
};
""",
    "deep/b.js": """
import { shared } from "../c.js";

const hidden = "b";
shared.push(hidden);
export async function later() {}
export class Unused {}
export function own() {
  return hidden;
}
""",
    "c.js": """
const own = 2;
const hidden = "c";
export const shared = [hidden];
export function twice(value) {
  return own * value;
}
""",
}


def written(folder: Path, sources: dict[str, str]) -> Path:
    """Write modules; return the first."""
    for name, source in sources.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(source)
    return folder / next(iter(sources))


def test_a_bundle_does_what_its_modules_do(browser: Any, tmp_path: Path) -> None:
    code = bundle(written(tmp_path, SOURCES))
    expected = ["a", "b", "cb", 8, "undefined", True]
    page = browser.new_page()
    page.set_content(f'<!doctype html><script type="module">{code}</script>')
    assert page.evaluate("globalThis.seen") == expected
    assert page.evaluate("typeof own + typeof $module0") == "undefinedundefined"
    address = "https://modules.test/"
    js = {"content_type": "text/javascript"}
    page.route(f"{address}*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.route(
        f"{address}**/*.js", lambda route: route.fulfill(body=SOURCES[route.request.url.removeprefix(address)], **js)
    )
    page.goto(address)
    page.evaluate("import('/a.js').then(({ start }) => start())")
    assert page.evaluate("globalThis.seen") == expected
    page.close()


def test_each_module_stands_after_what_it_imports(tmp_path: Path) -> None:
    order = [path.name for path in read_modules(written(tmp_path, SOURCES))]
    assert order == ["c.js", "b.js", "a.js"]


@pytest.mark.parametrize(
    "line",
    [
        'import "./c.js";',
        'import c from "./c.js";',
        'import { own as other } from "./c.js";',
        'import { shared } from "c";',
        "import { shared } from './c.js';",
        "export default own;",
        "export { own };",
        'export * from "./c.js";',
        "export let count = 0;",
        "export const { x, y } = own;",
    ],
)
def test_what_is_not_read_is_an_error(tmp_path: Path, line: str) -> None:
    path = written(tmp_path, {"a.js": f"const own = 1;\n{line}\n", "c.js": SOURCES["c.js"]})
    with pytest.raises(ValueError, match=re.escape(f"a.js has the line {line!r}")):
        bundle(path)


def test_circles_and_names_that_are_not_exported(tmp_path: Path) -> None:
    one, other = 'import * as Other from "./b.js";\n', 'import * as One from "./a.js";\n'
    with pytest.raises(ValueError, match=re.escape("import each other: a.js -> b.js -> a.js.")):
        bundle(written(tmp_path, {"a.js": one, "b.js": other}))
    wrong = 'import { hidden, twice } from "./c.js";\n'
    with pytest.raises(ValueError, match=re.escape("a.js imports ['hidden'] from c.js, which exports")):
        bundle(written(tmp_path, {"a.js": wrong, "c.js": SOURCES["c.js"]}))


def test_every_export_is_imported_and_every_member_exported() -> None:
    modules = read_modules(EXPLORER)
    used = {(path, "start") for path in (EXPLORER, TEMPLATES / "page.js")}  # by the bundle itself
    for module in modules.values():
        for where, what in module.imports:
            members = names(what) or re.findall(rf"(?<![\w.]){what}\.(\w+)", module.body)
            used |= {(where, member) for member in members}
    assert used == {(path, name) for path, module in modules.items() for name in module.exports}


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on this machine")
@pytest.mark.parametrize("path", read_modules(EXPLORER), ids=lambda path: path.name)
def test_node_can_import_each_module_by_itself(path: Path) -> None:
    code = f"import({json.dumps(path.as_uri())}).then((all) => console.log(JSON.stringify(Object.keys(all))))"
    command = ["node", "--input-type=module", "--eval", code]
    found = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
    assert found.stderr == ""
    assert sorted(json.loads(found.stdout)) == sorted(read_module(path).exports)


def test_only_the_pages_own_script_runs(browser: Any, tmp_path: Path) -> None:
    foreign = "document.body.dataset.foreign = 'ran'"
    model = cs.SetRegressor(epochs=2, random_state=0, n_jobs=1).fit([[0.0], [1.0]], [0.0, 1.0])
    model.report(tmp_path / "report.html")
    whole = (tmp_path / "report.html").read_text(encoding="utf-8")
    more = [
        f"<script>{foreign}</script>",
        f'<script type="module">{foreign}</script>',
        f'<script type="module">import "data:text/javascript,{foreign}"</script>',
        f'<script src="data:text/javascript,{foreign}"></script>',
        f'<img src="x" onerror="{foreign}">',
    ]
    (tmp_path / "report.html").write_text(whole.replace("</body>", f"{''.join(more)}</body>"), encoding="utf-8")
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto((tmp_path / "report.html").as_uri())
    assert page.locator("#prediction").count() == 1
    assert page.locator("body").get_attribute("data-foreign") is None
    assert len([text for text in refused if "Content Security Policy" in text]) >= len(more)
    changed = whole.replace("start();\n</script>", "start()\n</script>")  # the hash is of all of it
    assert changed != whole
    (tmp_path / "report.html").write_text(changed, encoding="utf-8")
    page.goto((tmp_path / "report.html").as_uri())
    assert page.locator("#prediction").count() == 0
    page.close()
