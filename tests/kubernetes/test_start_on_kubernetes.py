"""The page docs/start/kubernetes.md, followed on a real cluster."""

import pages


def test_a_model_is_trained_in_pods(jobs):
    for name in ("start/this-machine", "start/kubernetes"):
        pages.write_files(name, jobs.folder)
    path = f"{jobs.gangrun.parent}:{jobs.environment['PATH']}"
    pages.follow(pages.fences("start/kubernetes"), jobs.folder, jobs.environment | {"PATH": path},
                 {"-n ml": f"-n {jobs.kubectl.namespace}", "python:3.12-slim": jobs.image})
    assert jobs.left() == []
