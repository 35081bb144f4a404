"""A place is named by its own rooms and by the list of places, and nowhere else."""

import ast
import functools
import json
import pathlib
import re

import pytest

from house import cpp_files, read, report

# By place: its rooms, and how code names it. That a header of its rooms is included counts too.
PLACES = {
    "local": ("local", r'\b(?:local::)?commands::kLocal\b|"local"|#include "local/'),
    "yarn": ("yarn", r'\bkYarn\b|\bYarnOptions\b|"yarn"|#include "yarn/'),
    "kubernetes": ("kubernetes", r'\bkKubernetes\b|\bkK8s\b|\bKubernetesOptions\b|"(?:kubernetes|k8s)"|#include "kubernetes/pods/'),
    "ssh": ("ssh", r'\bkSsh\b|\bSshOptions\b|"ssh"|#include "ssh/'),
    "spark": ("spark", r'\bkSpark\b|"spark"|#include "spark/'),
}
# The fields of their sections: "kubernetes.namespace". Hadoop's own properties begin with "yarn." too.
FIELD = r"(?<![\w.]){}\.(?!io/)[a-z_]"
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"')
HADOOP = "src/hadoop/"
# Who lists them.
LIST = "src/places/"
EXCEPTIONS = {
    "src/job/spec.h": "where a job runs that does not say it",
    "src/ssh/node/host_facts.cc": "on each host a keeper uses the machine as if it were the only place",
    "src/ssh/node/host_facts.h": "likewise",
    "src/ssh/node/keeper.cc": "likewise",
    "src/ssh/node/keeper_internal.h": "likewise",
    "src/agent/gangrun_agent_main.cc": "the agent's program is the master's too, where that is in a container",
}


def is_for_tests(path):
    return path.stem.endswith(("_test", "_for_tests")) or path.stem.startswith("test_")


def named_places(path, text):
    """The places that this source names and that are not its own. Comments may name any: they say why."""
    if str(path).startswith(LIST):
        return []
    code = re.sub(r"//.*", "", text)
    told = "" if str(path).startswith(HADOOP) else "\n".join(LITERAL.findall(code))
    return [place for place, (room, names) in PLACES.items() if not str(path).startswith(f"src/{room}/")
            and (re.search(names, code) or re.search(FIELD.format(place), told))]


@functools.cache
def naming_sources():
    return {str(path): places for path in cpp_files() if not is_for_tests(path)
            for places in [named_places(path, read(path))] if places}


def test_no_room_but_its_own_names_a_place():
    offences = [f"{path} names {', '.join(places)}" for path, places in naming_sources().items()
                if path not in EXCEPTIONS]
    assert not offences, report(offences)


def test_python_starts_jobs_on_all_places_but_sparks():
    """On Spark its driver starts the job, by a class of its own."""
    known = json.loads(read("docs/job.schema.json"))["properties"]["on"]["enum"]
    names = {target.id: ast.literal_eval(node.value) for node in ast.parse(read("python/gangrun/_places.py")).body
             if isinstance(node, ast.Assign) for target in node.targets}
    assert set(names["PLACES"]) == set(known) - {"k8s", "spark"}
    assert set(names["LED_FROM_HERE"]) | set(names["OTHER_TOOLS"]) <= set(names["PLACES"])


def test_exceptions_are_still_needed():
    offences = [f"{path} names no place any more" for path in EXCEPTIONS if path not in naming_sources()]
    assert not offences, report(offences)


def test_commands_know_no_place():
    """What belongs to a place comes to them through the list of places: they may not even include its rooms."""
    line = next(line for line in read("src/LAYERS").splitlines() if re.match(r"\d+ cli:", line))
    rooms = [room for room, _ in PLACES.values()]
    offences = [f"src/LAYERS lets cli use {used}" for used in line.partition("|")[0].split()
                if any(used == room or used.startswith(room + "/") for room in rooms)]
    offences += [f"{path} is an exception" for path in EXCEPTIONS if path.startswith("src/cli/")]
    assert not offences, report(offences)


@pytest.mark.parametrize("path, code, places", [
    ("src/jobfile/merge.cc", 'if (job.on == "spark") return;', ["spark"]),
    ("src/cli/ps.cc", "if (on == cluster::kYarn) {", ["yarn"]),
    ("src/cli/ps.cc", '#include "kubernetes/pods/names.h"', ["kubernetes"]),
    ("src/yarn/a.cc", 'kYarn; "local"', ["local"]),
    ("src/cli/ps.cc", "if (on == local::commands::kLocal) {", ["local"]),
    ("src/cli/run.cc", 'fields.find("kubernetes.namespace")', ["kubernetes"]),
    ("src/cli/run.cc", 'error("give spark.gpus", ssh.hosts, "or --gpus")', ["spark"]),
    ("src/cli/run.cc", '"yarn.io/gpu, org.apache.hadoop.yarn.api, /a.local"; local.queue', []),
    ("src/hadoop/a.cc", '"yarn.resourcemanager.address"', []),
    ("src/yarn/commands/a.cc", "kYarn", []),
    ("src/jobfile/merge.cc", '// As "yarn" has it.', []),
    ("src/places/places.cc", '#include "spark/a.h"', []),
])
def test_names_are_found(path, code, places):
    assert named_places(pathlib.PurePosixPath(path), code) == places
