"""The page of the site about the HTTP interface, from the OpenAPI description that a server gives of itself."""

import asyncio
import inspect
import json
from typing import Any

import clearset as cs
from clearset.serve import create_app


def http_page() -> str:
    """Return the page as Markdown."""
    description = _described()
    meanings: dict[str, str] = {}
    lines = [
        "# HTTP interface",
        "",
        inspect.cleandoc("""
        `clearset serve MODEL` answers these requests, and describes them at `/openapi.json` with what its model
        accepts. This page shows the description for a model over sets of strings, of two classes. Limits, keys, logs
        and a server behind a proxy: [Serving](../serving.md). [The tutorial](../tutorials/export-and-serve.md) starts a
        server and asks it, as here:
        """),
        "",
        "```bash",
        'curl -s localhost:8000/api/predict -H \'Content-Type: application/json\' -d \'{"sets": [["lime", "salt"]]}\'',
        "```",
    ]
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            lines += ["", f"## {method.upper()} {path}", "", operation["summary"], *_asked(operation)]
            statuses = {status: response["description"] for status, response in operation["responses"].items()}
            lines += ["", f"Statuses: {', '.join(statuses)}."]
            for status, meaning in statuses.items():
                meanings[status] = max(meanings.get(status, ""), meaning, key=len)
            answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
            lines += ["", *_folded("Schema of the answer", answer)]
    rows = [f"| {status} | {_cell(meaning)} |" for status, meaning in sorted(meanings.items())]
    return "\n".join([*lines, "", "## Statuses", "", "| status | meaning |", "| --- | --- |", *rows, ""])


def _asked(operation: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    asked = {each["name"]: (each["schema"], each["required"]) for each in operation.get("parameters", ())}
    if body := operation.get("requestBody"):
        schema = body["content"]["application/json"]["schema"]
        needed = schema.get("required", ())
        asked |= {name: (each, name in needed) for name, each in schema["properties"].items()}
        lines += ["", "The body is a JSON object of:"]
    elif asked:
        lines += ["", "In the address:"]
    if asked:
        lines += ["", "| name | type | needed | meaning |", "| --- | --- | --- | --- |"]
    for name, (schema, needed) in asked.items():
        kind = schema.get("type", "any")
        kind = " or ".join(kind) if isinstance(kind, list) else kind
        lines.append(f"| `{name}` | {kind} | {'yes' if needed else 'no'} | {_cell(schema.get('description', ''))} |")
    return lines


def _folded(title: str, schema: Any) -> list[str]:
    text = json.dumps(schema, indent=2).splitlines()
    return [f'??? note "{title}"', "", "    ```json", *(f"    {line}" for line in text), "    ```"]


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())


def _described() -> dict[str, Any]:
    """Ask an application for its description, without a network."""
    recipes, cuisines = [["salt", "lime"], ["feta", "salt"]] * 20, ["thai", "greek"] * 20
    model = cs.SemanticClassifier(cs.Items(), random_state=0).fit(recipes, cuisines)
    app, body = create_app(model, recipes, cuisines), bytearray()
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/openapi.json",
        "raw_path": b"/openapi.json",
        "query_string": b"",
    }
    scope |= {"headers": [(b"host", b"localhost")], "http_version": "1.1", "scheme": "http", "root_path": ""}
    scope |= {"server": ("localhost", 80), "client": ("127.0.0.1", 1)}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        body.extend(message.get("body", b""))

    asyncio.run(app(scope, receive, send))
    return json.loads(body)
