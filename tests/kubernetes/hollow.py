"""Jobs whose pods only pretend to run, on hollow nodes. Such pods have no process, so no agent either."""

import json


def hollow_job(jobs, name, instances=2, **kubernetes):
    """The file of a job of so many tasks, each with all GPUs of a hollow node."""
    kubernetes = {"agents": "none", "tolerations": [{"key": "hollow", "operator": "Exists"}], **kubernetes}
    jobs.write(f"{name}.yaml", json.dumps({
        "tasks": {"worker": {"instances": instances, "gpus": 8}}, "command": "any", "kubernetes": kubernetes}))
    return f"{name}.yaml"
