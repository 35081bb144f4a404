"""The documentation site: built as `make docs` does it, served from this machine, and opened in a browser."""

import concurrent.futures
import contextlib
import functools
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import threading
import urllib.parse

import browser
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 120
SEARCH_LIMIT_S = 60
NO_NETWORK = ("unshare", "--user", "--map-root-user", "--net")
DARK, LIGHT = "--blink-settings=preferredColorScheme=0", "--blink-settings=preferredColorScheme=1"
# What a page asks for, in Chromium's log of the network: marked by the hashes of "blink_resource_loader" and of scripts of
# workers. Chromium itself asks for other things.
ASKED = re.compile(r'"traffic_annotation":(?:101845102|72087791),"url":"([^"]*)"')
# What a page has from elsewhere as soon as it is opened.
ELSEWHERE = re.compile(r'<(?:script|img|iframe|source)[^>]*\ssrc="?(?:https?:)?//|<link[^>]*\shref="?(?:https?:)?//|url\(["\']?(?:https?:)?//|@import')
# One of each kind, with words that only this page has.
KINDS = {
    "": "Where to go",
    "start/": "Build it first",
    "start/this-machine/": "All workers compute a gradient",
    "yarn/": "HADOOP_CONF_DIR",
    "examples/wine/": "evaluator",
    "from-tony/": "tony.X.instances",
    "reference/keys/": "min_instances",
    "reference/help/": "--one-per-node",
    "reference/python/": "TaskSpec",
    "how-it-works/": "all have reported",
    "decisions/0002-static-agent/": "static",
    "protocols/registry/": "REST",
    "security/": "How a server is verified",
    "changes/": "0.1.0",
    "benchmarks/": "Benchmarks",
}


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; `reader` is what /reader.html is, and what it has found arrives at `found`."""

    reader, found = "", None

    def log_message(self, *_):
        pass

    def answer(self, text=""):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        if self.path == "/reader.html":
            return self.answer(self.reader)
        if self.path == "/wait":
            with contextlib.suppress(concurrent.futures.TimeoutError):
                self.found.result(SEARCH_LIMIT_S)
            return self.answer()
        return super().do_GET()

    def do_POST(self):
        self.found.set_result(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the site of this version, made without a network."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([*NO_NETWORK, ROOT / "tools/docs", "--out", folder], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    (version,) = json.loads((folder / "versions.json").read_text())
    return folder / version["version"]


@pytest.fixture(scope="module")
def site(built):
    """Its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=built.parent))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/{built.name}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def opened(site, tmp_path):
    """opened("yarn/"): the document, once it was seen that nothing else than the site was asked and the console has no error."""
    def look(page, *flags):
        log = tmp_path / "net.json"
        document, console = browser.seen(site + page, 3000, [f"--log-net-log={log}", *flags])
        asked = set(ASKED.findall(log.read_text()))
        assert any(url.startswith(f"{site}assets/stylesheets/") for url in asked), asked
        assert not {url for url in asked if not url.startswith(site.removesuffix(f"{pathlib.Path(site).name}/"))}, asked
        assert not [line for line in console if "favicon.ico" not in line], console
        return document
    return look


def text_of(document):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", document))


@pytest.mark.parametrize("page", KINDS)
def test_each_kind_of_page_opens(opened, page):
    document = opened(page)
    assert KINDS[page] in text_of(document)
    assert re.search(r"<h1[^>]*>", document) and 'class="md-version__current"' in document


def test_nothing_of_a_page_is_elsewhere(built):
    files = [path for path in built.rglob("*") if path.suffix in (".html", ".css")]
    assert len([path for path in files if path.suffix == ".html"]) > 60
    assert not [path for path in files if ELSEWHERE.search(path.read_text())]


# What people look for first, and the page that they want.
WORDS = {
    "supervisor": "commands/",
    "sweep": "recipes/sweeps/",
    "deadlock": "recipes/hangs/",
    "debug": "recipes/hangs/",
    "wandb": "recipes/tracking/",
    "jupyter": "faq/",
    "faq": "faq/",
    "uninstall": "install/",
    "airflow": "recipes/scheduled/",
    "lightning": "recipes/lightning/",
    "huggingface": "recipes/hugging-face/",
    "stuck": "recipes/hangs/",
    "quickstart": "start/",
    "tutorial": "start/",
    "hyperparameter": "recipes/sweeps/",
    "crontab": "recipes/scheduled/",
    "multi-node": "faq/",
    "macos": "faq/",
    "debugger": "faq/",
    "oom": "troubleshooting/",
}


@pytest.mark.parametrize("word", WORDS)
def test_search_finds_a_word(site, monkeypatch, word):
    found = concurrent.futures.Future()
    page = pathlib.Path(__file__).with_name("reader.html").read_text().replace("SITE", site).replace("WORD", word)
    monkeypatch.setattr(Server, "reader", page)
    monkeypatch.setattr(Server, "found", found)
    browser.seen(urllib.parse.urljoin(site, "/reader.html"), budget_ms=None)
    assert any(url.startswith(site + WORDS[word]) for url in found.result(0)), found.result(0)


@pytest.mark.parametrize("flag, scheme", [(DARK, "slate"), (LIGHT, "default")])
def test_it_is_as_dark_as_the_reader_wants_it(opened, flag, scheme):
    assert f'data-md-color-scheme="{scheme}"' in opened("yarn/", flag)


def test_drawings_are_part_of_the_page(opened):
    document = opened("how-it-works/")
    assert document.count("<svg role=\"img\"") == 5 and "digraph" not in document


def test_the_address_without_a_version_leads_to_one(built):
    assert f"url={built.name}/" in (built.parent / "index.html").read_text()


def test_older_versions_stay_and_can_be_chosen(tmp_path):
    old = tmp_path / "0.0.9/index.html"
    old.parent.mkdir()
    old.write_text("old")
    subprocess.run([ROOT / "tools/docs", "--out", tmp_path], check=True, capture_output=True, timeout=LIMIT_S)
    names = [version["version"] for version in json.loads((tmp_path / "versions.json").read_text())]
    assert len(names) == 2 and names[1] == "0.0.9" and old.read_text() == "old"


@pytest.fixture
def checkout(tmp_path):
    """What the site is made of, to be changed."""
    for name in ("docs", "examples", "python", "tools", "tests/integration/golden"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("out", "__pycache__"))
    for name in ("mkdocs.yml", "CMakeLists.txt", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"):
        shutil.copy(ROOT / name, tmp_path)
    # Links to what is only in the source.
    for name in ("tests/clusters", "tests/groups.py", "src", "proto"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.parametrize("file, text, said", [
    ("docs/upgrading.md", "[a](nowhere.md)\n", "nowhere.md"),
    ("docs/upgrading.md", "[a](limits.md#no-such-heading)\n", "no-such-heading"),
    ("docs/alone.md", "# Alone\n", "alone.md"),
    ("docs/how-it-works.md", '```dot title="a"\ndigraph { a -> }\n```\n', "dot"),
])
def test_what_is_broken_fails_the_build(checkout, file, text, said):
    with open(checkout / file, "a") as page:
        page.write("\n" + text)
    done = subprocess.run([checkout / "tools/docs"], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode != 0 and said in done.stderr, done.stdout + done.stderr


def coordinates_and_the_rest(picture):
    """The numbers of an SVG, and its text without them: processors differ in the last digit of a logarithm, which may be 0 and left out."""
    number = r"(?<![\w.#-])-?\d+(?:\.\d+)?(?!\w)"
    return [float(text) for text in re.findall(number, picture)], re.sub(number, "N", picture)


def test_the_plots_are_those_of_the_figures(tmp_path):
    subprocess.run([ROOT / "tools/plots", "--out", tmp_path], check=True, capture_output=True, timeout=LIMIT_S)
    drawn = {path.name: path.read_text() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text() for path in (ROOT / "docs/images").glob("bench-*.svg")}
    assert drawn.keys() == kept.keys()
    for name, picture in drawn.items():
        coordinates, rest = coordinates_and_the_rest(picture)
        kept_coordinates, kept_rest = coordinates_and_the_rest(kept[name])
        assert rest == kept_rest and coordinates == pytest.approx(kept_coordinates, abs=1e-3), name
    shown = (ROOT / "docs/benchmarks.md").read_text()
    assert drawn and all(f"images/{name})" in shown for name in drawn)
