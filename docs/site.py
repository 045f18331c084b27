"""A hook of mkdocs: pages that lie outside docs become pages of the site.

Pages link to files of the repository, so that the links also work where the repository is shown.
On the site, a link to one of PAGES leads to its page, and a link to any other file is its text.
"""

import os
import re
import subprocess
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "gpuverify/gpucheck/README.md": "gpucheck.md",
}
GO_PACKAGES = [".", "incidence", "encode", "store", "gpuverify", "fault"]
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")


def on_files(files, config):
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "go.md", content=go_pages()))
    return files


def on_page_markdown(markdown, page, config, files):
    source = {page: source for source, page in PAGES.items()}.get(page.file.src_uri)
    folder = (ROOT / (source or f"docs/{page.file.src_uri}")).parent

    def link(match):
        image, text, target, anchor = match.groups()
        path = os.path.relpath(folder / target, ROOT)
        if path in PAGES:
            uri = PAGES[path]
        elif path.startswith("docs/"):
            uri = path.removeprefix("docs/")
        elif (ROOT / path).exists():
            return text
        else:
            return match[0]  # mkdocs reports it
        here = os.path.dirname(page.file.src_uri) or "."
        return f"{image}[{text}]({os.path.relpath(uri, here)}{anchor or ''})"

    return LINK.sub(link, markdown)


def on_post_page(output, page, config):
    if page.file.src_uri.endswith(".ipynb"):  # the notebook's links are not Markdown's
        output = output.replace('href="../README.md', 'href="index.html')
        output = re.sub(r'href="([\w-]+)\.md', r'href="\1.html', output)
    return output


def go_pages():
    """What `go doc` says about the packages that other Go programs may use."""
    parts = ["# Go packages\n"]
    for package in GO_PACKAGES:
        command = ["go", "doc", "-all", f"./{package}"]
        text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        parts.append(f"## {'tcbuild' if package == '.' else package}\n\n```text\n{text}```\n")
    return "\n".join(parts)
