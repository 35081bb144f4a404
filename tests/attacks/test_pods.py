"""A real Kubernetes in whose answers somebody puts words: of nodes, kubelets, events and logs, between the server and the client."""

import copy
import json
import os

import pytest
from kubernetes.jobs import WITHOUT_AGENTS
from rogue_api import TOKEN, RogueApi, upstream_of
from said import EVIL, assert_clean, assert_logs_clean, usage_of

MOST_MEMORY_KB = 400 * 1024
# What is said of a pod is brief: of each of the 100 restarts that a job has without counting them, no more than that. Its own lines
# are shown as they are.
MOST_SAID, MOST_LINES = 100 * 800, 16 << 20


def of_pods(change):
    """Changes each pod, wherever it stands."""
    def one(pod):
        # A bookmark has none.
        return change(copy.deepcopy(pod)) if pod.get("kind") == "Pod" and (pod.get("spec") or {}).get("containers") else pod

    def several(answer):
        if "items" in answer:
            return answer | {"items": [one(each | {"kind": "Pod"}) for each in answer["items"]]}
        return one(answer)

    def lines(line):
        event = json.loads(line)
        return [json.dumps(event | {"object": one(event["object"])}).encode() + b"\n"]

    def behave(talk):
        if talk.kind in ("list pods", "get pods", "watch pods"):
            return talk.pass_on(several, lines)
        return talk.pass_on()

    return behave


def with_status(**members):
    return of_pods(lambda pod: pod | {"status": pod.get("status", {}) | members})


def with_container(**members):
    """What is said of all its containers."""
    def change(pod):
        named = [container["name"] for container in pod["spec"]["containers"]]
        return pod | {"status": pod.get("status", {}) | {"containerStatuses": [{"name": name} | members for name in named]}}

    return of_pods(change)


def ended(**members):
    return with_container(state={"terminated": {"exitCode": 3, "reason": "Error", "startedAt": "2026-01-01T00:00:00Z"} | members})


def of_stream(kind, lines):
    return lambda talk: talk.pass_on(lines=lines if talk.kind == kind else None)


def instead(kind, answer):
    return lambda talk: answer(talk) if talk.kind == kind else talk.pass_on()


def flood_of(line, count, size=1):
    return lambda _: [line * size] * count


def endless_pages(talk):
    talk.answer(200, {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1", "continue": "more"},
                      "items": [{"metadata": {"name": f"p{number}", "uid": "u"}} for number in range(500)]})


def small_values(talk):
    talk.answer(200, b'{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[' + b"{}," * 10_000_000 + b"{}]}")


def many_members(talk):
    members = ",".join(f'"{number}":0' for number in range(500_000)).encode()
    talk.answer(200, b'{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"labels":{' + members + b"}}}]}")


BOOKMARK = json.dumps({"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": "1"}}}).encode() + b"\n"
DELETED = json.dumps({"type": "DELETED", "object": {"kind": "Pod", "metadata": {"name": EVIL, "uid": EVIL, "resourceVersion": "9"}}}).encode() + b"\n"
ERROR = json.dumps({"type": "ERROR", "object": {"kind": "Status", "code": 500, "reason": EVIL, "message": EVIL}}).encode() + b"\n"
TIME = b"2026-01-01T00:00:00.000000000Z "

WORDS = {
    # Of pods.
    "a reason": with_status(reason=EVIL, message=EVIL),
    "a phase": with_status(phase=EVIL),
    "a phase that is none": with_status(phase=["Running"]),
    "an end with words": ended(reason=EVIL, message=EVIL * 1000),
    "an end without memory, with words": ended(reason="OOMKilled", message=EVIL),
    "an end that did not begin": ended(reason="StartError", message=EVIL),
    "a status beyond all": ended(exitCode=2**70),
    "a status as text": ended(exitCode=EVIL),
    "a signal beyond all": ended(exitCode=0, signal=2**40),
    "times that are none": ended(startedAt=EVIL, finishedAt=EVIL),
    "an image that cannot be pulled": with_container(image=EVIL, state={"waiting": {"reason": "ErrImagePull", "message": EVIL}}),
    "an image of a wrong name": with_container(image=EVIL, state={"waiting": {"reason": "InvalidImageName", "message": EVIL}}),
    "a container that cannot be made": with_container(state={"waiting": {"reason": "CreateContainerError", "message": EVIL}}),
    "no node, with words": with_status(phase="Pending", conditions=[{"type": "PodScheduled", "status": "False", "message": EVIL, "reason": EVIL}]),
    "evicted, with words": with_status(phase="Failed", reason="Evicted", message=EVIL),
    "lost, with words": with_status(phase="Failed", reason="NodeLost", message=EVIL),
    "preempted, with words": with_status(conditions=[{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": EVIL}]),
    "an init container that fails, with words": with_status(phase="Pending", initContainerStatuses=[
        {"name": EVIL, "image": EVIL, "state": {"terminated": {"exitCode": 1, "message": EVIL}}}]),
    "ten thousand containers": with_status(containerStatuses=[{"name": "task", "state": {"waiting": {"reason": EVIL}}}] * 10_000),
    "containers that are none": with_status(containerStatuses=[1, None, [], {"name": 5, "state": []}, EVIL]),
    "a node": of_pods(lambda pod: pod | {"spec": pod["spec"] | {"nodeName": EVIL}}),
    "a name": of_pods(lambda pod: pod | {"metadata": pod["metadata"] | {"name": EVIL}}),
    "an identity": of_pods(lambda pod: pod | {"metadata": pod["metadata"] | {"uid": EVIL}}),
    "an attempt beyond all": of_pods(lambda pod: pod | {"metadata": pod["metadata"] | {"labels": {"gangrun/attempt": "9" * 30}}}),
    "no metadata": of_pods(lambda pod: pod | {"metadata": EVIL}),
    # Of watches.
    "changes that are no JSON": of_stream("watch pods", lambda line: [EVIL.encode("utf-8", "surrogateescape") + b"\n", line]),
    "a change of 20 MiB": of_stream("watch pods", lambda line: [b'{"type":"' + b"x" * (20 << 20) + b'"}\n']),
    "a change without an end": of_stream("watch pods", flood_of(b"x" * 65536, 4000)),
    "half a change": of_stream("watch pods", lambda line: [line[:len(line) // 2]]),
    "errors with words": of_stream("watch pods", lambda line: [ERROR]),
    "many bookmarks": of_stream("watch pods", lambda line: [BOOKMARK * 1000] * 200 + [line]),
    "many ends of nobody": of_stream("watch pods", lambda line: [DELETED * 100] * 100 + [line]),
    "each change many times": of_stream("watch pods", lambda line: [line] * 500),
    "a kind of change that is none": of_stream("watch pods", lambda line: [line.replace(b"ADDED", b"DANCE").replace(b"MODIFIED", b"DANCE")]),
    # Of lists.
    "pages without an end": instead("list pods", endless_pages),
    "a list of many small values": instead("list pods", small_values),
    "a pod with many labels": instead("list pods", many_members),
    "a list that is none": instead("list pods", lambda talk: talk.answer(200, {"kind": EVIL, "items": EVIL, "metadata": EVIL})),
    "events with words": lambda talk: talk.pass_on(
        (lambda answer: answer | {"items": [{"type": "Warning", "message": EVIL, "lastTimestamp": EVIL}] * 50}) if talk.kind == "list events" else None),
}
LOGS = {
    "lines with words": of_stream("log", lambda line: [TIME + EVIL.encode("utf-8", "surrogatepass") + b"\n", line]),
    "lines with other times": of_stream("log", lambda line: [b"9999-99-99T99:99:99Z x\n", b"-1 x\n", EVIL.encode() + b" x\n", line]),
    "a line of 5 MiB": of_stream("log", lambda line: [TIME, *[b"y" * 65536] * 80, b"\n", line]),
    "zeros": of_stream("log", lambda line: [bytes(65536), line]),
    "a log that ends with words": of_stream("log", lambda line: [EVIL.encode() + b"\n"]),
    "no log, with words": instead("log", lambda talk: talk.refuse(400, "BadRequest", EVIL)),
    "no log now, for ever": instead("log", lambda talk: talk.refuse(503, "ServiceUnavailable", EVIL, "Retry-After: 86400")),
}


@pytest.fixture
def rogue(pod_jobs, tmp_path):
    """rogue(behave): the file that leads to an API server which stands before the real one."""
    made = []

    def make(behave):
        made.append(RogueApi(tmp_path, behave, upstream_of(pod_jobs.kubectl, tmp_path)))
        return made[-1].kubeconfig(tmp_path / "config")

    yield make
    for server in made:
        server.close()


@pytest.mark.parametrize("name", WORDS | LOGS)
def test_words_in_answers_do_no_harm(pod_jobs, rogue, home, name):
    config = rogue((WORDS | LOGS)[name])
    words = pod_jobs.words(*WITHOUT_AGENTS, "--kubeconfig", config, "-r", "worker:1", "--timeout", "allocation=4s", "--timeout", "roll_call=4s",
                           "--timeout", "stop=1s", "--timeout", "job=8s", "--", "sh", "-c", "echo here; exit 3")
    environment = {key: value for key, value in pod_jobs.environment.items() if not key.lower().endswith("_proxy")}
    status, said, memory = usage_of(pod_jobs.gangrun, *words, cwd=pod_jobs.folder, env=environment)
    assert status in (1, 2, 3, 4, 5, 6, 7), said[-3000:]
    assert memory < MOST_MEMORY_KB, memory
    most = MOST_LINES if name in LOGS else MOST_SAID
    assert_clean(said, [TOKEN], most)
    assert os.listdir(pod_jobs.folder) == []
    for command in ("why", "status", "logs"):
        done = pod_jobs.order(command, "last")
        assert_clean(done.stdout + done.stderr, [TOKEN], most)
    assert_logs_clean(home, [TOKEN])
