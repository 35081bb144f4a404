"""The cluster's file system, over WebHDFS, as a user or as the administrator that the tests are."""

import getpass
import json
import urllib.parse


def ask(hadoop, path, operation, method="GET", user=None, **parameters):
    """(status, body)"""
    query = urllib.parse.urlencode({"op": operation, "user.name": user or getpass.getuser()} | parameters)
    return hadoop.http(f"{hadoop.webhdfs_url}{path}?{query}", method)


def order(hadoop, path, operation, method="PUT", **parameters):
    """What the administrator does, which must be well: the answer."""
    code, body = ask(hadoop, path, operation, method, **parameters)
    assert code == 200, f"{operation} {path}: {code} {body}"
    return json.loads(body) if body else None


def make_home(hadoop, user):
    order(hadoop, f"/user/{user}", "MKDIRS", permission="755")
    order(hadoop, f"/user/{user}", "SETOWNER", owner=user)
    return f"/user/{user}"


def listed(hadoop, folder):
    """{path: (owner, mode)} of all that is below a folder, and of the folder itself."""
    found = {}

    def look(path, status):
        found[path] = (status["owner"], status["permission"])
        if status["type"] == "DIRECTORY":
            for child in order(hadoop, path, "LISTSTATUS", "GET")["FileStatuses"]["FileStatus"]:
                look(f"{path}/{child['pathSuffix']}", child)

    look(folder, order(hadoop, folder, "GETFILESTATUS", "GET")["FileStatus"])
    return found
