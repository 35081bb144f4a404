"""The page docs/start/yarn.md, followed on a real cluster."""

import pages


def test_a_model_is_trained_on_yarn(jobs):
    for name in ("start/this-machine", "start/yarn"):
        pages.write_files(name, jobs.folder)
    configuration = jobs.environment["HADOOP_CONF_DIR"]
    path = f"{jobs.gangrun.parent}:{jobs.environment['PATH']}"
    pages.follow(pages.fences("start/yarn"), jobs.folder, jobs.environment | {"PATH": path}, {"/etc/hadoop/conf": configuration})
