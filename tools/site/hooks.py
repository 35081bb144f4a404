"""What MkDocs does not do by itself: pages from outside docs/, generated pages, links between them, and drawings."""

import pathlib
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import drawings  # noqa: E402: of this folder, as the next ones
import generated  # noqa: E402
import links  # noqa: E402

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def on_files(files, config):
    for uri, path in links.PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(links.ROOT / path)))
    for path in links.attached():
        files.append(File.generated(config, path, abs_src_path=str(links.ROOT / path)))
    for uri, content in generated.pages().items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown, page, config, files):
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    text = drawings.drawn(markdown)
    # Code keeps what looks like a link in it.
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [links.rewritten(text[end:fence.start()], page.file.src_uri), fence.group()]
        end = fence.end()
    return "".join(parts) + links.rewritten(text[end:], page.file.src_uri)
