"""Writes the pages of the site as Markdown into a folder: python docs/site.py FOLDER.

Pages link to files of the repository, so that the links also work where the repository is shown.
On the site, a link to a page leads there, a link to an example or a file of conf to its text or to
a copy, and a link to any other file is only its words. The program that builds the site reports
links that lead nowhere on it; this one reports links from, and to, other pages of the repository.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from nbconvert import MarkdownExporter

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOR_DEVELOPERS = {"architecture.md"}
CONFIGURATION = "configuration.md"
LAST_FOUND = ("FORMAT.md", "BENCHMARKS.md", CONFIGURATION)  # by the site's search
SHOWN = ("cron", "slurm", "systemd")  # of conf; the other folders are copied
LANGUAGES = {".yml": "yaml", ".sh": "sh", ".sbatch": "sh"}
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS / "figures", folder / "figures")
    shutil.copy(DOCS / "site.css", folder)

    files = sorted(path for path in (ROOT / "conf").glob("*/**/*") if path.is_file())
    shown = [path for path in files if path.relative_to(ROOT / "conf").parts[0] in SHOWN]
    examples = sorted((ROOT / "python/examples").glob("*.py"))
    copied = [path for path in files if path not in shown]
    sources = [*DOCS.glob("*.md"), *DOCS.glob("api/*.md"), *DOCS.glob("*.ipynb")]
    addresses = {"README.md": "index.md"}  # on the site, by path in the repository
    for path in sources:
        if path.name not in FOR_DEVELOPERS:
            addresses[in_repository(path)] = str(path.relative_to(DOCS).with_suffix(".md"))
    pages = dict(addresses)
    for path in DOCS.glob("figures/*"):
        addresses[in_repository(path)] = str(path.relative_to(DOCS))
    for path in shown:
        address = f"{CONFIGURATION}#{anchor(in_repository(path))}"
        addresses[in_repository(path)] = address
        addresses.setdefault(in_repository(path.parent), address)
    for path in [*copied, *examples]:
        addresses[in_repository(path)] = in_repository(path)
        (folder / in_repository(path)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / in_repository(path))

    committed = subprocess.check_output(["git", "ls-files", "*.md"], cwd=ROOT, text=True)
    dead = [link for path in {*pages, *committed.split()} for link in dead_links(path, addresses)]
    if dead:
        sys.exit("\n".join(dead))

    (folder / "api").mkdir()
    for path, page in pages.items():
        write(folder / page, with_links(markdown(ROOT / path), path, addresses))
    write(folder / CONFIGURATION, configuration(shown, copied))


def write(page: Path, text: str) -> None:
    head = "---\nsearch: {boost: 0.5}\n---\n\n" if page.name in LAST_FOUND else ""
    page.write_text(head + text, "utf-8")


def in_repository(path: Path) -> str:
    return str(path.relative_to(ROOT))


def markdown(path: Path) -> str:
    if path.suffix != ".ipynb":
        return path.read_text("utf-8")
    text, _ = MarkdownExporter().from_filename(str(path))
    text = re.sub(r"^```bash\n%%bash.*\n", "```sh\n", text, flags=re.MULTILINE)
    text = re.sub(r"^(<table|  *<tr) [^>]*", r"\1", text, flags=re.MULTILINE)  # the site's style
    return text


def dead_links(source: str, addresses: dict[str, str]) -> Iterator[str]:
    """Links from or to what is not on the site: its program does not see them."""
    for match in LINK.finditer(markdown(ROOT / source)):
        target, fragment = target_of(match, source), match[4]
        exists = (ROOT / target).exists()
        if source in addresses and (target in addresses or not exists):
            continue
        if not exists or (fragment and fragment[1:] not in anchors(ROOT / target)):
            yield f"{source}: dead link {match[0]}"


def target_of(match: re.Match[str], source: str) -> str:
    """Its path in the repository."""
    return os.path.normpath(os.path.join(os.path.dirname(source), match[3]))


def anchors(path: Path) -> set[str]:
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", markdown(path), re.MULTILINE)}


def with_links(text: str, source: str, addresses: dict[str, str]) -> str:
    folder = os.path.dirname(addresses[source]) or "."

    def link(match: re.Match[str]) -> str:
        image, words, _, fragment = match.groups()
        path = target_of(match, source)
        if path in addresses:
            address = os.path.relpath(addresses[path], folder)
            return f"{image}[{words}]({address}{fragment or ''})"
        return words if (ROOT / path).exists() else match[0]

    return LINK.sub(link, text)


def configuration(shown: list[Path], copied: list[Path]) -> str:
    parts = ["# Configuration files\n"]
    for path in shown:
        language = LANGUAGES.get(path.suffix, "text")
        text = path.read_text("utf-8")
        parts.append(f"## `{in_repository(path)}`\n\n```{language}\n{text}```\n")
    links = [f"- [`{name}`]({name})" for name in map(in_repository, copied)]
    return "\n".join([*parts, "## Prometheus, Snakemake and Nextflow\n", *links, ""])


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
