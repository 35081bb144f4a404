"""What programs of tf-yarn and TensorFlowOnSpark import beside them: skein, cluster_pack, and what is refused by its name."""

import http.server
import importlib
import json
import pickle
import sys
import threading
import urllib.parse
import warnings
from importlib import metadata

import pytest

from gangrun import compat, errors
from gangrun.tf_yarn import environment, storage


def test_a_client_of_skein_is_made_and_handed_on(answered):
    import skein

    with skein.Client() as client:
        client.close()
        with pytest.raises(AttributeError, match=r"skein\.Client\.submit is not answered by gangrun: gangrun\.run"):
            client.submit({})
        with pytest.raises(AttributeError, match=r"Client\.kill_application is not answered .* gangrun ps"):
            client.kill_application("application_1_0001")
    with pytest.raises(AttributeError, match="no key-value store"):
        skein.ApplicationClient.from_current().kv


def test_acls_of_skein_are_those_of_the_job(answered):
    import skein

    assert skein.ACLs is skein.model.ACLs is importlib.import_module("skein.model").ACLs
    acls = skein.model.ACLs(enable=True, ui_users=["*"], view_users=["ann", "bob"], modify_groups=["ml"])
    assert environment.yarn_acls(acls) == {"view_acl": "ann,bob", "modify_acl": " ml"}
    assert environment.yarn_acls(skein.ACLs(view_users=["*"])) == {}


def test_a_skein_that_is_installed_goes_first(tmp_path, answered, monkeypatch):
    (tmp_path / "skein.py").write_text("real = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.import_module("skein").real


@pytest.fixture
def installed_tf_yarn(tmp_path, monkeypatch):
    """A real tf_yarn of which gangrun answers only a part."""
    for name, text in {
        "tf_yarn/__init__.py": "from tf_yarn.client import run_on_yarn\nVERSION = '0.7'\nExperiment = None\n",
        "tf_yarn/client.py": "import skein.never_installed\n",
        "tf_yarn/topologies.py": "MAX_MEMORY = 48\n",
        "tf_yarn/examples/__init__.py": "",
        "tf_yarn/examples/winequality.py": "from tf_yarn import Experiment\nFEATURES = 11\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)


def test_what_is_not_answered_comes_from_the_installed_package(answered, installed_tf_yarn):
    """`from tf_yarn.examples import winequality` failed though tf_yarn was installed."""
    from gangrun import tf_yarn as ours

    found = {}
    exec("from tf_yarn.examples import winequality\nimport tf_yarn\nfrom tf_yarn import VERSION, run_on_yarn\n"
         "from tf_yarn.topologies import MAX_MEMORY, TaskSpec\nfrom tf_yarn import examples", found)
    assert found["winequality"].FEATURES == 11 and found["winequality"].Experiment is ours.Experiment
    assert (found["VERSION"], found["MAX_MEMORY"]) == ("0.7", 48) and found["tf_yarn"] is not None
    assert found["run_on_yarn"] is ours.run_on_yarn and found["TaskSpec"] is ours.TaskSpec and found["TaskSpec"] is not None
    for missing in ("tf_yarn.nothing", "tf_yarn.examples.nothing"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(missing)
    with pytest.raises(ImportError):
        exec("from tf_yarn import nothing", {})
    with pytest.warns(UserWarning, match="experiment_fn"):
        exec("from tf_yarn import standalone_client_mode", {})


# It was an AttributeError: programs look which release they have.
@pytest.mark.parametrize("name, version", list(compat.FOLLOWED.items()))
def test_the_version_is_that_of_the_installed_package_or_of_the_last_one(answered, tmp_path, monkeypatch, name, version):
    monkeypatch.setattr(metadata, "version", missing)
    assert importlib.import_module(name).__version__ == version
    (tmp_path / "real").mkdir()
    (tmp_path / f"real/{name}.py").write_text("import never_installed\n__version__ = '0.4'\n")
    monkeypatch.syspath_prepend(tmp_path / "real")
    assert sys.modules[name].__version__ == "0.4"
    monkeypatch.undo()
    info = tmp_path / f"{name}-0.5.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 0.5.1\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = {}
    exec(f"from {name} import __version__ as found", found)
    assert found["found"] == "0.5.1"


def missing(name):
    raise metadata.PackageNotFoundError(name)


@pytest.mark.parametrize("statement, told", [
    ("from skein import ApplicationSpec as found", "gangrun.run"),
    ("from tf_yarn import standalone_client_mode as found", "experiment_fn"),
    ("from cluster_pack import PEX_PACKER as found", "docs/environments.md"),
    ("from tensorflowonspark.reservation import Server as found", "TFCluster.run"),
    ("from tensorflowonspark.TFSparkNode import train as found", "TFCluster.run"),
])
def test_a_refused_name_is_told_at_the_import_and_an_error_where_it_is_used(answered, statement, told):
    found = {}
    with pytest.warns(UserWarning, match=told):
        exec(statement, found)
    with pytest.raises(errors.InvalidJob, match=told):
        found["found"](1, two=2)


@pytest.mark.parametrize("statement, told", [
    ("from tf_yarn import event", "gangrun.task"), ("import tf_yarn.event", "gangrun.task"),
    ("from tensorflowonspark import TFManager", "ctx.get_data_feed()"), ("import tensorflowonspark.TFManager", "TFNode.DataFeed"),
    ("from tensorflowonspark import marker", "should_stop"), ("from gangrun.tensorflowonspark import TFManager", "ctx.get_data_feed()"),
])
def test_a_refused_module_is_an_error_that_names_what_stands_for_it(answered, statement, told):
    with pytest.raises(ModuleNotFoundError, match="gangrun answers the import of .*, but has nothing called") as caught:
        exec(statement, {})
    assert told in str(caught.value)


def test_what_is_not_there_at_all_is_an_attribute_error_without_a_warning(answered):
    """Pickle, and whoever looks through all modules, asks each of them for names of others."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("skein", "skein.model", "cluster_pack", "tensorflowonspark.reservation", "tensorflowonspark.TFSparkNode", "tf_yarn"):
            assert not hasattr(importlib.import_module(name), "whatever")
        client = importlib.import_module("skein").Client()
        assert isinstance(pickle.loads(pickle.dumps(client)), type(client))


def test_a_feed_of_a_manager_of_ones_own_is_refused(answered):
    from tensorflowonspark import TFNode

    with pytest.raises(TypeError, match="ctx.mgr"):
        TFNode.DataFeed(object())


@pytest.mark.parametrize("core, expected", [
    ("<property><name>fs.defaultFS</name><value>hdfs://ns/</value></property>", "hdfs://ns"),
    ("<property><name>fs.default.name</name><value>viewfs://root</value></property>", "viewfs://root"),
    ("", "file://"), (None, "file://"),
])
def test_the_default_file_system_is_that_of_hadoop(answered, tmp_path, monkeypatch, core, expected):
    import cluster_pack

    if core is not None:
        (tmp_path / "core-site.xml").write_text(f"<configuration>{core}</configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    assert cluster_pack.get_default_fs() == expected


class NameNode(http.server.BaseHTTPRequestHandler):
    """As much of WebHDFS as the calls need; it sends what is written on to itself, as a name node does to a data node."""

    files, standby = {}, False

    def answer(self, status, told, **headers):
        body = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_any(self):
        parts = urllib.parse.urlsplit(self.path)
        path, words = urllib.parse.unquote(parts.path)[len("/webhdfs/v1"):], dict(urllib.parse.parse_qsl(parts.query))
        operation = words["op"]
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        inner = sorted(name for name in self.files if name.startswith(path.rstrip("/") + "/"))
        if operation == "MKDIRS":
            self.answer(200, {"boolean": True})
        elif operation == "CREATE" and "datanode" not in words:
            self.answer(307, b"", Location=f"http://127.0.0.1:{self.server.server_port}{self.path}&datanode=1")
        elif operation == "CREATE":
            self.files[path] = content
            self.answer(201, b"")
        elif path not in self.files and not inner:
            self.answer(404, {"RemoteException": {"exception": "FileNotFoundException", "message": f"no {path}\nat"}})
        elif operation == "GETFILESTATUS":
            self.answer(200, {"FileStatus": {"type": "DIRECTORY" if inner else "FILE", "length": 1}})
        elif operation == "LISTSTATUS":
            self.answer(200, {"FileStatuses": {"FileStatus": [{"pathSuffix": name[len(path) + 1:]} for name in inner]}})
        elif operation == "OPEN":
            self.answer(200, self.files[path])
        elif operation == "DELETE":
            for name in [path, *inner]:
                self.files.pop(name, None)
            self.answer(200, {"boolean": True})
        elif operation == "RENAME":
            self.files[words["destination"]] = self.files.pop(path)
            self.answer(200, {"boolean": True})

    do_GET = do_PUT = do_DELETE = do_any

    def log_message(self, *_words):
        pass


@pytest.fixture
def hdfs(tmp_path, monkeypatch):
    """A nameservice whose first name node does not answer; the Python has neither fsspec nor pyarrow."""
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    monkeypatch.setitem(sys.modules, "pyarrow.fs", None)
    monkeypatch.setattr(NameNode, "files", {})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), NameNode) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        keys = {"dfs.ha.namenodes.ns": "a,b", "dfs.namenode.http-address.ns.a": "127.0.0.1:1",
                "dfs.namenode.http-address.ns.b": f"127.0.0.1:{server.server_port}"}
        for file, content in (("core-site.xml", {"fs.defaultFS": "hdfs://ns"}), ("hdfs-site.xml", keys)):
            (tmp_path / file).write_text("<configuration>" + "".join(
                f"<property><name>{name}</name><value>{value}</value></property>" for name, value in content.items()) + "</configuration>")
        monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
        yield "hdfs:///user/ann/my data"
        server.shutdown()


def use(folder):
    """What the documentation and the examples of cluster-pack and tf-yarn do."""
    from cluster_pack import filesystem

    fs, path = filesystem.resolve_filesystem_and_path(folder)
    assert not fs.exists(f"{folder}/a.txt") and not fs.exists(f"{path}/a.txt")
    fs.mkdir(path)
    with fs.open(f"{path}/a.txt", "wb") as file:
        file.write("line 0\n")
        file.write(b"line 1\n")
    with fs.open(f"{path}/a.txt") as file:
        assert file.readline() == b"line 0\n" and file.readlines() == [b"line 1\n"]
    assert fs.exists(f"{folder}/a.txt") and fs.isfile(f"{path}/a.txt") and fs.isdir(path)
    assert fs.ls(path) == [f"{path}/a.txt"] and list(fs.walk(path)) == [(path, [], ["a.txt"])]
    fs.mv(f"{path}/a.txt", f"{path}/b.txt")
    assert fs.cat(f"{path}/b.txt") == b"line 0\nline 1\n"
    for missing in (fs.open, fs.ls, fs.rm):
        with pytest.raises(FileNotFoundError, match="a.txt"):
            missing(f"{path}/a.txt")
    with pytest.raises(AttributeError, match="EnhancedFileSystem.chown is not answered by gangrun: there are exists, isfile"):
        fs.chown(path)
    return fs, path


def test_files_of_this_machine(answered, tmp_path):
    fs, path = use(str(tmp_path / "new folder"))
    (tmp_path / "program").write_text("#!/bin/sh\n")
    (tmp_path / "program").chmod(0o755)
    fs.put(tmp_path / "program", f"{path}/c")
    assert (tmp_path / "new folder/c").stat().st_mode & 0o777 == 0o755
    fs.get(f"{path}/c", tmp_path / "back")
    assert (tmp_path / "back").read_text() == "#!/bin/sh\n"
    with pytest.raises(OSError, match="recursive=True"):
        fs.rm(path)
    fs.rm(path, recursive=True)
    assert not fs.exists(path) and not (tmp_path / "new folder").exists()


def test_files_of_hdfs_without_fsspec_and_pyarrow(answered, hdfs):
    """A cluster of which one name node is away, and a Python that has nothing for HDFS."""
    fs, path = use(hdfs)
    assert path == "/user/ann/my data"
    with pytest.raises(RuntimeError, match="half"), fs.open(f"{path}/half", "wb") as file:
        file.write(b"x")
        raise RuntimeError("half")
    assert not fs.exists(f"{path}/half"), "what was not finished is not there"
    fs.rm(path, recursive=True)
    assert not fs.exists(path)


def test_what_tasks_keep_goes_the_same_way(hdfs):
    with storage.written_whole(f"{hdfs}/model_1.pt") as file:
        file.write(b"model")
    assert storage.names(hdfs) == ["model_1.pt"] and storage.open_to_read(f"{hdfs}/model_1.pt").read() == b"model"


def test_other_schemes_say_what_is_missing(hdfs):
    with pytest.raises(ModuleNotFoundError, match="fsspec or pyarrow must be installed"):
        storage.names("s3://bucket/a")
