"""Pages of the reference that are made from what the programs themselves say."""

import json
import re

from links import ROOT

HELP = ROOT / "tests/integration/golden"
# Each with its members, or all that are public, and whether people make objects of its classes themselves.
API = {
    "gangrun": (["run", "attach", "Run", "Task"], False),
    "gangrun.TaskSpec": (None, True),
    "gangrun.task": (None, True),
    "gangrun.errors": (None, False),
    "gangrun.environments": (None, True),
    "gangrun.spark": (None, False),
    "gangrun.tf_yarn": (None, True),
    "gangrun.tf_skein": (None, True),
    "gangrun.tensorflowonspark.TFCluster": (None, False),
    "gangrun.tensorflowonspark.TFNode": (None, False),
    "gangrun.tensorflowonspark.TFParallel": (None, False),
    "gangrun.tensorflowonspark.dfutil": (None, False),
    "gangrun.tensorflowonspark.pipeline": (None, True),
    "gangrun.compat": ([], False),
}


def help_page():
    """The texts that a test of the gate compares with what the commands print."""
    parts = ["# Help of the commands\n\nWhat `COMMAND --help` prints. What the help does not say is in [the commands](../commands.md).\n"]
    paths = sorted(HELP.glob("help_*.txt"), key=lambda path: (path.stem != "help_gangrun", path.stem != "help_run", path.stem))
    for path in paths:
        name = path.stem.removeprefix("help_")
        own = name in ("gangrun", "ytf-submit", "tf-spawner", "check_hadoop_env")
        parts.append(f"## {name if own else f'gangrun {name}'}\n\n```text\n{path.read_text().rstrip()}\n```\n")
    return "\n".join(parts)


def kind_of(schema, value):
    """What a value of the schema may be, in words."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        inner = schema["$defs"][name]
        return f"[{name}](#{name})" if "properties" in inner else kind_of(schema, inner)
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if "oneOf" in value or "anyOf" in value:
        kinds = [kind_of(schema, one) for one in value.get("oneOf") or value["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    kind = value.get("type", "anything")
    if kind == "array":
        return f"list of {kind_of(schema, value.get('items', {}))}"
    if kind == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"map of names to {kind_of(schema, value['additionalProperties'])}"
    limits = [f"from {value['minimum']:,}" if "minimum" in value else "", f"to {value['maximum']:,}" if "maximum" in value else ""]
    words = {"object": "map", "string": "text", "integer": "whole number", "boolean": "`true` or `false`"}
    names = " or ".join(words.get(one, one) for one in (kind if isinstance(kind, list) else [kind]))
    return " ".join([names, *filter(None, limits)])


def meaning(schema, value):
    """A description, or the one of what the value refers to."""
    for one in (value, *value.get("oneOf", ())):
        while "$ref" in one and "description" not in one:
            one = schema["$defs"][one["$ref"].rpartition("/")[2]]
        if "description" in one:
            return one["description"]
    return ""


def table(schema, described):
    lines = ["| key | value | meaning | default |", "|---|---|---|---|"]
    for key, value in described["properties"].items():
        default = f"`{json.dumps(value['default'])}`" if "default" in value else ""
        cells = [f"`{key}`", kind_of(schema, value), meaning(schema, value), default]
        lines.append("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in cells) + " |")
    return "\n".join(lines)


def keys_page():
    schema = json.loads((ROOT / "docs/job.schema.json").read_text())
    parts = ["# Keys of the job file\n", "All keys, from the [JSON Schema](../job.schema.json) that editors use. "
             "[The job file and the flags](../job.md) explains them.\n", "## job\n", table(schema, schema)]
    for name, described in schema["$defs"].items():
        if "properties" in described:
            parts.append(f"\n## {name}\n\n{described.get('description', '')}\n\n{table(schema, described)}")
    return "\n".join(parts) + "\n"


def api_page():
    parts = ["# Python API\n\nFrom the package's own signatures and docstrings. The guide is [From Python](../python.md).\n"]
    for path, (members, made) in API.items():
        options = {"heading_level": 2, "merge_init_into_class": made} | ({} if members is None else {"members": members})
        parts.append(f"::: {path}\n    options: {json.dumps(options)}\n")
    return "\n".join(parts)


def folder_page(folder, title):
    """A list of the pages of a folder of docs/."""
    titles = ((path.name, path.read_text().partition("\n")[0].lstrip("# ")) for path in sorted((ROOT / "docs" / folder).glob("*.md")))
    return f"# {title}\n\n" + "".join(f"- [{title}]({name})\n" for name, title in titles)


def pages():
    """{where on the site: Markdown}."""
    return {"decisions/index.md": folder_page("decisions", "Decisions"), "protocols/index.md": folder_page("protocols", "Protocols"),
            "reference/help.md": help_page(), "reference/keys.md": keys_page(), "reference/python.md": api_page()}
