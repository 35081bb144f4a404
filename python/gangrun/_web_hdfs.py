"""HDFS by WebHDFS, in a Python that has neither fsspec nor pyarrow with libhdfs: on clusters without Kerberos.

The few methods are called as fsspec's are, so that who has one of the two need not know which.
"""

from __future__ import annotations

import getpass
import io
import json
import os
import shutil
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as tree
from typing import Any, Optional

from gangrun import _texts

LIMIT_S = 60.0
MAX_ANSWER_BYTES = 64 << 20
# Hadoop's, where its files say nothing.
DEFAULT_PORT = 9870


def configuration(name: str) -> dict[str, str]:
    """The keys of core-site.xml or hdfs-site.xml in HADOOP_CONF_DIR; none where there is no such file."""
    folder = os.environ.get("HADOOP_CONF_DIR") or os.path.join(os.environ.get("HADOOP_HOME") or "/etc/hadoop", "etc/hadoop")
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return {}
    try:
        found = tree.parse(path)
    except tree.ParseError as error:
        raise ValueError(f"{path}: {error}") from None
    return {(item.findtext("name") or "").strip(): (item.findtext("value") or "").strip() for item in found.iter("property")}


def default_fs() -> str:
    """As Hadoop has it: `fs.defaultFS`, else the files of this machine; without a slash at its end."""
    found = configuration("core-site.xml")
    name = found.get("fs.defaultFS") or found.get("fs.default.name") or "file://"
    return name if name.endswith("://") else name.rstrip("/") if not name.endswith(":///") else name[:-1]


def _addresses(authority: str, site: dict[str, str]) -> list[str]:
    """Where its name nodes answer HTTP: all of a nameservice, of which one is active."""
    scheme = "https" if site.get("dfs.http.policy") == "HTTPS_ONLY" else "http"
    key = f"dfs.namenode.{scheme}-address"
    nodes = [name.strip() for name in site.get(f"dfs.ha.namenodes.{authority}", "").split(",") if name.strip()]
    found = [site.get(f"{key}.{authority}.{node}", "") for node in nodes] or [site.get(f"{key}.{authority}") or site.get(key, "")]
    own = authority.partition(":")[0]
    port = DEFAULT_PORT + 1 if scheme == "https" else DEFAULT_PORT
    places = []
    for place in found:
        host, _, its_port = place.rpartition(":")
        places.append(f"{scheme}://{own if host in ('', '0.0.0.0') else host}:{its_port or port}")
    return places


def of(url: str) -> tuple[WebHdfs, str]:
    """The file system of an hdfs:// or webhdfs:// URL, and the path on it."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "webhdfs":
        return WebHdfs([f"http://{parts.netloc}"]), urllib.parse.unquote(parts.path)
    authority = parts.netloc or urllib.parse.urlsplit(default_fs()).netloc
    if not authority:
        raise ValueError(f"{url} names no name node, and fs.defaultFS of HADOOP_CONF_DIR does not either")
    path = url.partition("://")[2].partition("/")[2]  # as it is: hdfs:// URLs are not quoted
    return WebHdfs(_addresses(authority, configuration("hdfs-site.xml"))), "/" + path


class _Upload(io.BytesIO):
    """Is written when it is closed, unless what wrote it has failed."""

    def __init__(self, system: WebHdfs, path: str) -> None:
        super().__init__()
        self._system, self._path = system, path

    def close(self) -> None:
        if not self.closed:
            content = self.getvalue()
            super().close()
            self._system.create(self._path, content)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            super().close()
        else:
            self.close()

    def __del__(self) -> None:
        pass  # one that nobody has closed is not whole


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_request: Any) -> None:
        return None


class WebHdfs:
    def __init__(self, places: list[str]) -> None:
        self.places = places
        self.user = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()

    def ask(self, method: str, path: str, operation: str, content: Optional[bytes] = None, **words: str) -> Any:
        """The answer, open; of the first name node that is active."""
        query = urllib.parse.urlencode({"op": operation, "user.name": self.user, **words})
        last: Exception = OSError("no name node is known")
        for place in self.places:
            try:
                url = f"{place}/webhdfs/v1{urllib.parse.quote(path)}?{query}"
                if content is None:
                    return self._open(url, method)
                return self._open(self._where(url, method), method, content)
            except urllib.error.HTTPError as error:
                last = _as_error(error, path)
                if not isinstance(last, _Standby):
                    break
            except OSError as error:
                last = OSError(f"{place}: {error}")
        raise last

    @staticmethod
    def _open(url: str, method: str, content: Optional[bytes] = None, *handlers: Any) -> Any:
        # Whatever proxy is set is not for the cluster's own hosts.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), *handlers)
        kind = {"Content-Type": "application/octet-stream"} if content is not None else {}
        return opener.open(urllib.request.Request(url, data=content, method=method, headers=kind), timeout=LIMIT_S)

    def _where(self, url: str, method: str) -> str:
        """The data node that takes what is written."""
        try:
            with self._open(url, method, None, _NoRedirect()):
                return url
        except urllib.error.HTTPError as error:
            if error.code != 307:
                raise
            return str(error.headers["Location"])

    def json(self, method: str, path: str, operation: str, **words: str) -> Any:
        with self.ask(method, path, operation, None, **words) as answer:
            return json.loads(answer.read(MAX_ANSWER_BYTES) or b"{}")

    def _status(self, path: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self.json("GET", path, "GETFILESTATUS")["FileStatus"]
            return found
        except FileNotFoundError:
            return {}

    def exists(self, path: str) -> bool:
        return bool(self._status(path))

    def isdir(self, path: str) -> bool:
        return self._status(path).get("type") == "DIRECTORY"

    def ls(self, path: str, detail: bool = False) -> list[str]:
        found = self.json("GET", path, "LISTSTATUS")["FileStatuses"]["FileStatus"]
        return [f"{path.rstrip('/')}/{item['pathSuffix']}" if item["pathSuffix"] else path for item in found]

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        self.json("PUT", path, "MKDIRS")

    def rm(self, path: str, recursive: bool = False) -> None:
        self.json("DELETE", path, "DELETE", recursive="true" if recursive else "false")

    def mv(self, path: str, target: str) -> None:
        if not self.json("PUT", path, "RENAME", destination=target).get("boolean"):
            raise OSError(f"{path} cannot be renamed to {target}")

    def create(self, path: str, content: bytes) -> None:
        self.ask("PUT", path, "CREATE", content, overwrite="true").close()

    def open(self, path: str, mode: str = "rb") -> Any:
        """To read, it is fetched whole: what reads it may seek."""
        if mode != "rb":
            return _Upload(self, path)
        file = tempfile.TemporaryFile()
        with self.ask("GET", path, "OPEN") as answer:
            shutil.copyfileobj(answer, file, 1 << 20)
        file.seek(0)
        return file


class _Standby(OSError):
    pass


def _as_error(error: urllib.error.HTTPError, path: str) -> OSError:
    if error.code == 401:
        return PermissionError(f"{path}: the cluster asks for Kerberos, which Python reaches through libhdfs: install pyarrow, or fsspec "
                               "with it")
    try:
        told = json.loads(error.read(1 << 20))["RemoteException"]
        name, text = str(told["exception"]), str(told["message"]).splitlines()[0]
    except (ValueError, KeyError, IndexError, TypeError):
        return OSError(f"{path}: {error}")
    kinds = {"FileNotFoundException": FileNotFoundError, "AccessControlException": PermissionError, "StandbyException": _Standby,
             "FileAlreadyExistsException": FileExistsError}
    return kinds.get(name, OSError)(f"{path}: the server says {_texts.theirs(text)}")
