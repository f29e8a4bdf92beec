from typing import Any


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Return whether a value fits a JSON schema, for the keywords that are used here."""
    kinds = {"string": str, "array": list, "object": dict, "null": type(None), "boolean": bool}
    if "anyOf" in schema and not any(fits(value, each) for each in schema["anyOf"]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "const" in schema and value != schema["const"]:
        return False
    if "type" in schema:
        wanted = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        right = {"number": number, "integer": number and value == int(value)}
        if not any(right[each] if each in right else isinstance(value, kinds[each]) for each in wanted):
            return False
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return False
        parts = zip(value, schema.get("prefixItems", []), strict=False)
        return all(fits(*part) for part in parts) and all(fits(each, schema.get("items", {})) for each in value)
    if isinstance(value, dict):
        properties, more = schema.get("properties", {}), schema.get("additionalProperties", {})
        if not set(schema.get("required", [])) <= set(value):
            return False
        return all(
            fits(each, properties[name]) if name in properties else more is not False and fits(each, more)
            for name, each in value.items()
        )
    return True
